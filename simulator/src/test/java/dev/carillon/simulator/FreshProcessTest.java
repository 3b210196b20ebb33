package dev.carillon.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A seed has the same hash in every process: decision 0033. */
class FreshProcessTest {
  private static final Seed FIRST = new Seed(41, 1);
  private static final Seed FIRST_OF_SEVERAL = new Seed(41, 5);

  /** In one process all objects have the same identity hash; in the other each has its own. */
  @Test
  void seedsHaveTheSameHashesInProcessesThatDifferInAllTheyCan() throws Exception {
    Process one = start("-XX:hashCode=2", "-Duser.language=ar", "-Duser.timezone=Asia/Kathmandu");
    Process other = start("-XX:hashCode=5", "-Duser.language=en", "-Duser.timezone=UTC");

    List<String> hashes = linesOf(one);
    assertThat(hashes).hasSize(Hashes.SEEDS + Hashes.SEEDS_OF_SEVERAL);
    assertThat(linesOf(other)).isEqualTo(hashes);
  }

  private static Process start(String... options) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UnlockExperimentalVMOptions"));
    command.add("-XX:TieredStopAtLevel=1"); // it compiles sooner, and the run is short
    command.addAll(List.of(options));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Hashes.class.getName()));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  private static List<String> linesOf(Process process) throws IOException, InterruptedException {
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).isZero();
    return out.lines().toList();
  }

  /** Prints the hash of each seed. */
  static final class Hashes {
    static final int SEEDS = 10;
    static final int SEEDS_OF_SEVERAL = 2;

    private Hashes() {}

    public static void main(String[] args) {
      print(FIRST, SEEDS);
      print(FIRST_OF_SEVERAL, SEEDS_OF_SEVERAL);
    }

    private static void print(Seed first, int seeds) {
      for (long number = first.number(); number < first.number() + seeds; number++) {
        Seed seed = new Seed(number, first.nodes());
        long hash = new Simulation(seed, new FaultTable(seed), null).run().hash();
        System.out.println(seed + " " + Long.toHexString(hash));
      }
    }
  }
}
