package dev.carillon;

import dev.carillon.api.TaskType;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;

/**
 * A process that books jobs: each writes a row of business and completes its job in one
 * transaction. It runs until it is killed.
 */
final class CompletingChild {
  static final TaskType<Integer> BOOK = TaskType.of("book", Integer.class);

  private CompletingChild() {}

  static Carillon open(String url, String cluster) {
    return Carillon.builder()
        .url(url)
        .cluster(cluster)
        .advanced(a -> a.slowStart(Duration.ZERO).aloneTime(Duration.ofMillis(50)))
        .daemon(true)
        .open();
  }

  /** Begins to book. */
  static void handle(Carillon carillon, String url) {
    carillon.handle(
        BOOK,
        (number, job) -> {
          try (Connection connection = DriverManager.getConnection(url)) {
            noteIfBooked(connection, number);
            connection.setAutoCommit(false);
            try (PreparedStatement insert =
                connection.prepareStatement("insert into booked values (?)")) {
              insert.setInt(1, number);
              insert.executeUpdate();
            }
            job.completeIn(connection);
            connection.commit();
          }
        },
        HandlerOptions.defaults().limit(8));
  }

  /** What is booked is done: nobody is to be called for it again. */
  private static void noteIfBooked(Connection connection, int number) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("insert into again select * from booked where number = ?")) {
      insert.setInt(1, number);
      insert.executeUpdate();
    }
  }

  public static void main(String[] args) throws Exception {
    Carillon carillon = open(args[0], args[1]);
    handle(carillon, args[0]);
    System.out.println("ready");
    System.out.flush();
    while (System.in.read() >= 0) {
      Thread.onSpinWait();
    }
    carillon.close();
  }
}
