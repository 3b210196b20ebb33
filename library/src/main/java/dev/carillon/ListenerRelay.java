package dev.carillon;

import dev.carillon.api.AttemptFailure;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobListener;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Passes what the loop tells on to the users' listeners, on a thread of its own and in order. When
 * they are too slow the newest news are left out and counted.
 */
final class ListenerRelay implements JobListener {
  private static final int MAX_WAITING = 50_000;

  private final List<JobListener> listeners;
  private final Reports reports;
  private final WorkerLoop worker;
  private final AtomicInteger waiting = new AtomicInteger();
  private volatile @Nullable NodeLoop loop;

  ListenerRelay(List<JobListener> listeners, Reports reports) {
    this.listeners = List.copyOf(listeners);
    this.reports = reports;
    this.worker = new WorkerLoop("carillon-listener", reports);
  }

  void start(NodeLoop tellingLoop) {
    loop = tellingLoop;
    worker.start();
  }

  void stop() {
    worker.stop();
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
      return;
    }
    waiting.incrementAndGet();
    from.outsideBegins();
    worker.post(
        new Event() {
          @Override
          void happen() {
            waiting.decrementAndGet();
            for (JobListener listener : listeners) {
              tell(listener, about, news);
            }
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
