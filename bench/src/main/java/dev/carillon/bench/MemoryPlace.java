package dev.carillon.bench;

/** Stores in memory, which are gone when they are closed. */
final class MemoryPlace implements StorePlace {

  @Override
  public String newAddress(String name) {
    return "memory:";
  }

  @Override
  public void remove(String address) {}

  @Override
  public String settings() {
    return "none";
  }

  @Override
  public double rawBytesPerSecond(RawShape shape, int warmupSeconds, int seconds) {
    throw new UnsupportedOperationException("raw rate of memory (expected: of a durable store)");
  }

  @Override
  public void close() {}
}
