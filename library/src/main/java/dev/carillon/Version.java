package dev.carillon;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** The version of this library, as its build wrote it. */
final class Version {
  private static final String TEXT = read();

  private Version() {}

  static String text() {
    return TEXT;
  }

  private static String read() {
    Properties build = new Properties();
    try (InputStream in = Version.class.getResourceAsStream("build.properties")) {
      if (in != null) {
        build.load(in);
      }
    } catch (IOException e) {
      build.clear(); // a version that cannot be read must not keep a node from opening
    }
    return build.getProperty("version", "(unknown version)");
  }
}
