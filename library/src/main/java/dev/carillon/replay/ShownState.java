package dev.carillon.replay;

/** What the workflow shows of itself, from its own thread and those of its steps. Thread-safe. */
final class ShownState {
  private final WorkflowHost host;
  private Shown shown = Shown.NOTHING;

  ShownState(WorkflowHost host) {
    this.host = host;
  }

  synchronized void progress(long done, long total, String message) {
    shown = shown.progress(done, total, message);
    host.show(shown);
  }

  synchronized void publish(byte[] value) {
    shown = shown.publish(value);
    host.show(shown);
  }
}
