package dev.carillon.engine.commit;

import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.store.Append;
import dev.carillon.store.Journals.Resolution;
import dev.carillon.store.Outcome;
import dev.carillon.store.Store;
import dev.carillon.store.Transactions.Rider;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Group commit: writes the queued operations of many journals in one store call. While a commit is
 * under way the next group grows. Each journal of a group has its own outcome. The committer
 * resolves an unknown outcome before it appends anything else to that journal, and sends an entry
 * again that turned out to be absent.
 *
 * <p>A store may take {@linkplain NodeEnvironment#commitsBeside two commits at once}. A journal is
 * in one of them at a time, so its entries keep their order. There is no order between journals.
 *
 * <p>Crash table: before the store has an entry, nobody was answered; after, the fold of the next
 * owner has its operations, whether or not the caller was answered.
 */
public final class Committer {
  private static final int MAX_ENTRY_BYTES = 4 << 20;
  private static final int MAX_GROUP_BYTES = 16 << 20;

  /** An operation that is judged before it is sent begins another entry behind so many. */
  private static final int MOST_LOOKED_THROUGH = 1_024;

  private final NodeEnvironment env;
  private final Timers timers;
  private final Host host;
  private final ArrayDeque<ShardJournal> dirty = new ArrayDeque<>();
  private final ArrayDeque<AtomicAdds> waitingTogether = new ArrayDeque<>();
  private final Set<NodeEnvironment.Channel> idle;
  private int underWay;
  private int unresolved;

  /** Bytes of the group that is being gathered, but for adds-together. */
  private long gatheredBytes;

  /** A batch that waits for nothing but commits under way: its journals are kept for it. */
  private @Nullable AtomicAdds next;

  private long queued;
  private long queuedBytes;
  private final UnwrittenJournals unwritten;

  /** The owner of the journals. */
  public interface Host {
    /** The store refused an append: another node owns the shard, or the journal is damaged. */
    void fenced(ShardJournal journal);

    /** Operations of the journal were applied. */
    void changed(ShardJournal journal);

    /** The time at which an add that is about to be sent counts as accepted. */
    long nowMicros();
  }

  public Committer(NodeEnvironment env, Timers timers, Host host) {
    this.env = env;
    this.timers = timers;
    this.host = host;
    this.idle = EnumSet.copyOf(channels(env));
    this.unwritten = new UnwrittenJournals(env::monotonicNanos);
  }

  /** What a node commits through. */
  public static List<NodeEnvironment.Channel> channels(NodeEnvironment env) {
    return env.commitsBeside()
        ? List.of(NodeEnvironment.Channel.COMMIT, NodeEnvironment.Channel.COMMIT_BESIDE)
        : List.of(NodeEnvironment.Channel.COMMIT);
  }

  /** Operations that wait to be sent. */
  public long queued() {
    return queued;
  }

  public long queuedBytes() {
    return queuedBytes;
  }

  /** Journals that were tried to be written in vain for some time; null without any. */
  public @Nullable String unwritten() {
    return unwritten.problem();
  }

  public boolean idle() {
    return underWay == 0 && unresolved == 0 && dirty.isEmpty() && waitingTogether.isEmpty();
  }

  /** Queues an operation, unless it was taken back meanwhile. */
  public void add(ShardJournal journal, Operation operation) {
    if (operation.stage == Operation.Stage.SETTLED) {
      return;
    }
    if (journal.isLost()) {
      lose(operation, Operation.Loss.NOT_WRITTEN, "its shard moved away");
      return;
    }
    operation.stage = Operation.Stage.QUEUED;
    journal.queue(operation);
    queued++;
    queuedBytes += operation.bytes();
    touch(journal);
  }

  /** Appends an entry that raises the wake time, unless something else is appended before. */
  public void raiseWake(ShardJournal journal, long toMicros) {
    journal.raiseWakeTo(toMicros);
    touch(journal);
  }

  /** Queues adds that go together or not at all. */
  public void addTogether(AtomicAdds adds) {
    adds.forEach(add -> add.stage = Operation.Stage.QUEUED);
    hold(adds);
    waitingTogether.add(adds);
  }

  /** A batch that waits keeps its shards, and their wake times, as they are. */
  private static void hold(AtomicAdds adds) {
    for (ShardJournal journal : adds.adds.keySet()) {
      journal.hold();
      journal.keepWake();
    }
  }

  private boolean takeBack(AtomicAdds adds) {
    boolean waited = waitingTogether.remove(adds);
    if (waited) {
      for (ShardJournal journal : adds.adds.keySet()) {
        journal.unhold();
        journal.keepWake();
      }
    }
    return waited;
  }

  /** Takes back an operation that was not sent; false where it is too late for that. */
  public boolean withdraw(ShardJournal journal, Operation operation) {
    if (operation.stage != Operation.Stage.QUEUED) {
      return operation.stage == Operation.Stage.MADE;
    }
    AtomicAdds together = operation.together;
    if (together != null) {
      return takeBack(together);
    }
    if (!journal.withdraw(operation)) {
      return false;
    }
    unqueue(operation);
    if (journal.queued() == 0 && !journal.isInFlight()) {
      unwritten.written(journal.id()); // nobody waits for it any more
    }
    return true;
  }

  private void unqueue(Operation operation) {
    queued--;
    queuedBytes -= operation.bytes();
  }

  /** Says that the journal has something to send, or may send again. */
  public void touch(ShardJournal journal) {
    if (journal.enterCommitQueue()) {
      dirty.add(journal);
    }
  }

  /** Sends the next groups, as many as may be under way. */
  public void turn() {
    while (!idle.isEmpty()) {
      List<Batch> group = new ArrayList<>();
      gatheredBytes = 0;
      boolean together = gatherTogether(group);
      gather(group);
      if (group.isEmpty()) {
        return;
      }
      send(group, together);
    }
  }

  /** One entry of a group. */
  private record Batch(
      ShardJournal journal, List<Operation> operations, long number, long id, long wake) {
    /** What its operations bring along. */
    Rider rider() {
      List<Rider> riders = new ArrayList<>(0);
      for (Operation operation : operations) {
        if (operation.rider != null) {
          riders.add(operation.rider);
        }
      }
      return riders.isEmpty()
          ? Rider.NONE
          : new Rider(
              riders.stream().flatMap(rider -> rider.rows().stream()).toList(),
              riders.stream().flatMap(rider -> rider.pointers().stream()).toList(),
              riders.stream().flatMap(rider -> rider.done().stream()).toList());
    }

    Append append(byte[] data) {
      boolean urgent = operations.stream().noneMatch(Operation::isAdd);
      return new Append(
          journal.id(), journal.epoch(), journal.generation(), number, id, data, wake, urgent);
    }
  }

  /**
   * Takes the first batch if all its journals are free, and fills its entries with queued
   * operations: else one batch after the other would keep those waiting. Operations that do not fit
   * go before the batch, once.
   */
  private boolean gatherTogether(List<Batch> group) {
    next = null;
    AtomicAdds adds = firstTogether();
    if (adds == null) {
      return false;
    }
    long now = env.monotonicNanos();
    boolean waits = false;
    for (ShardJournal journal : adds.adds.keySet()) {
      if (journal.isInFlight() && !journal.isUnresolved()) {
        waits = true;
      } else if (!journal.mayAppend(now)) {
        return false;
      }
    }
    if (waits) {
      next = adds;
      return false;
    }
    if (!adds.gaveWay && adds.adds.entrySet().stream().anyMatch(Committer::hasNoRoom)) {
      adds.gaveWay = true;
      return false;
    }
    takeBack(adds);
    if (adds.isRefused()) {
      adds.forEach(
          operation -> {
            if (operation.guard != null) {
              operation.refused();
            }
          });
      adds.forEach(operation -> lose(operation, Operation.Loss.NOT_WRITTEN, "it was refused"));
      return gatherTogether(group);
    }
    adds.adds.forEach(
        (journal, operations) -> {
          List<Operation> entry = new ArrayList<>(operations);
          fill(journal, entry);
          group.add(batch(journal, entry));
        });
    return true;
  }

  /** The batch that came first and can still be written. */
  private @Nullable AtomicAdds firstTogether() {
    while (true) {
      AtomicAdds adds = waitingTogether.peek();
      if (adds == null || adds.adds.keySet().stream().noneMatch(ShardJournal::isLost)) {
        return adds;
      }
      takeBack(adds);
      adds.forEach(add -> lose(add, Operation.Loss.NOT_WRITTEN, "its shard moved away"));
    }
  }

  private static boolean hasNoRoom(Map.Entry<ShardJournal, List<Operation>> adds) {
    Operation first = adds.getKey().first();
    return first != null && bytes(adds.getValue()) + first.bytes() > MAX_ENTRY_BYTES;
  }

  private static long bytes(List<Operation> operations) {
    long bytes = 0;
    for (Operation operation : operations) {
      bytes += operation.bytes();
    }
    return bytes;
  }

  /** Moves queued operations into an entry while there is room; an empty one takes any. */
  private void fill(ShardJournal journal, List<Operation> entry) {
    long entryBytes = bytes(entry);
    for (Operation first = journal.first();
        first != null && gatheredBytes < MAX_GROUP_BYTES;
        first = journal.first()) {
      long bytes = first.bytes();
      if (entryBytes > 0 && entryBytes + bytes > MAX_ENTRY_BYTES) {
        return;
      }
      if (first.guard != null && concerns(entry, first.frame.job())) {
        return; // it is judged by what those before it have made of the job
      }
      journal.removeFirst();
      unqueue(first);
      if (first.isRefused()) {
        first.refused();
        continue;
      }
      entry.add(first);
      entryBytes += bytes;
      gatheredBytes += bytes;
    }
  }

  /** Whether one of an entry may be about the job; of a long entry nobody looks. */
  private static boolean concerns(List<Operation> entry, long job) {
    if (entry.size() > MOST_LOOKED_THROUGH) {
      return true;
    }
    for (Operation operation : entry) {
      if (operation.frame.job() == job) {
        return true;
      }
    }
    return false;
  }

  private void gather(List<Batch> group) {
    long now = env.monotonicNanos();
    int journals = dirty.size();
    for (int i = 0; i < journals && gatheredBytes < MAX_GROUP_BYTES; i++) {
      ShardJournal journal = dirty.remove();
      if (journal.isLost() || journal.isInFlight()) {
        journal.leaveCommitQueue(); // for good, or until the entry in flight is settled
        continue;
      }
      if (!journal.mayAppend(now) || (next != null && next.adds.containsKey(journal))) {
        dirty.add(journal);
        continue;
      }
      journal.leaveCommitQueue();
      List<Operation> operations = new ArrayList<>(journal.queued());
      fill(journal, operations);
      if (operations.isEmpty() && !journal.isAppending()) {
        continue; // all of it was refused
      }
      group.add(batch(journal, operations));
    }
  }

  private Batch batch(ShardJournal journal, List<Operation> operations) {
    accept(operations);
    operations.forEach(operation -> operation.stage = Operation.Stage.SENT);
    long wake = journal.send(operations);
    return new Batch(journal, operations, journal.tail() + 1, env.random() | 1, wake);
  }

  /** Jobs are accepted when they are sent: they may have waited for long. */
  private void accept(List<Operation> operations) {
    long now = host.nowMicros();
    for (Operation operation : operations) {
      if (operation.isAdd()) {
        JobSpec.setAccepted(operation.frame, now);
      }
      for (Frame add : operation.adds) {
        JobSpec.setAccepted(add, now);
      }
    }
  }

  private void send(List<Batch> group, boolean together) {
    NodeEnvironment.Channel channel = idle.iterator().next();
    idle.remove(channel);
    underWay++;
    env.metrics().count("commits", 1);
    long asked = env.monotonicNanos();
    env.submit(
        channel,
        store -> append(store, group, together),
        sent -> {
          env.metrics().time("commits", env.monotonicNanos() - asked);
          idle.add(channel);
          underWay--;
          settled(group, sent);
        });
  }

  /** What was sent and how it went; the appends are kept for a resolution. */
  private record Sent(List<Append> appends, List<Outcome<Long>> outcomes) {}

  private static Sent append(Store store, List<Batch> group, boolean together) {
    List<Append> appends = new ArrayList<>(group.size());
    for (Batch batch : group) {
      List<Frame> frames = new ArrayList<>(batch.operations().size());
      for (Operation operation : batch.operations()) {
        frames.add(operation.frame);
        frames.addAll(operation.adds);
      }
      appends.add(batch.append(Frame.encode(frames)));
    }
    List<Rider> riders = group.stream().map(Batch::rider).toList();
    if (!riders.stream().allMatch(Rider::isNone)) {
      return new Sent(appends, store.transactions().append(appends, riders, together));
    }
    return new Sent(appends, store.journals().append(appends, together));
  }

  private void settled(List<Batch> group, Sent sent) {
    for (int i = 0; i < group.size(); i++) {
      settle(group.get(i), sent.appends().get(i), sent.outcomes().get(i));
    }
  }

  private void settle(Batch batch, Append append, Outcome<Long> outcome) {
    ShardJournal journal = batch.journal();
    if (journal.isLost()) {
      return;
    }
    switch (outcome) {
      case Outcome.Ok<Long> ok -> committed(batch);
      case Outcome.Unknown<Long> unknown -> {
        unwritten.failed(journal.id(), unknown.detail());
        env.metrics().count("commits.unknown", 1);
        journal.unresolved();
        unresolved++;
        resolve(batch, append);
      }
      case Outcome.Fenced<Long> fenced -> {
        batch
            .operations()
            .forEach(o -> lose(o, Operation.Loss.NOT_WRITTEN, "its shard moved away"));
        host.fenced(journal);
      }
      case Outcome.Full<Long> full -> {
        unwritten.failed(journal.id(), full.detail());
        env.metrics().count("commits.full", 1);
        takeBackAdds(batch, full.detail());
        sendAgain(batch);
      }
      case Outcome.Unavailable<Long> unavailable -> {
        unwritten.failed(journal.id(), unavailable.detail());
        sendAgain(batch);
      }
      case Outcome.Conflict<Long> conflict -> broken(batch, outcome);
      case Outcome.TooLarge<Long> tooLarge -> broken(batch, outcome);
      case Outcome.Damaged<Long> damaged -> broken(batch, outcome);
    }
  }

  /** The journal is not as its owner knows it: the owner lets go and claims anew. */
  private void broken(Batch batch, Outcome<Long> outcome) {
    env.report("append to shard " + batch.journal().id() + " was refused: " + outcome, null);
    host.fenced(batch.journal());
  }

  private void committed(Batch batch) {
    ShardJournal journal = batch.journal();
    unwritten.written(journal.id());
    journal.committed(batch.operations(), batch.number(), batch.wake(), bytes(batch.operations()));
    touch(journal);
    host.changed(journal);
  }

  private void resolve(Batch batch, Append append) {
    if (batch.journal().isLost()) {
      unresolved--;
      return;
    }
    env.submit(
        NodeEnvironment.Channel.CONTROL,
        store -> store.journals().resolve(append),
        outcome -> resolved(batch, append, outcome));
  }

  private void resolved(Batch batch, Append append, Outcome<Resolution> outcome) {
    ShardJournal journal = batch.journal();
    if (journal.isLost()) {
      unresolved--;
      return;
    }
    switch (outcome) {
      case Outcome.Ok<Resolution> ok -> {
        unresolved--;
        if (ok.value() == Resolution.COMMITTED) {
          committed(batch);
        } else {
          journal.skip(batch.number());
          sendAgain(batch);
        }
      }
      case Outcome.Fenced<Resolution> fenced -> {
        unresolved--;
        host.fenced(journal);
      }
      default -> timers.at(backOff(journal), () -> resolve(batch, append));
    }
  }

  private long backOff(ShardJournal journal) {
    return journal.backOff(env.monotonicNanos());
  }

  private void sendAgain(Batch batch) {
    ShardJournal journal = batch.journal();
    long retryAt = backOff(journal);
    journal.notWritten(retryAt);
    List<Operation> operations = batch.operations();
    for (int i = operations.size() - 1; i >= 0; i--) {
      Operation operation = operations.get(i);
      AtomicAdds together = operation.together;
      if (operation.stage == Operation.Stage.SETTLED) {
        continue;
      }
      if (operation.takesRow()) {
        // Its row may be gone: it goes only if it is taken again.
        lose(operation, Operation.Loss.NOT_WRITTEN, "it goes back to the inbox");
      } else if (together == null) {
        operation.stage = Operation.Stage.QUEUED;
        journal.queueFirst(operation);
        queued++;
        queuedBytes += operation.bytes();
      } else if (operation.stage == Operation.Stage.SENT) {
        together.forEach(add -> add.stage = Operation.Stage.QUEUED);
        hold(together);
        waitingTogether.addFirst(together);
      }
    }
    touch(journal);
    timers.at(retryAt, () -> touch(journal));
  }

  /** With the store full, adds are refused and what ends jobs goes on. */
  private void takeBackAdds(Batch batch, String detail) {
    batch
        .operations()
        .removeIf(
            operation -> {
              if (operation.isAdd()) {
                lose(operation, Operation.Loss.FULL, detail);
              }
              return operation.isAdd();
            });
  }

  /** Settles everything of a journal that this node no longer owns. */
  public void lost(ShardJournal journal) {
    unwritten.written(journal.id()); // by another
    List<Operation> sent = journal.takeInFlight();
    List<Operation> waiting = journal.takeQueued();
    waiting.forEach(this::unqueue);
    sent.forEach(o -> lose(o, Operation.Loss.UNKNOWN, "its shard moved before the answer"));
    waiting.forEach(o -> lose(o, Operation.Loss.NOT_WRITTEN, "its shard moved away"));
  }

  /** Tells whoever waits, and takes along what was to be committed with it. */
  private void lose(Operation operation, Operation.Loss loss, String why) {
    if (operation.stage == Operation.Stage.SETTLED) {
      return;
    }
    operation.stage = Operation.Stage.SETTLED;
    operation.listener.lost(loss, why);
    AtomicAdds together = operation.together;
    if (together != null) {
      takeBack(together);
      together.forEach(add -> lose(add, loss, why));
    }
  }
}
