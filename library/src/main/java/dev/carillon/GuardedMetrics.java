package dev.carillon;

import dev.carillon.api.JobMeter;
import dev.carillon.api.Metrics;

/** Metrics of a user's, which must not disturb the loop whatever they throw. */
final class GuardedMetrics implements Metrics {
  private final Metrics metrics;
  private final Reports reports;

  private GuardedMetrics(Metrics metrics, Reports reports) {
    this.metrics = metrics;
    this.reports = reports;
  }

  static Metrics of(Metrics metrics, Reports reports) {
    return metrics.equals(Metrics.none()) ? metrics : new GuardedMetrics(metrics, reports);
  }

  @Override
  public void count(String name, long delta) {
    try {
      metrics.count(name, delta);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void time(String name, long nanos) {
    try {
      metrics.time(name, nanos);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public void gauge(String name, long value) {
    try {
      metrics.gauge(name, value);
    } catch (Throwable e) {
      failed(e);
    }
  }

  @Override
  public JobMeter jobs(String type, String queue, String namespace) {
    try {
      JobMeter meter = metrics.jobs(type, queue, namespace);
      return meter.equals(JobMeter.none()) ? meter : new Guarded(meter);
    } catch (Throwable e) {
      failed(e);
      return JobMeter.none();
    }
  }

  private final class Guarded implements JobMeter {
    private final JobMeter meter;

    Guarded(JobMeter meter) {
      this.meter = meter;
    }

    @Override
    public void started(long latenessNanos) {
      guard(() -> meter.started(latenessNanos));
    }

    @Override
    public void returned(long nanos) {
      guard(() -> meter.returned(nanos));
    }

    @Override
    public void failed() {
      guard(meter::failed);
    }

    @Override
    public void died() {
      guard(meter::died);
    }

    private void guard(Runnable call) {
      try {
        call.run();
      } catch (Throwable e) {
        GuardedMetrics.this.failed(e);
      }
    }
  }

  private void failed(Throwable e) {
    reports.report("metrics failed: " + metrics.getClass().getName(), e);
  }
}
