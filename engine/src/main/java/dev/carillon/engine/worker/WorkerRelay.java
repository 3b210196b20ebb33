package dev.carillon.engine.worker;

import dev.carillon.api.AttemptToken;
import dev.carillon.api.FailurePolicy;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.job.PolicyFormat;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.member.Member;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.message.Loan;
import dev.carillon.engine.message.Message;
import dev.carillon.engine.message.Wire;
import dev.carillon.store.Outcome;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A gateway: lets the workers that are connected to this node run attempts of other nodes' jobs.
 * Limits, leases, time and outcomes are the owner's; here is only who is spoken of.
 *
 * <ol>
 *   <li>The other members are told of each worker and of the end of its connection.
 *   <li>An owner that has jobs for them asks for room, and is promised some for a second.
 *   <li>What an owner gives is passed on, with the number that it has on this connection.
 *   <li>A beat is answered while this node and each owner of what the worker has are heard: nobody
 *       can have taken them for dead. What is of another owner is <i>moved</i> before.
 *   <li>Before an owner gives an attempt away it has beats for it end here, and waits for that.
 * </ol>
 *
 * <p>Crash table: this node dies: the owners count the leases from when they notice, after the last
 * answer; what no worker has accepted goes to another. An owner dies: its attempts are moved before
 * its next owner can be there. A word is lost: the worker says it again; a connection that is not
 * known is asked for.
 */
final class WorkerRelay {
  private static final long PROMISE_NANOS = 1_000_000_000;
  private static final long WANT_NANOS = 1_000_000_000;

  /**
   * What was given after room was spoken of so long ago is not passed on: its owner may be about to
   * give it to another worker.
   */
  private static final long FRESH_NANOS = 3_000_000_000L;

  private static final long ROLL_NANOS = 5_000_000_000L;

  /** A worker that is silent for so long is told of. */
  private static final long SILENT_NANOS = 3_000_000_000L;

  private final NodeEnvironment env;
  private final Timers timers;
  private final MemberStatus status;
  private final Wire wire;
  private final WorkerLinks links;
  private final Set<Long> peers = new LinkedHashSet<>();
  private final Map<Long, Relay> relays = new LinkedHashMap<>();
  private final Map<Long, Want> wants = new LinkedHashMap<>();
  private final Map<Long, Asked> saves = new LinkedHashMap<>();
  private long requests;
  private Timers.@Nullable Timer roll;

  private record Want(List<String> types, int count, long untilNanos) {}

  private record Asked(long owner, long link, Consumer<Outcome<Boolean>> answer) {}

  /** A connection of this node's, and what the worker has of others. */
  private static final class Relay {
    final WorkerLink link;
    final Map<Long, Relayed> attempts = new LinkedHashMap<>();
    final Map<Long, Owner> owners = new LinkedHashMap<>();
    boolean toldSilent;

    Relay(WorkerLink link) {
      this.link = link;
    }
  }

  /** Another node that gives to the worker. */
  private static final class Owner {
    /** The number of the last attempt that it gave. */
    long given;

    int promised;
  }

  /** An attempt of another node's that the worker has. */
  private static final class Relayed {
    final long owner;
    final AttemptToken token;

    /** The owner's: what it gave before it may have been dead is not its own any more. */
    long era;

    /** Among those that its owner gave, and those of the connection; 0 where it was resumed. */
    long number;

    long local;
    boolean seen;
    boolean accepted;
    boolean leased;
    String type = "";
    long startedMicros;
    @Nullable FailurePolicy policy;

    Relayed(long owner, AttemptToken token, long era) {
      this.owner = owner;
      this.token = token;
      this.era = era;
    }
  }

  WorkerRelay(
      NodeEnvironment env, Timers timers, MemberStatus status, Wire wire, WorkerLinks links) {
    this.env = env;
    this.timers = timers;
    this.status = status;
    this.wire = wire;
    this.links = links;
  }

  private long now() {
    return env.monotonicNanos();
  }

  private void send(long to, RelayWord word) {
    wire.send(to, Message.encode(new Message.OfWorker(RelayWord.encode(word))));
  }

  private void sendAll(RelayWord word) {
    peers.forEach(peer -> send(peer, word));
  }

  /** Whether a worker here has attempts of other nodes. */
  boolean isBusy() {
    return relays.values().stream().anyMatch(relay -> !relay.attempts.isEmpty());
  }

  // ---- who is there

