package dev.carillon;

import dev.carillon.api.ClosedException;

/** A handler of this node, until it is closed. Thread-safe. */
final class RegisteredHandler implements HandlerRegistration {
  private final NodeLoop loop;
  private final HandlerRunner runner;
  private final Registration registration;

  RegisteredHandler(NodeLoop loop, HandlerRunner runner, Registration registration) {
    this.loop = loop;
    this.runner = runner;
    this.registration = registration;
  }

  @Override
  public String type() {
    return registration.name();
  }

  @Override
  public void close() {
    if (!registration.equals(runner.registration(type()))) {
      return;
    }
    try {
      var unused =
          loop.post(
                  new Ask<Boolean>(
                      loop,
                      "unregistering the handler of " + type(),
                      Ask.Effect.READS,
                      (node, asked) -> {
                        if (runner.unregister(registration)) {
                          node.unregister(type());
                        }
                        asked.answer(true);
                      }))
              .await();
    } catch (ClosedException e) {
      // closed with Carillon: nothing starts any more
    }
  }
}
