package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.JobHandle;
import dev.carillon.api.TaskType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program in README.md, which copies the region below as it is. */
@Timeout(60)
class ReadmeTest {
  @TempDir Path folder;

  private final BlockingQueue<String> outbox = new LinkedBlockingQueue<>();

  // region readme
  record Mail(String to, String text) {}

  static final TaskType<Mail> SEND = TaskType.of("send-mail", Mail.class);

  void program(String url) throws Exception {
    try (Carillon carillon = Carillon.open(url)) { // "jdbc:sqlite:jobs.db"
      carillon.handle(SEND, (mail, job) -> outbox.add("to " + mail.to() + ": " + mail.text()));
      JobHandle<Void> handle =
          carillon.schedule(SEND.job(new Mail("ann", "hello")).in(Duration.ofSeconds(1)));
      // Durable from here on: kill the process now, and the mail is sent by the next one.
      handle.result(Duration.ofMinutes(1));
    }
  }

  // endregion

  @Test
  void programOfTheReadmeRuns() throws Exception {
    program("jdbc:sqlite:" + folder.resolve("jobs.db"));
    assertThat(outbox.poll(1, TimeUnit.SECONDS)).isEqualTo("to ann: hello");
  }
}
