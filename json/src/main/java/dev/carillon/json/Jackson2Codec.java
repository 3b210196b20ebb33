package dev.carillon.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.SerializationConfig;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.jsontype.TypeSerializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.BeanSerializerModifier;
import com.fasterxml.jackson.databind.ser.impl.UnknownSerializer;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import com.fasterxml.jackson.module.paramnames.ParameterNamesModule;
import dev.carillon.api.PayloadCodec;
import dev.carillon.api.error.CodecException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Type;
import java.time.Month;
import java.time.Year;
import java.util.Date;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Payloads as JSON by Jackson 2 (2.18 or newer, with its modules for {@code java.time}, {@code
 * Optional} and parameter names): the default where Jackson 3 is not on the class path or does not
 * load there. Has the name of {@link JacksonCodec}, and its defaults, and writes the same bytes.
 * Thread-safe.
 */
public final class Jackson2Codec implements PayloadCodec {
  private final JsonMapper mapper;
  private final boolean strict;
  private final Map<Type, ObjectWriter> writers = new ConcurrentHashMap<>();
  private final Map<Type, ObjectReader> readers = new ConcurrentHashMap<>();

  /** With the defaults of {@link JacksonCodec}. */
  public Jackson2Codec() {
    this(settings().build());
  }

  /**
   * With a mapper of the user's own. It must go on reading what it once wrote.
   *
   * @param mapper the mapper
   */
  public Jackson2Codec(JsonMapper mapper) {
    this(mapper, false);
  }

  private Jackson2Codec(JsonMapper mapper, boolean strict) {
    this.mapper = mapper;
    this.strict = strict;
  }

  /**
   * A codec that refuses missing and unknown fields, as {@link JacksonCodec#strict()} does.
   *
   * @return the codec
   */
  public static Jackson2Codec strict() {
    return new Jackson2Codec(settings().build(), true);
  }

  /** The defaults of Jackson 3, where they differ, and then those of {@link JacksonCodec}. */
  private static JsonMapper.Builder settings() {
    JsonFactory factory =
        JsonFactory.builder()
            .recyclerPool(JsonRecyclerPools.newConcurrentDequePool())
            .enable(StreamWriteFeature.USE_FAST_DOUBLE_WRITER)
            .enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8)
            .build();
    return JsonMapper.builder(factory)
        .enable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
        .enable(MapperFeature.SORT_CREATOR_PROPERTIES_BY_DECLARATION_ORDER)
        .disable(MapperFeature.ALLOW_FINAL_FIELDS_AS_MUTATORS)
        .disable(MapperFeature.DEFAULT_VIEW_INCLUSION)
        .disable(MapperFeature.USE_GETTERS_AS_SETTERS)
        .disable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
        .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
        .disable(SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
        .enable(SerializationFeature.WRITE_DATES_WITH_ZONE_ID)
        .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
        .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
        .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
        .disable(DeserializationFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
        .addModule(new JavaTimeModule())
        .addModule(new Jdk8Module())
        .addModule(new ParameterNamesModule())
        .addModule(additions());
  }

  private static SimpleModule additions() {
    return new SimpleModule(Jackson2Codec.class.getName())
        .addSerializer(
            new Pinned<>(Date.class, (date, to) -> to.writeString(date.toInstant().toString())))
        .addSerializer(
            new Pinned<>(Locale.class, (locale, to) -> to.writeString(locale.toLanguageTag())))
        .addSerializer(new Pinned<>(Month.class, (month, to) -> to.writeString(month.name())))
        .addSerializer(new Pinned<>(Year.class, (year, to) -> to.writeNumber(year.getValue())))
        .setSerializerModifier(new RefuseHidden());
  }

  /** Refuses classes that have fields and show none of them. */
  private static final class RefuseHidden extends BeanSerializerModifier {
    private static final long serialVersionUID = 1;

    @Override
    public JsonSerializer<?> modifySerializer(
        SerializationConfig config, BeanDescription type, JsonSerializer<?> given) {
      boolean hidden = given instanceof UnknownSerializer && HiddenState.has(type.getBeanClass());
      return hidden ? new Hidden(type.getBeanClass()) : given;
    }
  }

  private static final class Hidden extends JsonSerializer<Object> {
    private final Class<?> type;

    Hidden(Class<?> type) {
      this.type = type;
    }

    @Override
    public void serialize(Object value, JsonGenerator to, SerializerProvider context)
        throws IOException {
      context.reportBadDefinition(type, HiddenState.refusal(type));
    }

    @Override
    public void serializeWithType(
        Object value, JsonGenerator to, SerializerProvider context, TypeSerializer types)
        throws IOException {
      serialize(value, to, context);
    }
  }

  private interface Write<T> {
    void accept(T value, JsonGenerator to) throws IOException;
  }

  private static final class Pinned<T> extends StdSerializer<T> {
    private static final long serialVersionUID = 1;

    private final transient Write<T> write;

    Pinned(Class<T> type, Write<T> write) {
      super(type);
      this.write = write;
    }

    @Override
    public void serialize(T value, JsonGenerator to, SerializerProvider context)
        throws IOException {
      write.accept(value, to);
    }
  }

  @Override
  public String name() {
    return JacksonCodec.NAME;
  }

  @Override
  public byte[] encode(@Nullable Object value, Type type) {
    try {
      return writer(type).writeValueAsBytes(value);
    } catch (IOException | IllegalArgumentException e) {
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
    } catch (IOException | IllegalArgumentException e) {
      throw new CodecException(
          "payload: not readable as " + type.getTypeName() + ": " + firstLine(e), e);
    }
  }

  private Object tree(byte[] bytes) {
    try {
      return reader(Object.class).readValue(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
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
    String message =
        e instanceof JsonProcessingException j ? j.getOriginalMessage() : e.getMessage();
    return message == null ? e.getClass().getSimpleName() : message.lines().findFirst().orElse("");
  }
}
