package dev.carillon.engine.dispatch;

import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.commit.StoreCalls;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeEvent;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.FlowSetting;
import dev.carillon.engine.job.FlowSubject;
import dev.carillon.engine.limit.Rates;
import dev.carillon.engine.limit.Share;
import dev.carillon.engine.limit.Shares;
import dev.carillon.engine.limit.TokenBucket;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What operators have set about queues and namespaces: pauses, limits and rates, each in a record.
 * Nothing starts before they are read. Where there is no record, what the program says counts.
 *
 * <p>Crash table: a change takes effect here when its record is durable; after a crash the record
 * is read before anything starts. A record stays, also where nothing is set any more: what a start
 * that is over sent late then finds another version than it expects.
 */
public final class Flow {
  private static final String PREFIX = "f\0";
  private static final int PAGE = 1000;

  private final NodeEnvironment env;
  private final RecordChanges records;
  private final StoreCalls calls;
  private final Rates rates;
  private final Shares shares;
  private final Dispatcher dispatcher;
  // In the order they came: the hash of a scope is another in each process.
  private final Map<FlowSubject, FlowSetting> standards = new LinkedHashMap<>();
  private final Map<FlowSubject, Kept> kept = new LinkedHashMap<>();
  private final Map<FlowSubject, Share> limits = new LinkedHashMap<>();
  private final List<Runnable> whenLoaded = new ArrayList<>();
  private boolean loaded;

  /** How often what was read was forgotten. */
  private int reloads;

  private record Kept(FlowSetting setting, Stamp version) {}

  public Flow(Basics basics, Rates rates, Shares shares, Dispatcher dispatcher) {
    this.env = basics.env();
    this.records = basics.records();
    this.calls = basics.calls();
    this.rates = rates;
    this.shares = shares;
    this.dispatcher = dispatcher;
  }

  /** Reads what is set; {@code then} runs when it is in effect. */
  public void load(Runnable then) {
    load(null, then);
  }

  /** Forgets what was read and reads it anew. */
  public void reload(Runnable then) {
    List<FlowSubject> before = List.copyOf(kept.keySet());
    kept.clear();
    reloads++;
    load(
        () -> {
          before.stream().filter(subject -> !kept.containsKey(subject)).forEach(this::apply);
          then.run();
        });
  }

  private void load(@Nullable String after, Runnable then) {
    int known = reloads;
    calls.untilAnswered(
        NodeEnvironment.Channel.RECORDS,
        store -> store.records().list(PREFIX, after, PAGE),
        page -> {
          if (known != reloads) {
            load(null, then); // what was read is forgotten, and this with it
            return;
          }
          page.forEach(this::take);
          if (page.size() == PAGE) {
            load(page.getLast().key(), then);
          } else {
            loaded = true;
            then.run();
            whenLoaded.forEach(Runnable::run);
            whenLoaded.clear();
          }
        });
  }

  private void whenLoaded(Runnable action) {
    if (loaded) {
      action.run();
    } else {
      whenLoaded.add(action);
    }
  }

  private void take(Stored record) {
    FlowSubject subject = FlowSubject.of(PREFIX, record.key());
    if (subject != null) {
      keep(subject, new Kept(read(subject, record), record.version()));
    }
  }

  private void keep(FlowSubject subject, Kept now) {
    Kept before = kept.put(subject, now);
    if (!now.setting().equals(before == null ? FlowSetting.NONE : before.setting())) {
      env.tell(new NodeEvent.FlowSet(subject, now.setting()));
    }
    apply(subject);
  }

  /** What cannot be read may be a pause: nothing starts until it is set anew. */
  private FlowSetting read(FlowSubject subject, Stored record) {
    try {
      return FlowSetting.decode(record.value());
    } catch (DamagedException | UnknownFormatException e) {
      env.report("the setting of " + subject + " cannot be read, it is paused", e);
      return FlowSetting.NONE.paused("what is set cannot be read: " + e.getMessage());
    }
  }

  /** What counts where no record says otherwise. */
  public void standard(FlowSubject subject, UnaryOperator<FlowSetting> change) {
    standards.merge(subject, change.apply(FlowSetting.NONE), (old, ignored) -> change.apply(old));
    apply(subject);
  }

  /** Tells {@code answer} what is in effect. */
  public void get(FlowSubject subject, Consumer<FlowSetting> answer) {
    whenLoaded(() -> answer.accept(get(subject)));
  }

