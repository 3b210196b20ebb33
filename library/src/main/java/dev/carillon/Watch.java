package dev.carillon;

import dev.carillon.api.JobInfo;
import dev.carillon.api.Subscription;
import dev.carillon.api.error.JobNotFoundException;
import dev.carillon.api.error.StoreCorruptedException;
import dev.carillon.engine.Node;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobView;
import dev.carillon.store.Outcome;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tells a watcher of a job's changes. The loop leaves the latest snapshot here and a virtual thread
 * brings it, one at a time: a slow watcher misses steps, never the end. A look that the store does
 * not answer is repeated, for the job may have ended before it was watched.
 */
final class Watch implements Subscription {
  private static final Executor LATER =
      CompletableFuture.delayedExecutor(250, TimeUnit.MILLISECONDS);

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

  /**
   * Watches first and looks afterwards, so that no change in between is missed. Returns once the
   * first look has an answer, or the store has none.
   *
   * @throws JobNotFoundException if there is no such job
   * @throws StoreCorruptedException if the job cannot be read
   */
  void begin() {
    var unused = loop.post(new Begin()).await();
  }

  private void look(Node node, Begin asked) {
    node.get(
        ref,
        outcome -> {
          switch (outcome) {
            case Outcome.Ok<Optional<JobView>>(Optional<JobView> found) -> {
              if (found.isPresent()) {
                found(node, found.get().info());
                asked.answer(true);
              } else {
                node.unwatch(ref, watcher);
                asked.fail(new JobNotFoundException(ref.id()));
              }
            }
            case Outcome.Damaged<Optional<JobView>>(String where) -> {
              node.unwatch(ref, watcher);
              asked.fail(new StoreCorruptedException(where, "the job cannot be read"));
            }
            default -> {
              asked.answer(true); // its changes are seen all the same
              LATER.execute(() -> loop.post(new OnNode(loop, next -> lookAgain(next, asked))));
            }
          }
        });
  }

  private void lookAgain(Node node, Begin asked) {
    if (!changed && !closed) {
      look(node, asked);
    }
  }

  private void found(Node node, JobInfo info) {
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

  /** The first look, which the asker waits for. */
  private final class Begin extends Pending<Boolean> {
    Begin() {
      super(Watch.this.loop, null);
    }

    @Override
    void ask(Node node) {
      node.watch(ref, watcher);
      look(node, this);
    }

    @Override
    void giveUp(Node node, String waited) {
      answer(true); // the look goes on
    }

    @Override
    String what() {
      return "watching job " + ref.id();
    }
  }
}
