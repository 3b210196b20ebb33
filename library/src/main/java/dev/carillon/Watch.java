package dev.carillon;

import dev.carillon.api.JobInfo;
import dev.carillon.api.Subscription;
import dev.carillon.engine.JobRef;
import dev.carillon.engine.JobView;
import dev.carillon.engine.Node;
import dev.carillon.store.Outcome;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
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

  /** What is to be told next, and how many there were since the teller last looked. */
  private final AtomicReference<@Nullable JobInfo> latest = new AtomicReference<>();

  private final AtomicInteger untold = new AtomicInteger();
  private volatile boolean closed;

  // The loop's own: whether a change was seen, which is newer than what a look in the store finds,
  // and whether the end was.
  private boolean changed;
  private boolean ended;

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

  /** On the loop. */
  private void tell(JobInfo info) {
    if (ended || closed) {
      return;
    }
    ended = info.state().ended();
    latest.set(info);
    if (untold.getAndIncrement() == 0) {
      loop.outsideBegins();
      Thread.ofVirtual().name("carillon-watch").start(this::tellAll);
    }
  }

  private void tellAll() {
    try {
      int seen = untold.get();
      do {
        JobInfo next = latest.getAndSet(null);
        if (next != null && !closed) {
          told.accept(next);
        }
        seen = untold.addAndGet(-seen);
      } while (seen > 0);
    } catch (Throwable e) {
      reports.report("a watcher failed", e);
      close();
    } finally {
      loop.outsideEnds();
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