  /** Tells {@code answer} what is in effect where anything is, by name, in no order. */
  public void all(FlowSubject.Scope scope, Consumer<Map<String, FlowSetting>> answer) {
    whenLoaded(
        () -> {
          Map<String, FlowSetting> all = new LinkedHashMap<>();
          Consumer<FlowSubject> one =
              subject -> {
                if (subject.scope() == scope) {
                  all.put(subject.name(), get(subject));
                }
              };
          standards.keySet().forEach(one);
          kept.keySet().forEach(one);
          answer.accept(all);
        });
  }

  private FlowSetting get(FlowSubject subject) {
    Kept record = kept.get(subject);
    FlowSetting standard = standards.getOrDefault(subject, FlowSetting.NONE);
    return record != null ? record.setting().or(standard) : standard;
  }

  /** Changes what is set; {@code answer} hears what is in effect once it is durable. */
  public void change(
      FlowSubject subject,
      UnaryOperator<FlowSetting> change,
      Consumer<Outcome<FlowSetting>> answer) {
    whenLoaded(() -> changeLoaded(subject, change, answer));
  }

  private void changeLoaded(
      FlowSubject subject,
      UnaryOperator<FlowSetting> change,
      Consumer<Outcome<FlowSetting>> answer) {
    Kept old = kept.getOrDefault(subject, new Kept(FlowSetting.NONE, Stamp.ABSENT));
    FlowSetting next = change.apply(old.setting());
    // A record of another start may yet be changed by what that start sent: it is written again.
    if (next.equals(old.setting()) && records.wrote(old.version())) {
      answer.accept(Outcome.ok(get(subject)));
      return;
    }
    int known = reloads;
    Stamp[] version = new Stamp[1];
    version[0] =
        records.put(
            subject.recordKey(PREFIX),
            old.version(),
            next.encode(),
            inEffect -> {
              if (inEffect && known == reloads) {
                keep(subject, new Kept(next, version[0]));
                answer.accept(Outcome.ok(get(subject)));
              } else {
                readAgain(subject, () -> changeLoaded(subject, change, answer));
              }
            },
            detail -> answer.accept(new Outcome.Full<>(detail)));
  }

  private void readAgain(FlowSubject subject, Runnable then) {
    records.get(
        subject.recordKey(PREFIX),
        (Optional<Stored> found) -> {
          if (found.isPresent()) {
            take(found.get());
          } else {
            kept.remove(subject);
            apply(subject);
          }
          then.run();
        });
  }

  /** One share for each, also where its limit goes and comes: there is but one record. */
  private void share(FlowSubject subject, Gate gate, int limit) {
    Share before = limits.get(subject);
    if (limit == 0) {
      gate.share(null, shares);
      if (before != null) {
        shares.limit(before, 0);
      }
      return;
    }
    Share share =
        limits.computeIfAbsent(
            subject, s -> shares.of(s.recordKey(Shares.RECORDS), new GateUser(s, dispatcher)));
    gate.share(share, shares);
    shares.limit(share, limit);
  }

  private static Gate gate(FlowSubject subject, Dispatcher dispatcher) {
    return switch (subject.scope()) {
      case QUEUE -> dispatcher.queue(subject.name());
      case NAMESPACE -> dispatcher.namespace(subject.name());
    };
  }

  private void apply(FlowSubject subject) {
    FlowSetting setting = get(subject);
    Gate gate = gate(subject, dispatcher);
    boolean paused = gate.paused == null && setting.paused() != null;
    gate.paused = setting.paused();
    gate.limit(setting.limit() != 0 ? setting.limit() : Gate.OPEN);
    if (shares.isShared()) {
      share(subject, gate, setting.limit());
    }
    if (setting.rate() == null) {
      gate.rate(null, rates);
    } else if (gate.bucket() != null) {
      rates.change(gate.bucket(), setting.rate());
    } else {
      String record = subject.recordKey(Rates.RECORDS);
      gate.rate(TokenBucket.set(record, setting.rate(), dispatcher::lookAgain), rates);
    }
    if (paused) {
      dispatcher.paused();
    }
    dispatcher.lookAgain();
  }

  /** Attempts that go through a gate: that of now, for one without a limit may be forgotten. */
  private record GateUser(FlowSubject subject, Dispatcher dispatcher) implements Share.User {
    @Override
    public int inUse() {
      return gate(subject, dispatcher).running();
    }

    @Override
    public void changed() {
      dispatcher.lookAgain();
    }
  }
}
