package dev.carillon;

import dev.carillon.api.error.ClosedException;
import dev.carillon.api.error.InvalidArgumentException;
import dev.carillon.engine.environment.Membership;

/** A handler of this node, until it is closed. Thread-safe. */
final class RegisteredHandler implements HandlerRegistration {
  private final NodeLoop loop;
  private final HandlerRunner runner;
  private final Registration registration;

  private RegisteredHandler(OpenNode opened, Registration registration) {
    this.loop = opened.loop;
    this.runner = opened.runner;
    this.registration = registration;
  }

  /**
   * Registers a handler with the node.
   *
   * @throws InvalidArgumentException if the type has a handler, or the node is a client
   */
  static RegisteredHandler register(OpenNode opened, Registration registration) {
    opened.requireOpen();
    Membership membership = opened.options.membership();
    if (membership != null && membership.client()) {
      throw InvalidArgumentException.of(
          "type", registration.name(), "no handlers on a node that is clientOnly");
    }
    if (!opened.runner.register(registration)) {
      throw InvalidArgumentException.of(
          "type", registration.name(), "one without a handler; it has one");
    }
    opened.post(node -> node.register(registration.name(), registration.settings()));
    return new RegisteredHandler(opened, registration);
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
