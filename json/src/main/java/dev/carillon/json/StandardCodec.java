package dev.carillon.json;

import dev.carillon.api.PayloadCodec;
import dev.carillon.api.error.CodecException;
import java.lang.reflect.Type;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The JSON codec of a program that chose none: by Jackson 3 where that loads, else by Jackson 2.
 * Made with the first payload, so that a program with another codec needs neither. Thread-safe.
 */
public final class StandardCodec implements PayloadCodec {
  private static final Logger LOG = LoggerFactory.getLogger(StandardCodec.class);

  private static final String JACKSON_3 = "tools.jackson.core:jackson-databind (3.0 or newer)";
  private static final String JACKSON_2 =
      "com.fasterxml.jackson.core:jackson-databind (2.18 or newer) with jackson-datatype-jsr310,"
          + " jackson-datatype-jdk8 and jackson-module-parameter-names";

  private final Supplier<PayloadCodec> first;
  private final Supplier<PayloadCodec> second;
  private volatile @Nullable PayloadCodec made;

  @SuppressWarnings("UnnecessaryLambda") // a method reference would load the class at once
  public StandardCodec() {
    this(() -> new JacksonCodec(), () -> new Jackson2Codec());
  }

  /** With other candidates, for tests. */
  StandardCodec(Supplier<PayloadCodec> first, Supplier<PayloadCodec> second) {
    this.first = first;
    this.second = second;
  }

  /** Shows whether a Jackson finds all the classes that it needs. */
  private record Probe(int number) {}

  @Override
  public String name() {
    return JacksonCodec.NAME;
  }

  @Override
  public byte[] encode(@Nullable Object value, Type type) {
    return codec().encode(value, type);
  }

  @Override
  public @Nullable Object decode(byte[] bytes, Type type) {
    return codec().decode(bytes, type);
  }

  private PayloadCodec codec() {
    PayloadCodec known = made;
    return known != null ? known : make();
  }

  private synchronized PayloadCodec make() {
    PayloadCodec known = made;
    if (known == null) {
      known = choose();
      made = known;
    }
    return known;
  }

  private PayloadCodec choose() {
    Throwable noFirst;
    try {
      return probed(first.get());
    } catch (LinkageError | CodecException e) {
      noFirst = e;
    }
    try {
      PayloadCodec codec = probed(second.get());
      LOG.info("payloads are written by Jackson 2; Jackson 3 does not load: {}", say(noFirst));
      return codec;
    } catch (LinkageError | CodecException e) {
      CodecException none =
          new CodecException(
              "codec: none (expected: on the class path %s, which does not load: %s; or %s, which does not load: %s; or a codec that is said to the builder)"
                  .formatted(JACKSON_3, say(noFirst), JACKSON_2, say(e)),
              noFirst);
      none.addSuppressed(e);
      throw none;
    }
  }

  private static PayloadCodec probed(PayloadCodec codec) {
    codec.decode(codec.encode(new Probe(1), Probe.class), Probe.class);
    return codec;
  }

  private static String say(Throwable e) {
    return e.getClass().getSimpleName() + " " + e.getMessage();
  }
}
