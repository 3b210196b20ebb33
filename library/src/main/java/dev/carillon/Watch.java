package dev.carillon;

import dev.carillon.api.JobInfo;
import dev.carillon.api.Subscription;
import dev.carillon.engine.JobRef;
import dev.carillon.engine.JobView;
import dev.carillon.engine.Node;
import dev.carillon.store.Outcome;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tells a watcher of a job's changes. The loop leaves the latest snapshot here and a virtual thread
 * brings it, one at a time: a slow watcher misses steps, never the end.
 */
final class Watch implements Subscription {
  private final NodeLoop loop;
  private final JobRef ref;
  private final Consumer<JobInfo> told;
  private final Reports reports;
  private final Consumer<JobView> watcher = this::seen;

  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable JobInfo latest;
  private boolean telling;
  private volatile boolean closed;

  /** The loop's: whether a change was seen, which is newer than what a look in the store finds. */
  private boolean changed;

  Watch(NodeLoop loop, JobRef ref, Consumer<JobInfo> told, Reports reports) {
    this.loop = loop;
    this.ref = ref;
    this.told = told;
    this.reports = reports;
  }

  void begin() {
    loop.post(
        new OnNode(
            loop,
            node -> {
              node.watch(ref, watcher);
              node.get(ref, outcome -> looked(node, outcome));
            }));
  }

  private void looked(Node node, Outcome<Optional<JobView>> outcome) {
    if (!(outcome instanceof Outcome.Ok<Optional<JobView>>(Optional<JobView> found))) {
      return; // its changes are seen all the same
    }
    if (found.isEmpty()) {
      node.unwatch(ref, watcher);
      return;
    }
    JobInfo info = found.get().info();
    if (!changed || info.state().ended()) {
      tell(info);
    }
    if (info.state().ended()) {
      node.unwatch(ref, watcher);
    }
  }

  private void seen(JobView view) {
    changed = true;
    tell(view.info());
  }

  /** On the loop; the lock is held for a few fields only. */
  private void tell(JobInfo info) {
    lock.lock();
    try {
      if (latest != null && latest.state().ended()) {
        return;
      }
      latest = info;
      if (telling || closed) {
        return;
      }
      telling = true;
    } finally {
      lock.unlock();
    }
    loop.outsideBegins();
    Thread.ofVirtual().name("carillon-watch").start(this::tellAll);
  }

  private void tellAll() {
    try {
      for (JobInfo next = take(); next != null; next = take()) {
        told.accept(next);
        if (next.state().ended()) {
          close();
        }
      }
    } catch (Throwable e) {
      reports.report("a watcher failed", e);
      close();
    } finally {
      loop.outsideEnds();
    }
  }

  private @Nullable JobInfo take() {
    lock.lock();
    try {
      JobInfo next = closed ? null : latest;
      latest = null;
      telling = next != null;
      return next;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      loop.post(new OnNode(loop, node -> node.unwatch(ref, watcher)));
    }
  }
}
