package dev.carillon.simulator;

import static dev.carillon.simulator.Violation.check;

import dev.carillon.api.Rate;
import dev.carillon.engine.job.FlowSetting;
import dev.carillon.engine.job.FlowSubject;
import dev.carillon.simulator.UserOperations.Kind;
import dev.carillon.store.Outcome;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** Operators who pause, limit and slow down queues and namespaces, and check what they are told. */
final class FlowUsers {
  private static final FlowSubject EVERYTHING = new FlowSubject(FlowSubject.Scope.QUEUE, "default");
  private static final List<FlowSubject> SUBJECTS =
      List.of(
          new FlowSubject(FlowSubject.Scope.QUEUE, Wishes.LIMITED_QUEUE),
          new FlowSubject(FlowSubject.Scope.NAMESPACE, Wishes.LIMITED_NAMESPACE),
          EVERYTHING);

  private final World world;
  private final UserOperations operations;
  private int reasons;

  FlowUsers(World world, UserOperations operations) {
    this.world = world;
    this.operations = operations;
  }

  /** One change of some queue or namespace. */
  void change(Life life) {
    FlowSubject subject = world.chance.pick(SUBJECTS);
    switch (world.chance.below(6)) {
      case 0 -> pause(life, subject);
      case 1, 2 -> resume(life, subject);
      case 3 -> limit(life, subject);
      default -> rate(life, subject);
    }
  }

  private void pause(Life life, FlowSubject subject) {
    String reason = "stop " + reasons++;
    ask(
        life,
        subject,
        Kind.FLOW_PAUSE,
        setting -> setting.paused(reason),
        told -> reason.equals(told.paused()));
    if (subject.equals(EVERYTHING) || world.chance.oneIn(2)) {
      world.in(
          world.chance.spread(VirtualClock.MILLI, world.climate.spanNanos / 4),
          () -> life.deliver(() -> resume(life, subject)));
    }
  }

  private void resume(Life life, FlowSubject subject) {
    ask(
        life,
        subject,
        Kind.FLOW_RESUME,
        setting -> setting.paused(null),
        told -> told.paused() == null);
  }

  private void limit(Life life, FlowSubject subject) {
    int limit = world.chance.oneIn(3) ? 0 : (int) world.chance.between(1, 4);
    ask(
        life,
        subject,
        Kind.FLOW_LIMIT,
        setting -> setting.limit(limit),
        told -> limit == 0 || told.limit() == limit);
  }

  private void rate(Life life, FlowSubject subject) {
    Rate rate = world.chance.oneIn(4) ? null : rate(world.chance);
    ask(
        life,
        subject,
        Kind.FLOW_RATE,
        setting -> setting.rate(rate),
        told -> Objects.equals(rate, told.rate()));
  }

  /** Some rate, one start in from 20 milliseconds to about 4 seconds. */
  static Rate rate(Chance chance) {
    int permits = (int) chance.between(1, 5);
    long micros = chance.spread(20_000L * permits, 4_000_000);
    return new Rate(permits, Duration.of(micros, ChronoUnit.MICROS), (int) chance.between(1, 4));
  }

  private void ask(
      Life life,
      FlowSubject subject,
      Kind kind,
      UnaryOperator<FlowSetting> change,
      Predicate<FlowSetting> done) {
    int copy = life.opening.copy();
    operations.begins(life, kind);
    world.trace.note(kind.toString(), -1, subject.name());
    life.node.changeFlow(
        subject,
        change,
        outcome -> {
          operations.ends(life, kind);
          world.trace.note("flow", -1, kind + " " + outcome);
          if (outcome instanceof Outcome.Ok<FlowSetting>(FlowSetting told) && copy == world.copy) {
            check(
                done.test(told),
                Guarantee.CONTROL,
                () -> kind + " of " + subject + " is said to be done, but it is " + told);
            world.flow.answered(subject, told);
          }
        });
  }

  // ---- good weather

  /** Takes back what the node knows to be set; true if there was any. */
  boolean tidy(Life life) {
    boolean[] any = new boolean[1];
    for (FlowSubject subject : SUBJECTS) {
      life.node.flow(
          subject,
          setting -> {
            if (setting.paused() != null || setting.rate() != null) {
              any[0] = true;
              ask(
                  life,
                  subject,
                  Kind.FLOW_RESUME,
                  now -> FlowSetting.NONE,
                  told -> told.paused() == null && told.rate() == null);
            }
          });
    }
    return any[0];
  }
}
