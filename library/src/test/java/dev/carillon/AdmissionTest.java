package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AdmissionTest {

  private static long in(long seconds) {
    return System.nanoTime() + seconds * 1_000_000_000L;
  }

  @Test
  void jobsAndBytesAreBoundedAndOneThatIsTooLargeGoesAlone() {
    Admission admission = new Admission(3, 1_000);
    long small = Admission.weight(1, 400);

    assertThat(admission.tryEnter(small)).isTrue();
    assertThat(admission.tryEnter(small)).isTrue();
    assertThat(admission.tryEnter(small)).isFalse();
    assertThat(admission.jobs()).isEqualTo(2);
    assertThat(admission.bytes()).isEqualTo(800);
    admission.leave(small);
    admission.leave(small);

    long large = Admission.weight(10_000, 50_000_000);
    assertThat(admission.tryEnter(large)).isTrue();
    assertThat(admission.tryEnter(small)).isFalse();
    admission.leave(large);
    assertThat(admission.jobs()).isZero();
    assertThat(admission.bytes()).isZero();
  }

  @Test
  void waitingEndsInTimeOrByInterrupt() throws Exception {
    Admission admission = new Admission(1, 1_000);
    long one = Admission.weight(1, 1);
    assertThat(admission.enter(one, in(10))).isTrue();

    assertThat(admission.enter(one, System.nanoTime() + 20_000_000)).isFalse();
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> admission.enter(one, in(10))).isInstanceOf(InterruptedException.class);
    assertThat(Thread.interrupted()).isFalse();
  }

  @Test
  void everyWaitingCallerGetsItsTurnAndTheLimitHolds() throws Exception {
    Admission admission = new Admission(2, 1_000_000);
    long one = Admission.weight(1, 10);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger passed = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      threads.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    for (int round = 0; round < 500; round++) {
                      try {
                        if (admission.enter(one, in(50))) {
                          most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                          inside.decrementAndGet();
                          admission.leave(one);
                          passed.incrementAndGet();
                        }
                      } catch (InterruptedException e) {
                        return;
                      }
                    }
                  }));
    }
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(passed.get()).isEqualTo(16 * 500);
    assertThat(most.get()).isBetween(1, 2);
    assertThat(admission.jobs()).isZero();
  }
}
