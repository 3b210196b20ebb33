package dev.carillon.engine;

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
 * Group commit. While a commit is under way the next group grows; each journal of a group has its
 * own outcome. An unknown one is resolved before anything else is appended to its journal; what
 * turned out absent is sent again.
 *
 * <p>Where the store takes {@linkplain NodeEnvironment#commitsBeside two commits at once}, what
 * comes while one is under way does not wait for its end, unless that has the same journal: a
 * journal is in one commit at a time, so its entries keep their order. Nothing is promised of the
 * order between journals.
 *
 * <p>Crash table: before the store has it, nobody was answered; after, the fold of the next owner
 * has it, whether or not the caller was answered.
 */
final class Committer {
  private static final int MAX_ENTRY_BYTES = 4 << 20;
  private static final int MAX_GROUP_BYTES = 16 << 20;
  private static final long FIRST_BACK_OFF_NANOS = 10_000_000;
  private static final long LONGEST_BACK_OFF_NANOS = 1_000_000_000;

  private final NodeEnvironment env;
  private final Host host;
  private final ArrayDeque<Shard> dirty = new ArrayDeque<>();
  private final ArrayDeque<AtomicAdds> waitingTogether = new ArrayDeque<>();
  private final Set<NodeEnvironment.Channel> idle;
  private int underWay;
  private int unresolved;

  /** Bytes of the group that is being gathered, but for adds-together. */
  private long gatheredBytes;

  /** Adds-together that wait for nothing but commits under way: their shards are kept for them. */
  private @Nullable AtomicAdds next;

  private long queued;
  private long queuedBytes;
  private final UnwrittenJournals unwritten;

  /** The node, as far as the committer needs it. */
  interface Host {
    /** The shard is somebody else's now, at {@code epoch}. */
    void fenced(Shard shard, long epoch);

    /** Runs {@code action} on the loop at that time of the monotonic clock. */
    void at(long nanos, Runnable action);

    /** Operations of the shard were applied. */
    void changed(Shard shard);

    /** When an add that is about to be sent is accepted. */
    long nowMicros();
  }

  Committer(NodeEnvironment env, Host host) {
    this.env = env;
    this.host = host;
    this.idle = EnumSet.copyOf(channels(env));
    this.unwritten = new UnwrittenJournals(env::monotonicNanos);
  }

  /** What a node commits through. */
  static List<NodeEnvironment.Channel> channels(NodeEnvironment env) {
    return env.commitsBeside()
        ? List.of(NodeEnvironment.Channel.COMMIT, NodeEnvironment.Channel.COMMIT_BESIDE)
        : List.of(NodeEnvironment.Channel.COMMIT);
  }

  /** Operations that wait to be sent. */
  long queued() {
    return queued;
  }

  long queuedBytes() {
    return queuedBytes;
  }

  /** Journals that were tried to be written in vain for some time; null without any. */
  @Nullable String unwritten() {
    return unwritten.problem();
  }

  boolean idle() {
    return underWay == 0 && unresolved == 0 && dirty.isEmpty() && waitingTogether.isEmpty();
  }

  boolean isStuck() {
    return underWay > 0 || unresolved > 0;
  }

  /** Queues an operation, unless it was taken back meanwhile. */
  void add(Shard shard, Operation operation) {
    if (operation.stage == Operation.Stage.SETTLED) {
      return;
    }
    if (shard.ownership == Shard.Ownership.LOST) {
      lose(operation, Operation.Loss.NOT_WRITTEN, "its shard moved away");
      return;
    }
    shard.raiseWakeTo = Long.MIN_VALUE;
    shard.drainedAs = null;
    operation.stage = Operation.Stage.QUEUED;
    shard.pending.add(operation);
    queued++;
    queuedBytes += operation.frame.frameBytes();
    touch(shard);
  }

  /** Queues adds that go together or not at all. */
  void addTogether(AtomicAdds adds) {
    adds.forEach(add -> add.stage = Operation.Stage.QUEUED);
    hold(adds, 1);
    waitingTogether.add(adds);
  }

  /** Adds that wait keep their shards as they are: their wake time was looked at. */
  private static void hold(AtomicAdds adds, int change) {
    for (Shard shard : adds.adds.keySet()) {
      shard.holds += change;
      shard.raiseWakeTo = Long.MIN_VALUE;
    }
  }

  private boolean takeBack(AtomicAdds adds) {
    boolean waited = waitingTogether.remove(adds);
    if (waited) {
      hold(adds, -1);
    }
    return waited;
  }

  /** Takes back an operation that was not sent; false where it is too late for that. */
  boolean withdraw(Shard shard, Operation operation) {
    if (operation.stage != Operation.Stage.QUEUED) {
      return operation.stage == Operation.Stage.MADE;
    }
    AtomicAdds together = operation.together;
    if (together != null) {
      return takeBack(together);
    }
    if (!shard.pending.remove(operation)) {
      return false;
    }
    unqueue(operation);
    if (shard.pending.isEmpty() && shard.inFlight == null) {
      unwritten.written(shard.id); // nobody waits for its journal any more
    }
    return true;
  }

  private void unqueue(Operation operation) {
    queued--;
    queuedBytes -= operation.frame.frameBytes();
  }

  /** Says that the shard has something to send, or may send again. */
  void touch(Shard shard) {
    boolean sends = !shard.pending.isEmpty() || shard.raiseWakeTo != Long.MIN_VALUE;
    if (sends && !shard.inCommitQueue && shard.inFlight == null) {
      shard.inCommitQueue = true;
      dirty.add(shard);
    }
  }

  /** Sends the next groups, as many as may be under way. */
  void turn() {
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
  private record Batch(Shard shard, List<Operation> operations, long number, long id, long wake) {
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
      return new Append(shard.id, shard.epoch, shard.generation, number, id, data, wake, urgent);
    }
  }

  private boolean ready(Shard shard, long now) {
    return shard.owned()
        && shard.inFlight == null
        && !shard.unresolved
        && !shard.rewriting
        && shard.retryAtNanos <= now;
  }

  /**
   * Takes the first adds-together if their shards are all free, and with them what waits in those:
   * else one batch after the other would keep it waiting. Where there is no room for that it goes
   * first, once.
   */
  private boolean gatherTogether(List<Batch> group) {
    next = null;
    AtomicAdds adds = firstTogether();
    if (adds == null) {
      return false;
    }
    long now = env.monotonicNanos();
    boolean waits = false;
    for (Shard shard : adds.adds.keySet()) {
      if (shard.inFlight != null && !shard.unresolved) {
        waits = true;
      } else if (!ready(shard, now)) {
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
    adds.adds.forEach(
        (shard, operations) -> {
          List<Operation> entry = new ArrayList<>(operations);
          fill(shard, entry);
          group.add(batch(shard, entry));
        });
    return true;
  }

  /** The adds-together that came first and can still be written. */
  private @Nullable AtomicAdds firstTogether() {
    while (true) {
      AtomicAdds adds = waitingTogether.peek();
      if (adds == null
          || adds.adds.keySet().stream().noneMatch(s -> s.ownership == Shard.Ownership.LOST)) {
        return adds;
      }
      takeBack(adds);
      adds.forEach(add -> lose(add, Operation.Loss.NOT_WRITTEN, "its shard moved away"));
    }
  }

  private static boolean hasNoRoom(Map.Entry<Shard, List<Operation>> adds) {
    Operation first = adds.getKey().pending.peek();
    return first != null && bytes(adds.getValue()) + first.frame.frameBytes() > MAX_ENTRY_BYTES;
  }

  private static long bytes(List<Operation> operations) {
    long bytes = 0;
    for (Operation operation : operations) {
      bytes += operation.frame.frameBytes();
    }
    return bytes;
  }

  /** Adds to an entry what waits in its shard, as far as there is room; an empty one takes any. */
  private void fill(Shard shard, List<Operation> entry) {
    long entryBytes = bytes(entry);
    while (!shard.pending.isEmpty() && gatheredBytes < MAX_GROUP_BYTES) {
      Operation first = shard.pending.peek();
      long bytes = first.frame.frameBytes();
      if (entryBytes > 0 && entryBytes + bytes > MAX_ENTRY_BYTES) {
        return;
      }
      shard.pending.remove();
      unqueue(first);
      entry.add(first);
      entryBytes += bytes;
      gatheredBytes += bytes;
    }
  }

  private void gather(List<Batch> group) {
    long now = env.monotonicNanos();
    int shards = dirty.size();
    for (int i = 0; i < shards && gatheredBytes < MAX_GROUP_BYTES; i++) {
      Shard shard = dirty.remove();
      if (shard.ownership == Shard.Ownership.LOST || shard.inFlight != null) {
        shard.inCommitQueue = false; // for good, or until it is settled what is under way
        continue;
      }
      if (!ready(shard, now) || (next != null && next.adds.containsKey(shard))) {
        dirty.add(shard);
        continue;
      }
      shard.inCommitQueue = false;
      List<Operation> operations = new ArrayList<>(shard.pending.size());
      fill(shard, operations);
      group.add(batch(shard, operations));
    }
  }

  private Batch batch(Shard shard, List<Operation> operations) {
    accept(operations);
    operations.forEach(operation -> operation.stage = Operation.Stage.SENT);
    shard.inFlight = operations;
    long wake = shard.pending.isEmpty() ? shard.raiseWakeTo : Append.KEEP_WAKE;
    shard.raising = wake != Append.KEEP_WAKE;
    return new Batch(shard, operations, shard.tail + 1, env.random() | 1, wake);
  }

  /** Jobs are accepted when they are sent: they may have waited for long. */
  private void accept(List<Operation> operations) {
    long now = host.nowMicros();
    for (Operation operation : operations) {
      if (operation.isAdd()) {
        JobSpec.setAccepted(operation.frame, now);
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
    Shard shard = batch.shard();
    if (shard.ownership == Shard.Ownership.LOST) {
      return;
    }
    switch (outcome) {
      case Outcome.Ok<Long> ok -> committed(batch);
      case Outcome.Unknown<Long> unknown -> {
        unwritten.failed(shard.id, unknown.detail());
        env.metrics().count("commits.unknown", 1);
        shard.unresolved = true;
        unresolved++;
        resolve(batch, append);
      }
      case Outcome.Fenced<Long> fenced -> {
        batch
            .operations()
            .forEach(o -> lose(o, Operation.Loss.NOT_WRITTEN, "its shard moved away"));
        host.fenced(shard, fenced.epoch());
      }
      case Outcome.Full<Long> full -> {
        unwritten.failed(shard.id, full.detail());
        env.metrics().count("commits.full", 1);
        takeBackAdds(batch, full.detail());
        sendAgain(batch);
      }
      case Outcome.Unavailable<Long> unavailable -> {
        unwritten.failed(shard.id, unavailable.detail());
        sendAgain(batch);
      }
      case Outcome.Conflict<Long> conflict -> broken(batch, outcome);
      case Outcome.TooLarge<Long> tooLarge -> broken(batch, outcome);
      case Outcome.Damaged<Long> damaged -> broken(batch, outcome);
    }
  }

  /** The journal is not as its owner knows it: the owner lets go and claims anew. */
  private void broken(Batch batch, Outcome<Long> outcome) {
    env.report("append to shard " + batch.shard().id + " was refused: " + outcome, null);
    host.fenced(batch.shard(), batch.shard().epoch);
  }

  private void committed(Batch batch) {
    Shard shard = batch.shard();
    unwritten.written(shard.id);
    shard.tail = batch.number();
    shard.failures = 0;
    shard.inFlight = null;
    shard.raising = false;
    shard.journalBytes += bytes(batch.operations());
    if (batch.wake() != Append.KEEP_WAKE) {
      shard.wakeMicros = batch.wake();
      if (shard.raiseWakeTo == batch.wake()) {
        shard.raiseWakeTo = Long.MIN_VALUE;
      }
    }
    shard.holds++; // what one of them leads to must not give the shard away before the others
    for (Operation operation : batch.operations()) {
      apply(shard, operation);
    }
    shard.holds--;
    touch(shard);
    host.changed(shard);
  }

  private static void apply(Shard shard, Operation operation) {
    operation.stage = Operation.Stage.SETTLED;
    ShardFold fold = shard.fold;
    JobSpec spec = operation.spec;
    Body.End end = operation.end;
    Frame frame = operation.frame;
    if (fold == null) {
      if (shard.arrivedWhileLoading != null) {
        shard.arrivedWhileLoading.add(new Shard.Arrived(frame, shard.tail));
      }
      operation.listener.applied(ShardFold.Answer.APPLIED, null);
      return;
    }
    fold.at(shard.tail);
    ShardFold.Answer answer =
        spec != null
            ? fold.add(frame.job(), spec, frame.body())
            : end != null ? fold.end(frame.job(), end) : fold.apply(frame);
    operation.listener.applied(answer, fold.met());
  }

  private void resolve(Batch batch, Append append) {
    if (batch.shard().ownership == Shard.Ownership.LOST) {
      unresolved--;
      return;
    }
    env.submit(
        NodeEnvironment.Channel.CONTROL,
        store -> store.journals().resolve(append),
        outcome -> resolved(batch, append, outcome));
  }

  private void resolved(Batch batch, Append append, Outcome<Resolution> outcome) {
    Shard shard = batch.shard();
    if (shard.ownership == Shard.Ownership.LOST) {
      unresolved--;
      return;
    }
    switch (outcome) {
      case Outcome.Ok<Resolution> ok -> {
        unresolved--;
        shard.unresolved = false;
        if (ok.value() == Resolution.COMMITTED) {
          committed(batch);
        } else {
          shard.tail = batch.number();
          sendAgain(batch);
        }
      }
      case Outcome.Fenced<Resolution> fenced -> {
        unresolved--;
        host.fenced(shard, fenced.epoch());
      }
      default -> host.at(backOff(shard), () -> resolve(batch, append));
    }
  }

  private long backOff(Shard shard) {
    long wait = FIRST_BACK_OFF_NANOS << Math.min(shard.failures++, 10);
    return env.monotonicNanos() + Math.min(wait, LONGEST_BACK_OFF_NANOS);
  }

  private void sendAgain(Batch batch) {
    Shard shard = batch.shard();
    shard.inFlight = null;
    shard.raising = false;
    shard.retryAtNanos = backOff(shard);
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
        shard.pending.addFirst(operation);
        queued++;
        queuedBytes += operation.frame.frameBytes();
      } else if (operation.stage == Operation.Stage.SENT) {
        together.forEach(add -> add.stage = Operation.Stage.QUEUED);
        hold(together, 1);
        waitingTogether.addFirst(together);
      }
    }
    touch(shard);
    host.at(shard.retryAtNanos, () -> touch(shard));
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

  /** Settles everything of a shard that this node no longer owns. */
  void lost(Shard shard) {
    unwritten.written(shard.id); // by another
    List<Operation> sent = shard.inFlight;
    shard.inFlight = null;
    shard.unresolved = false;
    List<Operation> waiting = List.copyOf(shard.pending);
    shard.pending.clear();
    waiting.forEach(this::unqueue);
    if (sent != null) {
      sent.forEach(o -> lose(o, Operation.Loss.UNKNOWN, "its shard moved before the answer"));
    }
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
