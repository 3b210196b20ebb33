package dev.carillon;

import static dev.carillon.Types.LONG;
import static dev.carillon.Types.NOTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.api.BlockReason;
import dev.carillon.api.CancelResult;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.api.PayloadCodec;
import dev.carillon.api.TaskType;
import dev.carillon.api.error.JobFailedException;
import dev.carillon.json.JacksonCodec;
import java.lang.reflect.Type;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A job whose payload its handler cannot read waits, and can be got rid of. */
@Timeout(60)
class UndecodableTest {
  /** The type of {@link Types#NOTE} as code that expects a number has it. */
  private static final TaskType<Integer> NUMBER = TaskType.of("note", Integer.class);

  @TempDir Path folder;

  private final BlockingQueue<String> notes = new LinkedBlockingQueue<>();

  private static JobInfo awaitUndecodable(JobHandle<?> handle) {
    return Awaitility.await()
        .until(handle::info, info -> info.blockReason() == BlockReason.UNDECODABLE);
  }

  @ParameterizedTest
  @EnumSource
  void undecodablePayloadBlocksThatJobOnlyUntilAHandlerCanReadIt(Place.Kind kind) throws Exception {
    Place place = new Place(kind, folder);
    JobHandle<Void> bad;
    try (Carillon carillon = place.open()) {
      bad = carillon.schedule(NOTE.job("no number"));
      JobHandle<Void> good = carillon.schedule(NUMBER.job(42));
      carillon.handle(NUMBER, (number, job) -> notes.add("number " + number));

      good.result(LONG);
      JobInfo info = awaitUndecodable(bad);
      assertThat(info.state()).isEqualTo(JobState.BLOCKED);
      assertThat(info.attempt()).isZero();
      assertThat(info.lastError().message()).contains("not readable as java.lang.Integer");
      assertThat(notes.take()).isEqualTo("number 42");
    }
    try (Carillon carillon = place.open()) {
      carillon.handle(NOTE, (text, job) -> notes.add(text));
      assertThat(notes.poll(20, TimeUnit.SECONDS)).isEqualTo("no number");
      carillon.result(bad.id(), TaskTypeResult.NONE, LONG);
    }
  }

  @ParameterizedTest
  @EnumSource
  void undecodableJobStillExpires(Place.Kind kind) {
    try (Carillon carillon = new Place(kind, folder).open()) {
      carillon.handle(NUMBER, (number, job) -> notes.add("ran"));
      JobHandle<Void> expires =
          carillon.schedule(NOTE.job("no number").deadline(Instant.now().plusSeconds(2)));

      awaitUndecodable(expires);
      Awaitility.await()
          .untilAsserted(() -> assertThat(expires.info().state()).isEqualTo(JobState.EXPIRED));
    }
    assertThat(notes).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void undecodableJobIsCancelledAndDoesNotRunLater(Place.Kind kind) throws Exception {
    Place place = new Place(kind, folder);
    JobHandle<Void> bad;
    try (Carillon carillon = place.open()) {
      carillon.handle(NUMBER, (number, job) -> notes.add("number " + number));
      bad = carillon.schedule(NOTE.job("no number").named("n"));
      awaitUndecodable(bad);

      assertThat(bad.cancel("not needed")).isEqualTo(new CancelResult.Cancelled());
      assertThat(bad.cancel("again")).isEqualTo(new CancelResult.Ended(JobState.CANCELLED));
      assertThat(bad.info().state()).isEqualTo(JobState.CANCELLED);
      assertThat(bad.info().reason()).isEqualTo("not needed");
      assertThat(bad.info().blockReason()).isNull();

      JobHandle<Void> next = carillon.schedule(NUMBER.job(1).named("n"));
      assertThat(next.created()).isTrue();
      next.result(LONG);
    }
    try (Carillon carillon = place.open()) {
      carillon.handle(NOTE, (text, job) -> notes.add(text));
      carillon.schedule(NOTE.job("readable")).result(LONG);
      assertThat(carillon.get(bad.id()).orElseThrow().state()).isEqualTo(JobState.CANCELLED);
    }
    assertThat(notes).containsExactly("number 1", "readable");
  }

  @Test
  void cancelWhileThePayloadIsDecodedEndsTheJobThoughItTurnsOutUndecodable() throws Exception {
    Gate gate = new Gate();
    PayloadCodec codec =
        new PayloadCodec() {
          private final PayloadCodec json = new JacksonCodec();

          @Override
          public String name() {
            return json.name();
          }

          @Override
          public byte[] encode(@Nullable Object value, Type type) {
            return json.encode(value, type);
          }

          @Override
          public @Nullable Object decode(byte[] bytes, Type type) {
            try {
              if (Thread.currentThread().isVirtual()) {
                gate.pass(); // an attempt, not the look when it is scheduled
              }
            } catch (InterruptedException e) {
              // The cancel: what it decodes is of no use any more.
            }
            return json.decode(bytes, type);
          }
        };
    try (Carillon carillon = new Place(Place.Kind.MEMORY, folder).builder().codec(codec).open()) {
      carillon.handle(NUMBER, (number, job) -> notes.add("ran"));
      JobHandle<Void> bad = carillon.schedule(NOTE.job("no number"));
      gate.awaitReached();

      assertThat(bad.cancel("not needed")).isEqualTo(new CancelResult.Stopping());

      assertThatThrownBy(() -> bad.result(LONG))
          .isInstanceOfSatisfying(
              JobFailedException.class, e -> assertThat(e.state()).isEqualTo(JobState.CANCELLED));
      assertThat(bad.info().reason()).isEqualTo("not needed");
      assertThat(bad.info().lastError().message()).contains("not readable as java.lang.Integer");
    }
    assertThat(notes).isEmpty();
  }
}
