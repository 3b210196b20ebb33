import dev.carillon.testkit.*;

public final class CLASS {
  /** Of an empty PostgreSQL database. */
  static final String url = System.getProperty("postgres.url");

  public static void run() throws Exception {
    // SNIPPET
  }
}
