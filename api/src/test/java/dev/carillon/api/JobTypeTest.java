package dev.carillon.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.carillon.api.error.InvalidJobException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class JobTypeTest {

  private static final JobType<int[], Integer> SUM = JobType.of("sum", int[].class, Integer.class);
  private static final TaskType<String> SEND = TaskType.of("send", String.class);

  @Test
  void jobCarriesItsType() {
    Job<Integer> job = SUM.version(3).job(new int[] {1, 2});

    assertThat(job.typeName()).isEqualTo("sum");
    assertThat(job.typeVersion()).isEqualTo(3);
    assertThat(job.inputType()).isEqualTo(TypeToken.of(int[].class));
    assertThat(job.outputType()).isEqualTo(TypeToken.of(Integer.class));
    assertThat(job.input()).isEqualTo(new int[] {1, 2});
  }

  @Test
  void taskHasNoResult() {
    Job<Void> job = SEND.version(2).job("hello");

    assertThat(job.typeVersion()).isEqualTo(2);
    assertThat(job.outputType()).isEqualTo(TypeToken.of(Void.class));
  }

  @Test
  void genericPayloadsUseTokens() {
    TypeToken<List<String>> strings = new TypeToken<>() {};

    assertThat(TaskType.of("send-all", strings).job(List.of("a")).inputType()).isEqualTo(strings);
    assertThat(JobType.of("sort", strings, strings).output()).isEqualTo(strings);
  }

  @Test
  void versionIsOneByDefaultAndACopyWhenChanged() {
    assertThat(SUM.version(2)).isNotEqualTo(SUM).isEqualTo(SUM.version(2));
    assertThat(SUM.version()).isEqualTo(1);
    assertThat(SEND.version()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, Limits.TYPE_VERSION_MAX + 1})
  void versionOutOfRangeIsRefused(int version) {
    assertThatExceptionOfType(InvalidJobException.class)
        .isThrownBy(() -> SUM.version(version))
        .withMessage("version: " + version + " (expected: 1 to 65535)");
    assertThatExceptionOfType(InvalidJobException.class).isThrownBy(() -> SEND.version(version));
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"", " ", "\t\n", "a\nb", "a\0", "\uD800", "x\uDC00y"})
  void nullBlankAndMalformedNamesAreRefused(String name) {
    assertThatExceptionOfType(InvalidJobException.class)
        .isThrownBy(() -> JobType.of(name, String.class, String.class))
        .withMessageMatching("type: .+ \\(expected: .+\\)");
    assertThatExceptionOfType(InvalidJobException.class)
        .isThrownBy(() -> TaskType.of(name, String.class))
        .withMessageMatching("type: .+ \\(expected: .+\\)");
  }

  @Test
  void missingClassesAreRefused() {
    assertThatExceptionOfType(InvalidJobException.class)
        .isThrownBy(() -> TaskType.of("send", (Class<String>) null))
        .withMessage("input: null (expected: not null)");
    assertThatExceptionOfType(InvalidJobException.class)
        .isThrownBy(() -> JobType.of("sum", String.class, null))
        .withMessage("output: null (expected: not null)");
  }

  @Test
  void nullInputIsRefusedUnlessThereIsNone() {
    assertThatExceptionOfType(InvalidJobException.class)
        .isThrownBy(() -> SEND.job(null))
        .withMessage("input: null (expected: a value of type java.lang.String)");
    assertThat(TaskType.of("tick", Void.class).job(null).input()).isNull();
  }

  @Test
  void typesAreEqualByNameVersionAndTypes() {
    assertThat(SEND)
        .isEqualTo(TaskType.of("send", String.class))
        .hasSameHashCodeAs(TaskType.of("send", String.class))
        .isNotEqualTo(TaskType.of("send", Integer.class))
        .hasToString("send v1 (java.lang.String)");
    assertThat(SUM)
        .isEqualTo(JobType.of("sum", int[].class, Integer.class))
        .hasSameHashCodeAs(JobType.of("sum", int[].class, Integer.class))
        .isNotEqualTo(JobType.of("sum", int[].class, Long.class))
        .hasToString("sum v1 (int[] -> java.lang.Integer)");
  }

  /** Compiling is the test: lambdas fit the overload of their type, with or without a result. */
  @Test
  void oneOverloadedMethodTakesLambdasForBoth() {
    var registry = new Registry();

    registry.handle(SUM, (values, job) -> values.length);
    registry.handle(SUM, (values, job) -> null);
    registry.handle(
        SUM,
        (values, job) -> {
          throw new IOException("checked");
        });
    registry.handle(SEND, (mail, job) -> registry.note(mail));
    registry.handle(SEND, (mail, job) -> {});
    registry.handle(
        SEND,
        (mail, job) -> {
          throw new IOException("checked");
        });

    assertThat(registry.jobs).hasSize(3);
    assertThat(registry.tasks).hasSize(3);
  }

  private static final class Registry {
    final List<Map.Entry<String, JobHandler<?, ?>>> jobs = new ArrayList<>();
    final List<Map.Entry<String, TaskHandler<?>>> tasks = new ArrayList<>();

    <I, O> void handle(JobType<I, O> type, JobHandler<I, O> handler) {
      jobs.add(Map.entry(type.name(), handler));
    }

    <I> void handle(TaskType<I> type, TaskHandler<I> handler) {
      tasks.add(Map.entry(type.name(), handler));
    }

    boolean note(String mail) {
      return mail.isEmpty();
    }
  }
}