  /** Who is there now: those who are new hear of the workers. */
  void saw(List<Member> members) {
    Set<Long> there = new LinkedHashSet<>();
    for (Member member : members) {
      if (member.takesShards() || peers.contains(member.incarnation())) {
        there.add(member.incarnation());
      }
    }
    peers.retainAll(there);
    wants.keySet().retainAll(there);
    for (Long member : there) {
      if (peers.add(member)) {
        links.own().forEach(link -> send(member, new RelayWord.Here(link.id, link.hello)));
      }
    }
    for (Map.Entry<Long, Asked> each : List.copyOf(saves.entrySet())) {
      if (!there.contains(each.getValue().owner())) {
        saves.remove(each.getKey());
        each.getValue().answer().accept(new Outcome.Unknown<>("the owner of the job is gone"));
      }
    }
  }

  /** A worker is connected to this node. */
  void came(WorkerLink link) {
    if (status.isShared()) {
      relays.put(link.id, new Relay(link));
      sendAll(new RelayWord.Here(link.id, link.hello));
      callLater();
    }
  }

  /** Its connection has ended. */
  void went(WorkerLink link) {
    if (relays.remove(link.id) != null) {
      sendAll(new RelayWord.Gone(link.id));
      saves.values().removeIf(asked -> asked.link() == link.id);
    }
  }

  private void callLater() {
    if (roll == null || roll.isOver()) {
      roll = timers.at(now() + ROLL_NANOS, this::call);
    }
  }

  private void call() {
    sendAll(new RelayWord.Roll(List.copyOf(relays.keySet())));
    if (!relays.isEmpty()) {
      callLater();
    }
  }

  /** Others may have taken this node for dead: nothing that they gave is renewed here. */
  void fenced() {
    for (Relay relay : relays.values()) {
      for (Relayed each : List.copyOf(relay.attempts.values())) {
        move(relay, each);
      }
      for (Owner owner : relay.owners.values()) {
        links.change(relay.link, () -> relay.link.promised -= owner.promised);
        owner.promised = 0;
      }
    }
    wants.clear();
  }

  /** The store is another copy. */
  void exchanged() {
    fenced();
    for (Asked asked : List.copyOf(saves.values())) {
      asked.answer().accept(new Outcome.Unknown<>("the store is another copy"));
    }
    saves.clear();
    peers.clear();
  }

  private void move(Relay relay, Relayed each) {
    relay.attempts.remove(each.token.nonce());
    relay.link.stream.told(each.token, WorkerStream.Word.MOVED);
    send(each.owner, new RelayWord.Withdrawn(relay.link.id, each.token));
  }

  // ---- what the worker says

  private @Nullable Relayed find(WorkerLink link, AttemptToken token) {
    Relay relay = relays.get(link.id);
    Relayed each = relay != null ? relay.attempts.get(token.nonce()) : null;
    return each != null && each.token.equals(token) ? each : null;
  }

  /** Whether the worker has the attempt of another node, by way of this one. */
  boolean has(WorkerLink link, AttemptToken token) {
    return find(link, token) != null;
  }

  /** By which failures of the attempt are judged; null where that is not known. */
  @Nullable FailurePolicy policy(WorkerLink link, AttemptToken token) {
    Relayed each = find(link, token);
    return each != null ? each.policy : null;
  }

  void accepted(WorkerLink link, AttemptToken token) {
    Relayed each = find(link, token);
    if (each != null) {
      each.accepted = true;
      send(each.owner, new RelayWord.Accepted(link.id, token));
    }
  }

  void ended(WorkerLink link, AttemptToken token, AttemptOutcome outcome) {
    Relayed each = find(link, token);
    if (each != null) {
      each.accepted = true;
      send(each.owner, new RelayWord.Ended(link.id, token, outcome));
    }
  }

  void save(WorkerLink link, AttemptToken token, byte[] state, Consumer<Outcome<Boolean>> answer) {
    Relayed each = find(link, token);
    if (each == null) {
      answer.accept(Outcome.ok(false));
      return;
    }
    long request = ++requests;
    saves.put(request, new Asked(each.owner, link.id, answer));
    send(each.owner, new RelayWord.Save(link.id, token, request, state));
  }

  void report(WorkerLink link, AttemptToken token, Report.Source source) {
    Relayed each = find(link, token);
    if (each != null) {
      send(each.owner, new RelayWord.Reported(link.id, token, source.take()));
    }
  }

