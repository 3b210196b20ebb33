package dev.carillon.json;

import dev.carillon.api.PayloadCodec;
import dev.carillon.api.error.CodecException;
import java.lang.reflect.Type;
import java.time.Month;
import java.time.Year;
import java.util.Date;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.SerializationConfig;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.TypeSerializer;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.ser.ValueSerializerModifier;
import tools.jackson.databind.ser.impl.UnknownSerializer;
import tools.jackson.databind.ser.std.StdSerializer;

/**
 * Payloads as JSON by Jackson 3 (3.0 or newer), the default. {@link Jackson2Codec} has the same
 * name and writes the same bytes, so a program may change from one to the other.
 *
 * <p>Records, collections, {@code Optional} and {@code java.time} work as they are. A field that
 * the type does not know is ignored and a missing one becomes null, zero or false, so that older
 * and newer code read each other's jobs; see {@link #strict()}. Enums are written by name. A class
 * whose fields JSON cannot see is refused. No class name is ever read from a payload. Thread-safe.
 */
public final class JacksonCodec implements PayloadCodec {
  public static final String NAME = "json";

  private final JsonMapper mapper;
  private final boolean strict;
  private final Map<Type, ObjectWriter> writers = new ConcurrentHashMap<>();
  private final Map<Type, ObjectReader> readers = new ConcurrentHashMap<>();

  /** With the settings above. */
  public JacksonCodec() {
    this(settings().build());
  }

  /**
   * With a mapper of the user's own. It must go on reading what it once wrote.
   *
   * @param mapper the mapper
   */
  public JacksonCodec(JsonMapper mapper) {
    this(mapper, false);
  }

  private JacksonCodec(JsonMapper mapper, boolean strict) {
    this.mapper = mapper;
    this.strict = strict;
  }

  /**
   * A codec that refuses to read a payload with a field that its type does not know, or without one
   * that it has; such a job is blocked as {@link dev.carillon.api.BlockReason#UNDECODABLE} and
   * keeps its bytes. Writes the same bytes as the default. Reading takes longer: what was read is
   * written once more and compared.
   *
   * @return the codec
   */
  public static JacksonCodec strict() {
    return new JacksonCodec(settings().build(), true);
  }

  /** All that differs between the versions of Jackson is said: the bytes must not. */
  private static JsonMapper.Builder settings() {
    JsonFactory factory =
        JsonFactory.builder()
            .recyclerPool(new JsonBuffers())
            .enable(StreamWriteFeature.USE_FAST_DOUBLE_WRITER)
            .enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8)
            .disable(JsonWriteFeature.ESCAPE_FORWARD_SLASHES)
            .build();
    return JsonMapper.builder(factory)
        .enable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
        .disable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
        .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
        .disable(EnumFeature.WRITE_ENUMS_USING_TO_STRING)
        .disable(EnumFeature.READ_ENUMS_USING_TO_STRING)
        .enable(DateTimeFeature.WRITE_DATES_WITH_ZONE_ID)
        .disable(DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
        .addModule(new Additions());
  }

  /** Among them how types are written that versions of Jackson write each in another way. */
  private static final class Additions extends SimpleModule {
    Additions() {
      super(JacksonCodec.class.getName());
      addSerializer(
          new Pinned<>(Date.class, (date, to) -> to.writeString(date.toInstant().toString())));
      addSerializer(
          new Pinned<>(Locale.class, (locale, to) -> to.writeString(locale.toLanguageTag())));
      addSerializer(new Pinned<>(Month.class, (month, to) -> to.writeString(month.name())));
      addSerializer(new Pinned<>(Year.class, (year, to) -> to.writeNumber(year.getValue())));
      setSerializerModifier(new RefuseHidden());
    }

    @Override
    public void setupModule(SetupContext context) {
      super.setupModule(context);
      context.addValueInstantiators(new JsonConstructors());
    }
  }

  /** Refuses classes that have fields and show none of them. */
  private static final class RefuseHidden extends ValueSerializerModifier {
    @Override
    public ValueSerializer<?> modifySerializer(
        SerializationConfig config, BeanDescription.Supplier type, ValueSerializer<?> given) {
      boolean hidden = given instanceof UnknownSerializer && HiddenState.has(type.getBeanClass());
      return hidden ? new Hidden(type.getBeanClass()) : given;
    }
  }

  private static final class Hidden extends ValueSerializer<Object> {
    private final Class<?> type;

    Hidden(Class<?> type) {
      this.type = type;
    }

    @Override
    public void serialize(Object value, JsonGenerator to, SerializationContext context) {
      context.reportBadDefinition(type, HiddenState.refusal(type));
    }

    @Override
    public void serializeWithType(
        Object value, JsonGenerator to, SerializationContext context, TypeSerializer types) {
      serialize(value, to, context);
    }
  }

  private static final class Pinned<T> extends StdSerializer<T> {
    private final transient BiConsumer<T, JsonGenerator> write;

    Pinned(Class<T> type, BiConsumer<T, JsonGenerator> write) {
      super(type);
      this.write = write;
    }

    @Override
    public void serialize(T value, JsonGenerator to, SerializationContext context) {
      write.accept(value, to);
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
          "payload of type " + type.getTypeName() + ": not writable as JSON: " + firstLine(e), e);
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
      Object value = reader(type).readValue(bytes);
      if (strict) {
        JsonDifference.refuseOtherFields(this::tree, bytes, encode(value, type));
      }
      return value;
    } catch (JacksonException | IllegalArgumentException e) {
      throw new CodecException(
          "payload: not readable as " + type.getTypeName() + ": " + firstLine(e), e);
    }
  }

  private Object tree(byte[] bytes) {
    return reader(Object.class).readValue(bytes);
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
