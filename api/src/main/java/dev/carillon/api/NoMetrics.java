package dev.carillon.api;

/** Metrics that go nowhere. */
enum NoMetrics implements Metrics {
  INSTANCE;

  @Override
  public void count(String name, long delta) {}

  @Override
  public void time(String name, long nanos) {}

  @Override
  public void gauge(String name, long value) {}
}