  /** The worker has these, and they are none of this node's: whoever owns them is to say so. */
  void resume(WorkerLink link, List<AttemptToken> tokens) {
    if (relays.containsKey(link.id) && !tokens.isEmpty()) {
      sendAll(new RelayWord.Resume(link.id, tokens));
    }
  }

  /** The worker has said what it could run, and what it has seen. */
  void seen(WorkerLink link) {
    Relay relay = relays.get(link.id);
    if (relay == null || relay.attempts.isEmpty()) {
      return;
    }
    Set<Long> silentOf = new LinkedHashSet<>();
    for (Relayed each : relay.attempts.values()) {
      if (!each.seen && link.hasSeen(each.local)) {
        each.seen = true;
        if (!each.accepted) {
          silentOf.add(each.owner);
        }
      }
    }
    silentOf.forEach(owner -> free(relay, owner));
  }

  /**
   * A beat of the worker's is about to be answered: what is not surely its owner's is moved before.
   */
  void beat(WorkerLink link) {
    Relay relay = relays.get(link.id);
    if (relay == null) {
      return;
    }
    for (Relayed each : List.copyOf(relay.attempts.values())) {
      // Of one that was told silent the owner may be about to lose the attempt.
      if (relay.toldSilent || status.heardUntil(each.owner, each.era) == null) {
        move(relay, each);
      }
    }
    if (relay.toldSilent) {
      relay.toldSilent = false;
      sendAll(new RelayWord.Silent(link.id, 0));
    }
  }

  /** Workers that are silent are told of, to those who wait for their leases. */
  void sweep() {
    long now = now();
    for (Relay relay : relays.values()) {
      long silent = now - relay.link.heardNanos(now);
      if (!relay.toldSilent && silent >= SILENT_NANOS && !relay.attempts.isEmpty()) {
        relay.toldSilent = true;
        sendAll(new RelayWord.Silent(relay.link.id, silent));
      }
    }
  }

  /** What the worker has of other nodes. */
  List<WorkerLook.Run> runs(WorkerLink link) {
    Relay relay = relays.get(link.id);
    List<WorkerLook.Run> runs = new ArrayList<>();
    if (relay != null) {
      for (Relayed each : relay.attempts.values()) {
        runs.add(
            new WorkerLook.Run(
                each.token, each.type, each.startedMicros, each.accepted, each.leased));
      }
    }
    return runs;
  }

  // ---- room

  /** What the connections have room for is promised to those who want it; half of it at most. */
  void turn() {
    if (wants.isEmpty()) {
      return;
    }
    long now = now();
    wants.values().removeIf(want -> now - want.untilNanos() >= 0);
    for (Map.Entry<Long, Want> each : List.copyOf(wants.entrySet())) {
      if (promise(each.getKey(), each.getValue())) {
        wants.remove(each.getKey());
      }
    }
  }

  private boolean promise(long owner, Want want) {
    int left = want.count();
    for (Relay relay : relays.values()) {
      WorkerLink link = relay.link;
      int most = Math.min(left, (link.room() + 1) / 2);
      if (most > 0 && want.types().stream().anyMatch(link::takes)) {
        Owner to = relay.owners.computeIfAbsent(owner, o -> new Owner());
        to.promised += most;
        left -= most;
        links.change(link, () -> link.promised += most);
        free(relay, owner);
        timers.at(now() + PROMISE_NANOS, () -> takeBack(relay, owner, most));
      }
    }
    return left < want.count();
  }

  private void takeBack(Relay relay, long owner, int promised) {
    Owner to = relay.owners.get(owner);
    int unused = to != null ? Math.min(promised, to.promised) : 0;
    if (to != null && unused > 0 && relays.get(relay.link.id) == relay) {
      to.promised -= unused;
      links.change(relay.link, () -> relay.link.promised -= unused);
      free(relay, owner);
    }
  }

  /** An absolute number, as of the last attempt that the worker had seen of that owner's. */
  private void free(Relay relay, long owner) {
    Owner to = relay.owners.get(owner);
    if (to == null) {
      return;
    }
    long seen = to.given;
    for (Relayed each : relay.attempts.values()) {
      if (each.owner == owner && each.number != 0 && !each.seen && !each.accepted) {
        seen = Math.min(seen, each.number - 1);
      }
    }
    int slots = to.promised + (int) (to.given - seen);
    send(owner, new RelayWord.Free(relay.link.id, slots, seen, now()));
  }

  // ---- what owners say

