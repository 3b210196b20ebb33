package dev.carillon.api;

/** A meter that keeps nothing. */
enum NoJobMeter implements JobMeter {
  INSTANCE;

  @Override
  public void started(long latenessNanos) {}

  @Override
  public void returned(long nanos) {}

  @Override
  public void failed() {}

  @Override
  public void died() {}
}
