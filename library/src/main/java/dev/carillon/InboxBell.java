package dev.carillon;

import dev.carillon.engine.Node;
import dev.carillon.store.Doorbells;
import dev.carillon.store.Store;
import dev.carillon.store.StoreInfo.Capability;
import dev.carillon.store.Transactions;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Has the node look into the inbox when a transaction that wrote to it commits, where the store
 * carries that, and every second whether or not. By the real clock, also where the node lives by
 * another: what it waits for happens outside. Owns a thread; does nothing for stores without an
 * inbox.
 */
final class InboxBell implements AutoCloseable {
  private static final long POLL_MILLIS = 1_000;

  private final ScheduledExecutorService poll;
  private final Doorbells.Listening listening;

  private InboxBell(ScheduledExecutorService poll, Doorbells.Listening listening) {
    this.poll = poll;
    this.listening = listening;
  }

  static AutoCloseable start(Store store, NodeLoop loop) {
    if (!store.info().can(Capability.TRANSACTIONS)) {
      return () -> {};
    }
    Runnable look = () -> loop.post(new OnNode(loop, Node::lookInInbox));
    ScheduledExecutorService poll =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("carillon-inbox-poll").factory());
    var unused = poll.scheduleWithFixedDelay(look, 0, POLL_MILLIS, TimeUnit.MILLISECONDS);
    return new InboxBell(poll, store.doorbells().listen(Transactions.BELL, look));
  }

  @Override
  public void close() {
    listening.close();
    poll.shutdownNow();
  }
}
