package dev.carillon;

import dev.carillon.api.Limits;
import dev.carillon.api.OutcomeUnknownException;
import dev.carillon.api.Rate;
import dev.carillon.api.StoreUnavailableException;
import dev.carillon.engine.job.FlowSetting;
import dev.carillon.engine.job.FlowSubject;
import dev.carillon.store.Outcome;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Flow control of a queue or a namespace: whether its jobs start at all, how many run at once and
 * how often they start. Each change is durable and in effect when the method returns, and stays so
 * across restarts until it is changed again. Where nothing is set here, the options of the builder
 * count. Made by {@link Carillon#queue} and {@link Carillon#namespace}.
 *
 * <p>Attempts that run go on. Jobs that wait lose nothing, cost no attempt, and keep their
 * deadlines. Thread-safe.
 */
public final class FlowControl {
  private final OpenNode opened;
  private final NodeLoop loop;
  private final FlowSubject subject;

  FlowControl(OpenNode opened, FlowSubject subject) {
    this.opened = opened;
    this.loop = opened.loop;
    this.subject = subject;
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
                (node, asked) -> node.flow(subject, found -> asked.answer(setting(found)))))
        .await();
  }

  /**
   * A setting that is in effect.
   *
   * @param pauseReason why nothing starts; null where attempts may start
   * @param limit how many attempts run at once, on all nodes together; 0 for any number
   * @param rate how often attempts start; null for as often as they come
   */
  public record Setting(@Nullable String pauseReason, int limit, @Nullable Rate rate) {

    /**
     * Whether nothing starts.
     *
     * @return true if it is paused
     */
    public boolean paused() {
      return pauseReason != null;
    }
  }

  private static Setting setting(FlowSetting setting) {
    return new Setting(setting.paused(), setting.limit(), setting.rate());
  }

  private String what() {
    return subject.scope() == FlowSubject.Scope.QUEUE
        ? "queue " + subject.name()
        : "namespace " + subject.name();
  }

  private void change(UnaryOperator<FlowSetting> change) {
    opened.requireOpen();
    String what = "changing " + what();
    var unused =
        loop.post(
                new Ask<FlowSetting>(
                    loop,
                    what,
                    Ask.Effect.WRITES,
                    (node, asked) ->
                        node.changeFlow(
                            subject,
                            change,
                            outcome -> {
                              if (outcome instanceof Outcome.Ok<FlowSetting>(var setting)) {
                                asked.answer(setting);
                              } else {
                                asked.fail(StoreAnswers.notWritten(what, outcome));
                              }
                            })))
            .await();
  }
}
