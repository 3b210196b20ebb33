package dev.carillon.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.GoldenPayloads;
import dev.carillon.api.PayloadCodec;
import java.io.File;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Both codecs write the golden bytes, and a program gets the one that loads on its class path. */
class StandardCodecTest {

  /** A class path of its own, without some jars and classes of this one. */
  private static final class OtherClassPath extends URLClassLoader {
    private final Set<String> hidden;

    OtherClassPath(Predicate<String> jars, Set<String> hidden) {
      super(urls(jars), ClassLoader.getPlatformClassLoader());
      this.hidden = hidden;
    }

    private static URL[] urls(Predicate<String> jars) {
      List<URL> urls = new ArrayList<>();
      for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
        if (jars.test(entry)) {
          try {
            urls.add(Path.of(entry).toUri().toURL());
          } catch (MalformedURLException e) {
            throw new IllegalStateException(e);
          }
        }
      }
      return urls.toArray(URL[]::new);
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
      if (hidden.contains(name)) {
        throw new ClassNotFoundException(name);
      }
      return super.findClass(name);
    }

    /** Encodes with the standard codec of that class path, or throws what it throws. */
    String encoded(Object value, Class<?> type) throws Throwable {
      Constructor<?> constructor =
          loadClass(StandardCodec.class.getName()).getDeclaredConstructor();
      constructor.setAccessible(true);
      Object codec = constructor.newInstance();
      Method encode = codec.getClass().getMethod("encode", Object.class, Type.class);
      encode.setAccessible(true);
      try {
        return new String((byte[]) encode.invoke(codec, value, type), StandardCharsets.UTF_8);
      } catch (InvocationTargetException e) {
        throw e.getCause();
      }
    }
  }

  private static boolean isJackson3(String jar) {
    return jar.contains("tools" + File.separator + "jackson");
  }

  private static boolean isJackson2(String jar) {
    return jar.contains("fasterxml" + File.separator + "jackson") && !jar.contains("annotations");
  }

  @ParameterizedTest
  @ValueSource(strings = {"3", "2", "the one that loads"})
  void goldenBytesAreWrittenAndReadByEveryCodec(String which) {
    PayloadCodec codec =
        switch (which) {
          case "3" -> new JacksonCodec();
          case "2" -> new Jackson2Codec();
          default -> new StandardCodec();
        };
    assertThat(codec.name()).isEqualTo("json");
    assertThat(GoldenPayloads.all()).hasSizeGreaterThanOrEqualTo(40);
    assertThat(GoldenPayloads.differences(codec)).isEmpty();
  }

  @Test
  void eitherJacksonIsEnough() throws Throwable {
    try (OtherClassPath only3 = new OtherClassPath(jar -> !isJackson2(jar), Set.of());
        OtherClassPath only2 = new OtherClassPath(jar -> !isJackson3(jar), Set.of())) {
      assertThat(only3.encoded("text", String.class)).isEqualTo("\"text\"");
      assertThat(only2.encoded("text", String.class)).isEqualTo("\"text\"");
    }
  }

  /** As Spring Boot 3.5 has it: Jackson 3.2 beside annotations that lack a class it needs. */
  @Test
  void jackson2IsUsedWhereJackson3IsThereAndDoesNotLoad() throws Throwable {
    Set<String> newer = Set.of("com.fasterxml.jackson.annotation.JsonApplyView");
    try (OtherClassPath older = new OtherClassPath(jar -> true, newer)) {
      assertThat(older.encoded("text", String.class)).isEqualTo("\"text\"");
    }
    try (OtherClassPath no2 = new OtherClassPath(jar -> !isJackson2(jar), newer)) {
      assertThatThrownBy(() -> no2.encoded("text", String.class))
          .hasMessageContaining("JsonApplyView");
    }
  }

  @Test
  void withoutAnyJacksonTheErrorSaysWhatToAdd() throws Throwable {
    try (OtherClassPath none =
        new OtherClassPath(jar -> !isJackson2(jar) && !isJackson3(jar), Set.of())) {
      assertThatThrownBy(() -> none.encoded("text", String.class))
          .hasMessageStartingWith("codec: none (expected: ")
          .hasMessageContaining("tools.jackson.core:jackson-databind")
          .hasMessageContaining("com.fasterxml.jackson.core:jackson-databind")
          .hasMessageContaining("jackson-datatype-jsr310");
      // A program with a codec of its own needs neither.
      assertThat(none.loadClass("dev.carillon.Carillon").getMethod("builder").invoke(null))
          .isNotNull();
    }
  }
}
