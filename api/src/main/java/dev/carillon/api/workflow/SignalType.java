package dev.carillon.api.workflow;

import dev.carillon.api.Limits;
import dev.carillon.api.TypeToken;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.internal.Check;

/**
 * A typed name of news that is sent to a workflow from outside: {@code SignalType.of("approval",
 * Approval.class)}. Signals of a type are kept in order, also those that come before the workflow
 * awaits them. Immutable and thread-safe; usually a constant.
 *
 * @param name the name, at most {@link Limits#CALL_NAME_MAX_BYTES}; stored with each signal
 * @param payload what a signal carries; {@code Void} for nothing
 * @param <T> what a signal carries
 */
public record SignalType<T>(String name, TypeToken<T> payload) {

  /**
   * Checks the parts.
   *
   * @throws InvalidJobException if the name is null, blank, too long or not well-formed, or there
   *     is no payload type
   */
  public SignalType {
    Limits.checkCallName("signal", name);
    Check.present("payload", payload);
  }

  /**
   * A type of signals that carry a plain class.
   *
   * @param name the name
   * @param payload the class
   * @param <T> what a signal carries
   * @return the type
   * @throws InvalidJobException if the name is null, blank, too long or not well-formed
   */
  public static <T> SignalType<T> of(String name, Class<T> payload) {
    return new SignalType<>(name, TypeToken.of(Check.present("payload", payload)));
  }

  /**
   * A type of signals that carry a generic type, such as {@code List<Order>}.
   *
   * @param name the name
   * @param payload the type
   * @param <T> what a signal carries
   * @return the type
   * @throws InvalidJobException if the name is null, blank, too long or not well-formed
   */
  public static <T> SignalType<T> of(String name, TypeToken<T> payload) {
    return new SignalType<>(name, payload);
  }

  /**
   * A type of signals that carry nothing.
   *
   * @param name the name
   * @return the type
   * @throws InvalidJobException if the name is null, blank, too long or not well-formed
   */
  public static SignalType<Void> of(String name) {
    return of(name, Void.class);
  }
}
