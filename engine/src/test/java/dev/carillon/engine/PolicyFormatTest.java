package dev.carillon.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.FailurePolicy;
import dev.carillon.api.schedule.Schedule;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.PolicyFormat;
import dev.carillon.engine.job.ScheduleFormat;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Schedules and failure policies as journals hold them. */
class PolicyFormatTest {
  private static final int SEEDS = 2000;

  @Test
  void everyPartOfAScheduleSurvives() {
    for (long seed = 0; seed < SEEDS; seed++) {
      Schedule schedule = new RandomPolicies(seed).schedule();
      assertThat(ScheduleFormat.decode(ScheduleFormat.encode(schedule)))
          .as("seed %d", seed)
          .isEqualTo(schedule);
    }
  }

  @Test
  void everyPartOfAPolicySurvives() {
    for (long seed = 0; seed < SEEDS; seed++) {
      FailurePolicy policy = new RandomPolicies(seed).policy();
      assertThat(PolicyFormat.decode(PolicyFormat.encode(policy)))
          .as("seed %d", seed)
          .isEqualTo(policy);
    }
  }

  /** What journals hold already must be read for ever. */
  @Test
  void bytesNeverChange() {
    Schedule schedule = Schedule.cron("@daily", "Europe/Berlin").times(3);
    assertThat(HexFormat.of().formatHex(ScheduleFormat.encode(schedule)))
        .isEqualTo("010106406461696c790d4575726f70652f4265726c696e010101010403");
    FailurePolicy policy = FailurePolicy.constant(Duration.ofSeconds(1), 3).except(Error.class);
    assertThat(HexFormat.of().formatHex(PolicyFormat.encode(policy)))
        .isEqualTo("010203c0843d010f6a6176612e6c616e672e4572726f72");
  }

  @Test
  void bytesCutOffOrWithMoreBehindThemAreDamaged() {
    for (long seed = 0; seed < 200; seed++) {
      RandomPolicies random = new RandomPolicies(seed);
      refusesCuts(ScheduleFormat.encode(random.schedule()), ScheduleFormat::decode);
      refusesCuts(PolicyFormat.encode(random.policy()), PolicyFormat::decode);
    }
  }

  private static void refusesCuts(byte[] bytes, Function<byte[], ?> decode) {
    for (int length = 0; length <= bytes.length + 1; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      if (length != bytes.length) {
        assertThatThrownBy(() -> decode.apply(cut))
            .as("%d of %s", length, HexFormat.of().formatHex(bytes))
            .isInstanceOf(DamagedException.class);
      }
    }
  }

  /** Journals have checksums; this is for what gets past them, or was written wrongly. */
  @Test
  void changedBytesAreReadAsSomethingElseOrRefusedAsDamagedOrUnknown() {
    Random random = new Random(7);
    int refused = 0;
    for (long seed = 0; seed < SEEDS; seed++) {
      RandomPolicies policies = new RandomPolicies(seed);
      byte[] schedule = ScheduleFormat.encode(policies.schedule());
      schedule[random.nextInt(schedule.length)] ^= (byte) (1 << random.nextInt(8));
      refused += refused(schedule, ScheduleFormat::decode) ? 1 : 0;
      byte[] policy = PolicyFormat.encode(policies.policy());
      policy[random.nextInt(policy.length)] ^= (byte) (1 << random.nextInt(8));
      refused += refused(policy, PolicyFormat::decode) ? 1 : 0;
    }
    assertThat(refused).isGreaterThan(SEEDS / 2);
  }

  private static boolean refused(byte[] bytes, Function<byte[], ?> decode) {
    try {
      assertThat(decode.apply(bytes)).isNotNull();
      return false;
    } catch (DamagedException | UnknownFormatException e) {
      return true;
    }
  }

  @Test
  void versionsAndKindsOfLaterCodeAreUnknown() {
    byte[] schedule = ScheduleFormat.encode(Schedule.every(Duration.ofSeconds(1)));
    byte[] policy = PolicyFormat.encode(FailurePolicy.standard());
    for (int at = 0; at < 2; at++) {
      byte[] laterSchedule = schedule.clone();
      laterSchedule[at] = 9;
      assertThatThrownBy(() -> ScheduleFormat.decode(laterSchedule))
          .isInstanceOf(UnknownFormatException.class)
          .hasMessageStartingWith("schedule: ");
      byte[] laterPolicy = policy.clone();
      laterPolicy[at] = 9;
      assertThatThrownBy(() -> PolicyFormat.decode(laterPolicy))
          .isInstanceOf(UnknownFormatException.class)
          .hasMessageStartingWith("policy: ");
    }
  }
}
