package dev.carillon.prove;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.Carillon;
import dev.carillon.api.JobId;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.api.TypeToken;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The job that kills its node is found though another one runs all the time. */
@Timeout(180)
class SuspectTest {
  /** One without a marker, and two that leave one each. */
  private static final int DEATHS_BEFORE_ALONE = 3;

  @TempDir Path folder;

  private String url() {
    return "jdbc:sqlite:" + folder.resolve("jobs.db");
  }

  /** Runs a process until a job kills it; gives what started in it. */
  private List<String> die() throws IOException, InterruptedException {
    Path out = Files.createTempFile(folder, "child", ".out");
    Path errors = folder.resolve("child.err");
    Process child =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1", // lives for seconds only
                "-cp",
                System.getProperty("java.class.path"),
                SuspectChild.class.getName(),
                url())
            .redirectOutput(out.toFile())
            .redirectError(errors.toFile())
            .start();
    try {
      boolean ended = child.waitFor(40, TimeUnit.SECONDS);
      assertThat(ended).as("%s%s", Files.readString(out), Files.readString(errors)).isTrue();
      assertThat(child.exitValue()).as(Files.readString(errors)).isEqualTo(SuspectChild.EXIT);
    } finally {
      child.destroyForcibly();
    }
    return Files.readAllLines(out);
  }

  @Test
  void killerIsConvictedBesideAJobThatLastsAndThatOneIsNot() throws Exception {
    JobId lasts;
    JobId kills;
    try (Carillon carillon = Carillon.open(url())) {
      lasts = carillon.schedule(SuspectChild.LASTS.job(null).priority(10)).id();
      kills = carillon.schedule(SuspectChild.KILLS.job(null)).id();
    }
    for (int i = 0; i < DEATHS_BEFORE_ALONE; i++) {
      assertThat(die()).containsExactly("lasts", "kills");
    }

    // Both are suspects now. The first one lasts its time alone, the second starts beside it.
    assertThat(die()).containsExactly("lasts", "kills");

    List<String> ran = new CopyOnWriteArrayList<>();
    try (Carillon carillon = Carillon.open(url())) {
      carillon.handle(SuspectChild.LASTS, (nothing, job) -> ran.add("lasts"));
      carillon.handle(SuspectChild.KILLS, (nothing, job) -> ran.add("kills"));
      carillon.result(lasts, TypeToken.of(Void.class), Duration.ofSeconds(20));
      JobInfo convicted =
          Awaitility.await()
              .until(() -> carillon.get(kills).orElseThrow(), info -> info.state().ended());
      assertThat(convicted.state()).isEqualTo(JobState.DEAD);
      assertThat(convicted.reason()).startsWith("poison");
    }
    assertThat(ran).containsExactly("lasts");
  }
}
