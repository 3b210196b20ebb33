package dev.carillon.server.json;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * Writes the fields of an object. What is absent is left out; times are RFC 3339, durations ISO
 * 8601.
 */
public final class JsonText {
  private final JsonGenerator out;

  JsonText(JsonGenerator out) {
    this.out = out;
  }

  /** A text, left out if it is null. */
  public JsonText put(String name, @Nullable String value) {
    if (value != null) {
      out.writeStringProperty(name, value);
    }
    return this;
  }

  /** A time, left out if it is null. */
  public JsonText put(String name, @Nullable Instant value) {
    return put(name, value != null ? value.toString() : null);
  }

  /** A duration, left out if it is null. */
  public JsonText put(String name, @Nullable Duration value) {
    return put(name, value != null ? value.toString() : null);
  }

  /** The name of a constant, left out if it is null. */
  public JsonText put(String name, @Nullable Enum<?> value) {
    return put(name, value != null ? value.name() : null);
  }

  /** A whole number. */
  public JsonText put(String name, long value) {
    out.writeNumberProperty(name, value);
    return this;
  }

  /** A number. */
  public JsonText put(String name, double value) {
    out.writeNumberProperty(name, value);
    return this;
  }

  /** True or false. */
  public JsonText put(String name, boolean value) {
    out.writeBooleanProperty(name, value);
    return this;
  }

  /** Texts by name, left out where there are none. */
  public JsonText texts(String name, Map<String, String> values) {
    return values.isEmpty()
        ? this
        : object(name, inner -> values.forEach((key, value) -> inner.put(key, value)));
  }

  /** A list of texts. */
  public JsonText texts(String name, Collection<String> values) {
    out.writeArrayPropertyStart(name);
    values.forEach(out::writeString);
    out.writeEndArray();
    return this;
  }

  /** A list of whole numbers. */
  public JsonText integers(String name, Collection<Integer> values) {
    out.writeArrayPropertyStart(name);
    values.forEach(out::writeNumber);
    out.writeEndArray();
    return this;
  }

  /** A list of numbers; one that is not known is null. */
  public JsonText numbers(String name, Collection<? extends @Nullable Number> values) {
    out.writeArrayPropertyStart(name);
    for (Number value : values) {
      if (value == null) {
        out.writeNull();
      } else if (value instanceof Double) {
        out.writeNumber(value.doubleValue());
      } else {
        out.writeNumber(value.longValue());
      }
    }
    out.writeEndArray();
    return this;
  }

  /** An object in this one. */
  public JsonText object(String name, Json.Body body) {
    out.writeObjectPropertyStart(name);
    body.write(this);
    out.writeEndObject();
    return this;
  }

  /** A list of objects. */
  public <T> JsonText list(
      String name, Collection<? extends T> values, BiConsumer<JsonText, ? super T> each) {
    out.writeArrayPropertyStart(name);
    for (T value : values) {
      out.writeStartObject();
      each.accept(this, value);
      out.writeEndObject();
    }
    out.writeEndArray();
    return this;
  }

  /** A value that is JSON already. */
  public JsonText raw(String name, String json) {
    out.writeName(name);
    out.writeRawValue(json);
    return this;
  }
}
