package dev.carillon;

import dev.carillon.api.CodecException;
import dev.carillon.api.PayloadCodec;
import java.lang.reflect.Type;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.Version;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JacksonModule;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;

/**
 * Payloads as JSON, the default. Records, collections and {@code java.time} work as they are;
 * fields that a type does not know are ignored and those that are missing get null or zero, so that
 * older and newer code read each other's jobs. No class name is ever read from a payload.
 */
public final class JacksonCodec implements PayloadCodec {
  static final String NAME = "json";

  private final JsonMapper mapper;
  private final Map<Type, ObjectWriter> writers = new ConcurrentHashMap<>();
  private final Map<Type, ObjectReader> readers = new ConcurrentHashMap<>();

  /** With the settings above. */
  public JacksonCodec() {
    this(
        JsonMapper.builder(JsonFactory.builder().recyclerPool(new JsonBuffers()).build())
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .addModule(new Constructors())
            .build());
  }

  /**
   * With a mapper of the user's own. It must go on reading what it once wrote.
   *
   * @param mapper the mapper
   */
  public JacksonCodec(JsonMapper mapper) {
    this.mapper = mapper;
  }

  private static final class Constructors extends JacksonModule {
    @Override
    public String getModuleName() {
      return JsonConstructors.class.getName();
    }

    @Override
    public Version version() {
      return Version.unknownVersion();
    }

    @Override
    public void setupModule(SetupContext context) {
      context.addValueInstantiators(new JsonConstructors());
    }
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public byte[] encode(@Nullable Object value, Type type) {
    try {
      return writer(type).writeValueAsBytes(value);
    } catch (JacksonException | IllegalArgumentException e) {
      throw new CodecException(
          "payload of type " + type.getTypeName() + ": not writable as JSON", e);
    }
  }

  private ObjectWriter writer(Type type) {
    ObjectWriter known = writers.get(type);
    return known != null
        ? known
        : writers.computeIfAbsent(type, t -> mapper.writerFor(mapper.constructType(t)));
  }

  @Override
  public @Nullable Object decode(byte[] bytes, Type type) {
    try {
      return reader(type).readValue(bytes);
    } catch (JacksonException | IllegalArgumentException e) {
      throw new CodecException(
          "payload: not readable as " + type.getTypeName() + ": " + firstLine(e), e);
    }
  }

  private ObjectReader reader(Type type) {
    ObjectReader known = readers.get(type);
    return known != null
        ? known
        : readers.computeIfAbsent(type, t -> mapper.readerFor(mapper.constructType(t)));
  }

  /** Without Jackson's further lines, and without the source, which is the payload. */
  private static String firstLine(Exception e) {
    String message = e instanceof JacksonException j ? j.getOriginalMessage() : e.getMessage();
    return message == null ? e.getClass().getSimpleName() : message.lines().findFirst().orElse("");
  }
}
