package dev.carillon;

import dev.carillon.api.Limits;
import dev.carillon.api.Rate;
import dev.carillon.api.error.ChangedMeanwhileException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.engine.format.Micros;
import dev.carillon.engine.job.FlowSetting;
import dev.carillon.engine.job.FlowSubject;
import dev.carillon.store.Outcome;
import java.time.Instant;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Flow control of a queue or a namespace: whether its jobs start at all, how many run at once and
 * how often they start. Each change is durable and in effect when the method returns, and stays so
 * across restarts until it is changed again. Where nothing is set here, the options of the builder
 * count. Made by {@link Carillon#queue} and {@link Carillon#namespace}, and by {@link Requester} in
 * the name of somebody.
 *
 * <p>Attempts that run go on. Jobs that wait lose nothing, cost no attempt, and keep their
 * deadlines. Thread-safe.
 */
public final class FlowControl {
  private final OpenNode opened;
  private final NodeLoop loop;
  private final FlowSubject subject;
  private final String who;
  private final Set<String> expected;

  /** Changes in the name of the node. */
  FlowControl(OpenNode opened, FlowSubject subject) {
    this(opened, subject, opened.options.nodeId(), Set.of());
  }

  FlowControl(OpenNode opened, FlowSubject subject, String who, Set<String> expected) {
    this.opened = opened;
    this.loop = opened.loop;
    this.subject = subject;
    this.who = who;
    this.expected = expected;
  }

  static FlowSubject queue(String name) {
    return new FlowSubject(FlowSubject.Scope.QUEUE, Limits.checkQueue(name));
  }

  static FlowSubject namespace(String name) {
    return new FlowSubject(FlowSubject.Scope.NAMESPACE, Limits.checkNamespace(name));
  }

  /**
   * The same, whose changes are refused with a {@link ChangedMeanwhileException} where somebody
   * else has changed the setting since the caller saw it. Asking again after an {@link
   * OutcomeUnknownException} either changes nothing or is refused.
   *
   * @param versions {@linkplain Setting#version() versions} of the setting, one of which must still
   *     be there; none for any
   * @return a flow control of the same queue or namespace
   */
  public FlowControl ifStill(Collection<String> versions) {
    return new FlowControl(
        opened, subject, who, Set.copyOf(Limits.checkPresent("versions", versions)));
  }

  /**
   * No attempt starts until it is {@linkplain #resume resumed}. Jobs whose time comes are shown as
   * paused, with the reason. Pausing again changes the reason.
   *
   * @param reason why, for those who look; at most {@link Limits#REASON_MAX_BYTES}, may be empty
   * @throws StoreUnavailableException if it was not recorded, for want of a store
   * @throws OutcomeUnknownException if it is not known whether it was recorded
   */
  public void pause(String reason) {
    Limits.checkReason(reason);
    change(setting -> setting.paused(reason));
  }

  /**
   * Attempts start again; jobs that became due meanwhile go at once, as limits allow. Resuming
   * without a pause is safe.
   */
  public void resume() {
    change(setting -> setting.paused(null));
  }

  /**
   * Sets how many attempts run at once, on all nodes that share the store together.
   *
   * @param limit at least 1
   */
  public void limit(int limit) {
    int checked = OptionChecks.positive("limit", limit);
    change(setting -> setting.limit(checked));
  }

  /** Takes the limit back; the limit of the builder counts. */
  public void clearLimit() {
    change(setting -> setting.limit(0));
  }

  /**
   * Sets how often attempts start.
   *
   * @param rate so many in a period
   */
  public void rate(Rate rate) {
    Limits.checkPresent("rate", rate);
    change(setting -> setting.rate(rate));
  }

  /** Takes the rate back; the rate of the builder counts. */
  public void clearRate() {
    change(setting -> setting.rate(null));
  }

  /**
   * The setting that is in effect now.
   *
   * @return the setting, with the options of the builder where nothing else is set
   */
  public Setting get() {
    opened.requireOpen();
    return loop.post(
            new Ask<Setting>(
                loop,
                "looking at " + what(),
                Ask.Effect.READS,
                (node, asked) -> node.flow(subject, found -> asked.answer(Setting.of(found)))))
        .await();
  }

  /**
   * A setting that is in effect.
   *
   * @param pauseReason why nothing starts; null where attempts may start
   * @param limit how many attempts run at once, on all nodes together; 0 for any number
   * @param rate how often attempts start; null for as often as they come
   * @param pausedBy who paused it and when; null where it is not paused or that is not known
   * @param changed who changed it last and when; null where nobody did or that is not known
   * @param version another one after each change
   */
  public record Setting(
      @Nullable String pauseReason,
      int limit,
      @Nullable Rate rate,
      @Nullable Change pausedBy,
      @Nullable Change changed,
      String version) {

    static Setting of(FlowSetting setting) {
      return new Setting(
          setting.paused(),
          setting.limit(),
          setting.rate(),
          Change.of(setting.pausedIn()),
          Change.of(setting.last()),
          FlowControl.version(setting));
    }

    /**
     * Whether nothing starts.
     *
     * @return true if it is paused
     */
    public boolean paused() {
      return pauseReason != null;
    }
  }

  /**
   * A change of a setting.
   *
   * @param by who asked for it: a person, a program or the id of a node
   * @param at when, by the clock of the node that was asked
   */
  public record Change(String by, Instant at) {
    static @Nullable Change of(FlowSetting.@Nullable Change change) {
      return change != null ? new Change(change.by(), Micros.toInstant(change.atMicros())) : null;
    }
  }

  private static String version(FlowSetting setting) {
    FlowSetting.Change last = setting.last();
    return last != null ? last.number() + "-" + last.atMicros() : "0";
  }

  private String what() {
    return subject.scope() == FlowSubject.Scope.QUEUE
        ? "queue " + subject.name()
        : "namespace " + subject.name();
  }

  private void change(UnaryOperator<FlowSetting> change) {
    opened.requireOpen();
    String what = "changing " + what();
    Wish wish = new Wish(change);
    var unused =
        loop.post(
                new Ask<FlowSetting>(
                    loop,
                    what,
                    Ask.Effect.WRITES,
                    (node, asked) ->
                        node.changeFlow(
                            subject,
                            wish,
                            outcome -> {
                              String met = wish.met;
                              if (met != null && outcome.isOk()) {
                                asked.fail(wish.refused(met));
                              } else if (outcome instanceof Outcome.Ok<FlowSetting>(var setting)) {
                                asked.answer(setting);
                              } else {
                                asked.fail(StoreAnswers.notWritten(what, outcome));
                              }
                            })))
            .await();
  }

  /**
   * A change, made of what is set when it is written: the loop may begin it again with what another
   * node has set meanwhile.
   */
  private final class Wish implements UnaryOperator<FlowSetting> {
    private final UnaryOperator<FlowSetting> change;
    private final long atMicros = opened.time.wallMicros();
    private @Nullable FlowSetting made;
    private @Nullable String met;

    Wish(UnaryOperator<FlowSetting> change) {
      this.change = change;
    }

    @Override
    public FlowSetting apply(FlowSetting before) {
      if (before.equals(made)) {
        return before; // it took effect, and nobody knew
      }
      String version = version(before);
      if (!expected.isEmpty() && !expected.contains(version)) {
        met = version;
        return before;
      }
      met = null;
      made = change.apply(before).changed(before, who, atMicros);
      return made;
    }

    ChangedMeanwhileException refused(String version) {
      return new ChangedMeanwhileException(
          "setting of %s: %s (expected: %s); nothing was changed"
              .formatted(what(), version, String.join(" or ", new TreeSet<>(expected))));
    }
  }
}