  /** An owner says something; false where that is not for a gateway. */
  boolean heard(long from, RelayWord word) {
    switch (word) {
      case RelayWord.Give give -> given(from, give);
      case RelayWord.Leased(long link, long era, AttemptToken token, long length) -> {
        Relay relay = relays.get(link);
        Relayed each = relay != null ? take(relay, from, era, token) : null;
        if (relay != null && each != null) {
          each.leased = true;
          relay.link.stream.leased(token, length);
        }
      }
      case RelayWord.Mine(long link, long era, AttemptToken token) -> {
        Relay relay = relays.get(link);
        if (relay != null) {
          var unused = take(relay, from, era, token);
        }
      }
      case RelayWord.Stop(long link, AttemptToken token, Attempt.StopCause why) -> {
        Relay relay = relays.get(link);
        if (relay != null) {
          relay.link.stream.stop(token, why);
        }
      }
      case RelayWord.Told(long link, AttemptToken token, WorkerStream.Word said) -> {
        Relay relay = relays.get(link);
        if (relay != null) {
          Relayed known = relay.attempts.get(token.nonce());
          if (known != null && known.owner == from) {
            relay.attempts.remove(token.nonce());
          }
          relay.link.stream.told(token, said);
        }
      }
      case RelayWord.Saved(long link, long request, Outcome<Boolean> outcome) -> {
        Asked asked = saves.remove(request);
        if (asked != null) {
          asked.answer().accept(outcome);
        }
      }
      case RelayWord.Want(List<String> types, int count) -> {
        if (!status.isStopping()) {
          wants.put(from, new Want(types, count, now() + WANT_NANOS));
          turn();
        }
      }
      case RelayWord.Unknown(List<Long> unknown) -> {
        for (Long link : unknown) {
          Relay relay = relays.get(link);
          if (relay != null) {
            send(from, new RelayWord.Here(link, relay.link.hello));
          }
        }
      }
      case RelayWord.Withdraw(long link, AttemptToken token) -> withdraw(from, link, token);
      default -> {
        return false;
      }
    }
    return true;
  }

  /** The attempt is that owner's, whose words are not older than its life; null where they are. */
  private @Nullable Relayed take(Relay relay, long owner, long era, AttemptToken token) {
    if (!status.isSure() || status.heardUntil(owner, era) == null) {
      return null;
    }
    Relayed known = relay.attempts.get(token.nonce());
    if (known == null || known.owner != owner) {
      known = new Relayed(owner, token, era);
      known.accepted = true;
      relay.attempts.put(token.nonce(), known);
    }
    known.era = era;
    return known;
  }

  private void given(long from, RelayWord.Give give) {
    Relay relay = relays.get(give.link());
    if (relay == null) {
      return; // its owner hears that the connection is gone
    }
    WorkerLink link = relay.link;
    Attempt attempt = attempt(give.loan());
    AttemptToken token = attempt.token();
    Owner owner = relay.owners.computeIfAbsent(from, o -> new Owner());
    owner.given = Math.max(owner.given, give.number());
    if (owner.promised > 0) {
      owner.promised--;
      links.change(link, () -> link.promised--);
    }
    boolean current = give.gatewayEra() == status.era() && status.isSure();
    boolean heard = status.heardUntil(from, give.era()) != null;
    boolean fresh = now() - give.stamp() < FRESH_NANOS;
    if (!current || !heard || !fresh || link.room() == 0) {
      send(from, new RelayWord.Ended(link.id, token, new AttemptOutcome.Interrupted()));
      return;
    }
    Relayed each = new Relayed(from, token, give.era());
    each.number = give.number();
    each.type = attempt.type();
    each.startedMicros = env.wallMicros();
    each.policy = attempt.policy();
    relay.attempts.put(token.nonce(), each);
    links.change(link, () -> each.local = link.nextNumber());
    env.metrics().count("attempts.relayed", 1);
    link.stream.give(attempt, each.local);
  }

  private Attempt attempt(Loan loan) {
    return new Attempt(
        loan,
        JobSpec.decodeHead(loan.body()).type(),
        PolicyFormat.decode(loan.policy()),
        new Attempt.Borrowed(env.wallMicros(), null, null));
  }

  private void withdraw(long from, long link, AttemptToken token) {
    Relay relay = relays.get(link);
    Relayed each = relay != null ? relay.attempts.get(token.nonce()) : null;
    if (relay != null && each != null && each.owner == from) {
      move(relay, each);
    } else {
      send(from, new RelayWord.Withdrawn(link, token));
    }
  }
}
