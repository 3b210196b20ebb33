package dev.carillon;

import dev.carillon.api.AttemptFailure;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobListener;
import dev.carillon.api.Subscription;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Passes what the loop tells on to the users' listeners, on a thread of its own and in order. When
 * they are too slow the newest news are left out, and a {@link ClusterListener} is told where:
 * after the last one before the gap. Listeners come and go; while there is none the loop tells
 * nothing, and there is no thread before the first one.
 */
final class ListenerRelay implements JobListener {
  static final int MAX_WAITING = 50_000;

  private final List<JobListener> listeners;
  private final Reports reports;
  private final String nodeId;
  private final WorkerLoop worker;
  private final AtomicBoolean started = new AtomicBoolean();
  private volatile boolean listened;
  private final AtomicInteger waiting = new AtomicInteger();

  /** Whether listeners are still to be told of a gap. */
  private final AtomicBoolean gap = new AtomicBoolean();

  private volatile @Nullable NodeLoop loop;

  ListenerRelay(List<JobListener> listeners, Reports reports, String nodeId) {
    this.nodeId = nodeId;
    this.listeners = new CopyOnWriteArrayList<>(listeners);
    this.listened = !listeners.isEmpty();
    this.reports = reports;
    this.worker = new WorkerLoop("carillon-listener", reports);
  }

  void start(NodeLoop tellingLoop) {
    loop = tellingLoop;
    if (listened) {
      startWorker();
    }
  }

  private void startWorker() {
    if (started.compareAndSet(false, true)) {
      worker.start();
    }
  }

  void stop() {
    worker.stop();
  }

  /** Tells a listener too, from now on until the answer is closed. */
  Subscription listen(JobListener listener) {
    startWorker();
    synchronized (listeners) {
      listeners.add(listener);
      listened = true;
    }
    AtomicBoolean closed = new AtomicBoolean();
    return () -> {
      if (closed.compareAndSet(false, true)) {
        synchronized (listeners) {
          listeners.remove(listener);
          listened = !listeners.isEmpty();
        }
      }
    };
  }

  /** Where the loop tells of jobs; null while nobody listens. */
  @Nullable JobListener ifListened() {
    return listened ? this : null;
  }

  @Override
  public void scheduled(JobInfo job) {
    pass(job, JobListener::scheduled);
  }

  @Override
  public void started(JobInfo job) {
    pass(job, JobListener::started);
  }

  @Override
  public void retrying(JobInfo job) {
    pass(job, JobListener::retrying);
  }

  @Override
  public void failed(AttemptFailure failure) {
    pass(failure, JobListener::failed);
  }

  @Override
  public void blocked(JobInfo job) {
    pass(job, JobListener::blocked);
  }

  @Override
  public void ended(JobInfo job) {
    pass(job, JobListener::ended);
  }

  private <T> void pass(T about, BiConsumer<JobListener, T> news) {
    NodeLoop from = loop;
    if (from == null || waiting.get() >= MAX_WAITING) {
      reports.report("listeners are too slow: some news are left out", null);
      if (from != null && gap.compareAndSet(false, true)) {
        post(from, this::tellGap);
      }
      return;
    }
    post(from, () -> listeners.forEach(listener -> tell(listener, about, news)));
  }

  /** What is left out from here on is another gap. */
  private void tellGap() {
    gap.set(false);
    for (JobListener listener : listeners) {
      if (listener instanceof ClusterListener hears) {
        tell(hears, nodeId, (each, node) -> hears.missed(node));
      }
    }
  }

  private void post(NodeLoop from, Runnable telling) {
    waiting.incrementAndGet();
    from.outsideBegins();
    worker.post(
        new Event() {
          @Override
          void happen() {
            waiting.decrementAndGet();
            telling.run();
            from.outsideEnds();
          }
        });
  }

  private <T> void tell(JobListener listener, T about, BiConsumer<JobListener, T> news) {
    try {
      news.accept(listener, about);
    } catch (Throwable e) {
      reports.report("a listener failed: " + listener.getClass().getName(), e);
    }
  }
}
