package dev.carillon;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A handler stops at it until the test lets it go on. */
final class Gate {
  private final CountDownLatch reached = new CountDownLatch(1);
  private final CountDownLatch opened = new CountDownLatch(1);

  /** In the handler. */
  void pass() throws InterruptedException {
    reached.countDown();
    if (!opened.await(Types.LONG.toSeconds(), TimeUnit.SECONDS)) {
      throw new IllegalStateException("gate: never opened");
    }
  }

  /** In the test: waits until a handler is there. */
  void awaitReached() throws InterruptedException {
    assertThat(reached.await(Types.LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  void open() {
    opened.countDown();
  }
}
