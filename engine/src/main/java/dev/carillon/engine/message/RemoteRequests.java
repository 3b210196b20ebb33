package dev.carillon.engine.message;

import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.commit.StoreCalls;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Records.Stored;
import dev.carillon.store.ShardId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Requests between nodes (request/reply). A request is a record addressed to a shard: whichever
 * node has the shard serves it and writes the answer into it; its sender reads that and deletes it.
 * Where the store carries notifications both get one, and they poll as well.
 *
 * <pre>
 * key      "x\0" shard "\0" sender's incarnation "." number
 * value    byte 1, byte state: 1 asked, 2 begun, 3 answered, 4 taken back; string copy of the store
 *          in which it was asked; begun: long by whom; then the request or the answer
 * </pre>
 *
 * <p>Crash table: the sender dies: nobody waits, and whoever sees the request deletes it. The
 * server dies before it answered: what does no harm twice is done again by the next owner of the
 * shard; of anything else it was said before that it had begun, so its sender hears that the
 * outcome is not known. The shard has no owner any more, or came to the sender: it takes its
 * request back and does it itself, with a claim where that is needed. The sender was taken for dead
 * and its request deleted: as if the server had died. An older copy of the store is put back, with
 * a request that was served or taken back since: it was asked in another copy, and is deleted.
 */
public final class RemoteRequests {
  private static final String PREFIX = "x\0";
  private static final int VERSION = 1;
  private static final int ASKED = 1;
  private static final int BEGUN = 2;
  private static final int ANSWERED = 3;
  private static final int TAKEN_BACK = 4;
  private static final int PAGE = 500;
  private static final int MOST_READ = 10_000;

  /** Requests of this node that may be under way. */
  private static final int MOST_SENT = 1_000;

  /** What a request may have; records are small. */
  static final int MOST_BYTES = 60 << 10;

  private static final long POLL_NANOS = 100_000_000;

  /** Shards come many at a time. */
  private static final long CLAIMED_NANOS = 10_000_000;

  private static final long IDLE_POLL_NANOS = 500_000_000;

  /** After so long a request has perhaps no node that knows that it is to serve it. */
  private static final long WONDER_NANOS = 5_000_000_000L;

  /** The part of the time a request has been under way that its answer may lie unseen. */
  private static final int LATER_PART = 4;

  /** For what those left behind who have died. */
  private static final long ALONE_POLL_NANOS = 5_000_000_000L;

  /**
   * The shortest and longest time from one look whether a request's shard has an owner to another.
   */
  private static final long SHORTEST_LOOK_NANOS = 100_000_000;

  private static final long LONGEST_LOOK_NANOS = 1_000_000_000;

  /** After so long a request is taken back. */
  private static final long PATIENCE_NANOS = 60_000_000_000L;

  private final NodeEnvironment env;
  private final Timers timers;
  private final RecordChanges records;
  private final Notifications notifications;
  private final long incarnation;
  private final MemberStatus status;
  private final Shards shards;
  private final Host host;
  private final LinkedHashMap<String, Sent> sent = new LinkedHashMap<>();
  private final Set<String> inService = new LinkedHashSet<>();
  private final Set<ShardId> lookingAt = new LinkedHashSet<>();

  /** Requests that this node does not serve, and since when it has not looked why nobody does. */
  private final Map<String, Long> unserved = new LinkedHashMap<>();

  private Timers.@Nullable Timer next;
  private boolean polling;
  private boolean pollAgain;
  private boolean over;
  private long number;

  /** The node, as far as requests need it. */
  public interface Host {
    /** Has another node send it, where this one owns nothing; false where it does itself. */
    boolean forwards(RemoteRequest request, Consumer<Outcome<byte[]>> answer);

    /** Does what the request asks; unavailable means that nothing was done. */
    void serve(RemoteRequest request, Consumer<Outcome<byte[]>> answer);
  }

  private static final class Sent {
    final String key;
    final String copy;
    final RemoteRequest request;
    final Consumer<Outcome<byte[]>> answer;
    final Runnable again;
    final long sinceNanos;
    Stamp version;
    boolean there;
    boolean takingBack;
    long lookedNanos;

    Sent(
        String key,
        String copy,
        RemoteRequest request,
        Consumer<Outcome<byte[]>> answer,
        Runnable again,
        long sinceNanos) {
      this.key = key;
      this.copy = copy;
      this.request = request;
      this.answer = answer;
      this.again = again;
      this.sinceNanos = sinceNanos;
      this.lookedNanos = sinceNanos;
      this.version = Stamp.ABSENT;
    }
  }

  /** A request as it lies in the store. */
  private record StoredRequest(
      String key,
      Stamp version,
      ShardId shard,
      long sender,
      int state,
      String copy,
      ByteReader rest) {

    static long sender(String key) {
      int from = PREFIX.length() + ShardId.TEXT_LENGTH + 1;
      return Long.parseUnsignedLong(key.substring(from, key.indexOf('.', from)), 16);
    }

    static StoredRequest read(Stored record) {
      String key = record.key();
      int at = PREFIX.length();
      ShardId shard = ShardId.parse(key.substring(at, at + ShardId.TEXT_LENGTH));
      ByteReader in = new ByteReader(record.value());
      in.requireVersion("request", VERSION);
      return new StoredRequest(key, record.version(), shard, sender(key), in.u8(), in.string(), in);
    }
  }

  public RemoteRequests(
      Basics basics, Notifications notifications, MemberStatus status, Shards shards, Host host) {
    this.env = basics.env();
    this.timers = basics.timers();
    this.records = basics.records();
    this.notifications = notifications;
    this.incarnation = status.incarnation();
    this.status = status;
    this.shards = shards;
    this.host = host;
  }

  /** Whether this node has the shard. */
  private boolean has(ShardId shard) {
    Shard known = shards.known(shard);
    return known != null && known.owned() && status.isProven();
  }

  /** The channel of notifications that a request or an answer lies there for that incarnation. */
  public static String channel(long incarnation) {
    return "requests " + Long.toHexString(incarnation);
  }

  /** Begins to look for requests. */
  public void start() {
    pollIn(IDLE_POLL_NANOS);
  }

  /** Looks for no more. */
  public void stop() {
    over = true;
  }

  // ---- sending

  /**
   * Asks whoever has the shard of the request's job.
   *
   * @param head that of the shard; its owner is notified
   * @param again runs in the place of {@code answer} where nobody has it any more, and nothing was
   *     done
   */
  public void send(
      Head head, RemoteRequest request, Consumer<Outcome<byte[]>> answer, Runnable again) {
    if (host.forwards(request, answer)) {
      return;
    }
    String copy = status.copy();
    if (copy == null) {
      timers.at(env.monotonicNanos() + POLL_NANOS, again);
      return;
    }
    byte[] value = value(ASKED, copy, RemoteRequestFormat.encode(request));
    if (sent.size() >= MOST_SENT || value.length > MOST_BYTES) {
      answer.accept(
          new Outcome.Unavailable<>(
              sent.size() >= MOST_SENT
                  ? "requests to other nodes: " + MOST_SENT + " are under way already"
                  : "request to another node: "
                      + value.length
                      + " bytes (expected: at most "
                      + MOST_BYTES
                      + ")"));
      return;
    }
    Sent one = new Sent(key(request), copy, request, answer, again, env.monotonicNanos());
    sent.put(one.key, one);
    one.version =
        records.put(
            one.key,
            Stamp.ABSENT,
            value,
            inEffect -> {
              // Where it is not, it may have been begun or answered meanwhile: a look shows it.
              one.there = true;
              pollIn(inEffect ? POLL_NANOS : 0);
              sendNotification(head.owner());
            },
            why -> {
              sent.remove(one.key);
              answer.accept(new Outcome.Full<>(why));
            });
  }

  private void sendNotification(long to) {
    notifications.send(channel(to));
  }

  private String key(RemoteRequest request) {
    return PREFIX
        + request.job().shard()
        + '\0'
        + Long.toHexString(incarnation)
        + '.'
        + Long.toHexString(0x1000_0000_0000_0000L + ++number); // in order, as text too
  }

  private static byte[] value(int state, String copy, byte[] rest) {
    return new ByteWriter(64 + rest.length).u8(VERSION).u8(state).string(copy).raw(rest).toBytes();
  }

  // ---- looking

  /** A notification came: there is a request or an answer. */
  public void notified() {
    pollIn(0);
  }

  /**
   * A shard came to this node: requests to it may lie there, and their senders notified another.
   */
  public void claimed() {
    if (status.hasPeers()) {
      pollIn(CLAIMED_NANOS);
    }
  }

  private void pollIn(long nanos) {
    long at = env.monotonicNanos() + nanos;
    if (next != null && !next.isAfter(at)) {
      return;
    }
    timers.cancel(next);
    next = timers.at(at, this::poll);
  }

  private void poll() {
    if (over) {
      return;
    }
    if (polling) {
      pollAgain = true;
      return;
    }
    polling = true;
    env.submit(
        NodeEnvironment.Channel.RECORDS,
        store -> StoreCalls.list(store, PREFIX, PAGE, MOST_READ),
        outcome -> {
          polling = false;
          try {
            if (outcome instanceof Outcome.Ok<List<Stored>>(List<Stored> requests)) {
              found(requests);
            }
          } catch (RuntimeException e) {
            env.report("what requests say could not be acted on", e);
          }
          pollIn(pollAgain ? 0 : nanosToNext());
          pollAgain = false;
        });
  }

  /**
   * An answer is looked for as soon as it may be there. The longer it has not come, the less a
   * moment more counts: it is found after a quarter more of its time at most.
   */
  private long nanosToNext() {
    if (!sent.isEmpty()) {
      long age = env.monotonicNanos() - sent.lastEntry().getValue().sinceNanos;
      return Math.clamp(age / LATER_PART, POLL_NANOS, IDLE_POLL_NANOS);
    }
    return status.hasPeers() ? IDLE_POLL_NANOS : ALONE_POLL_NANOS;
  }

  private void found(List<Stored> requests) {
    Set<String> seen = LinkedHashSet.newLinkedHashSet(requests.size());
    for (Stored record : requests) {
      seen.add(record.key());
      try {
        if (!deletedAsOfTheDead(record)) {
          found(StoredRequest.read(record));
        }
      } catch (RuntimeException e) {
        env.report("a request could not be read or served: " + e.getMessage(), e);
      }
    }
    unserved.keySet().retainAll(seen);
    if (sent.isEmpty()) {
      return;
    }
    if (requests.size() < MOST_READ) {
      sent.values().stream()
          .filter(one -> one.there && !one.takingBack && !seen.contains(one.key))
          .toList()
          .forEach(this::deletedByOthers);
    }
    lookAfterSent();
  }

  /** Nobody waits for what a dead node asked, in whatever version that is written. */
  private boolean deletedAsOfTheDead(Stored record) {
    long sender = StoredRequest.sender(record.key());
    boolean dead = sender != incarnation && status.isDead(sender);
    if (dead && !inService.contains(record.key())) {
      delete(record.key(), record.version());
    }
    return dead;
  }

  private void found(StoredRequest request) {
    if (request.sender() == incarnation) {
      Sent one = sent.get(request.key());
      if (one != null && request.state() == ANSWERED) {
        answered(one, request, RemoteRequestFormat.decodeAnswer(request.rest()));
      } else if (isOfAnotherCopy(request)) {
        delete(request.key(), request.version());
        if (one != null) {
          deletedByOthers(one);
        }
      } else if (one != null && request.state() == BEGUN && status.isDead(request.rest().i64())) {
        answered(one, request, new Outcome.Unknown<>("the node that had begun is gone"));
      } else if (one != null && request.state() == ASKED) {
        one.version = request.version(); // another than its first where one had begun and could not
        if (has(request.shard())) {
          takeBack(one, one.again); // the shard has come to this node itself
        }
      }
    } else if (!has(request.shard())) {
      wonder(request);
    } else if (!inService.contains(request.key())) {
      if (isOfAnotherCopy(request)) {
        delete(request.key(), request.version());
      } else {
        serve(request);
      }
    }
  }

  /**
   * What became of it in the copy before is not known; its sender knows that, or hears it. Where
   * this node does not know yet that there is another copy the store refuses to delete it.
   */
  private boolean isOfAnotherCopy(StoredRequest request) {
    String copy = status.copy();
    return copy != null && !request.copy().equals(copy);
  }

  /** Whose shard is this, if nobody serves the request? */
  private void wonder(StoredRequest request) {
    long now = env.monotonicNanos();
    Long since = unserved.putIfAbsent(request.key(), now);
    if (since != null && now - since >= WONDER_NANOS) {
      unserved.put(request.key(), now);
      shards.claims.takeUpIfOwn(request.shard());
    }
  }

  private void answered(Sent one, StoredRequest request, Outcome<byte[]> outcome) {
    sent.remove(one.key);
    delete(request.key(), request.version());
    one.answer.accept(outcome);
  }

  private void delete(String key, Stamp version) {
    records.change(key, version, null, inEffect -> {});
  }

  /** Its node was taken for dead meanwhile. */
  private void deletedByOthers(Sent one) {
    sent.remove(one.key);
    if (one.request.isRepeatable()) {
      one.again.run();
    } else {
      one.answer.accept(new Outcome.Unknown<>("the node that was asked may have done it"));
    }
  }

  /** Nobody may be there to serve them. */
  private void lookAfterSent() {
    long now = env.monotonicNanos();
    Map<ShardId, List<Sent>> unsure = new LinkedHashMap<>();
    for (Sent one : List.copyOf(sent.values())) {
      long age = now - one.sinceNanos;
      long every = Math.clamp(age / 2, SHORTEST_LOOK_NANOS, LONGEST_LOOK_NANOS);
      if (!one.there || one.takingBack || now - one.lookedNanos < every) {
        continue;
      }
      one.lookedNanos = now;
      if (age >= PATIENCE_NANOS) {
        takeBack(
            one,
            () ->
                one.answer.accept(
                    new Outcome.Unavailable<>("the node that has the job's shard did not answer")));
      } else {
        unsure.computeIfAbsent(one.request.job().shard(), shard -> new ArrayList<>()).add(one);
      }
    }
    unsure.forEach(this::lookAt);
  }

  private void lookAt(ShardId shard, List<Sent> requests) {
    if (!lookingAt.add(shard)) {
      return;
    }
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> store.journals().head(shard),
        outcome -> {
          lookingAt.remove(shard);
          boolean gone = outcome instanceof Outcome.Fenced<Head>;
          Head free =
              outcome instanceof Outcome.Ok<Head>(Head head) && !shards.claims.isForOthers(head)
                  ? head
                  : null;
          boolean goes = free != null && shards.claims.isAboutToGo(free);
          for (Sent one : requests) {
            boolean tooLong = env.monotonicNanos() - one.sinceNanos >= LONGEST_LOOK_NANOS;
            if (gone || (free != null && (!goes || tooLong))) {
              takeBack(one, one.again);
            }
          }
        });
  }

  /**
   * Where nobody has begun with it. A delete whose outcome is not known looks as if it were in
   * effect as soon as somebody else has changed the record; so this is written, and deleted then.
   */
  private void takeBack(Sent one, Runnable then) {
    if (one.takingBack || !sent.containsKey(one.key)) {
      return;
    }
    one.takingBack = true;
    Stamp[] version = new Stamp[1];
    version[0] =
        records.change(
            one.key,
            one.version,
            value(TAKEN_BACK, one.copy, new byte[0]),
            inEffect -> takenBack(one, inEffect ? version[0] : null, then));
  }

  private void takenBack(Sent one, @Nullable Stamp version, Runnable then) {
    one.takingBack = false;
    if (!sent.containsKey(one.key)) {
      return; // it was answered
    }
    if (version != null) {
      sent.remove(one.key);
      delete(one.key, version);
      then.run();
    } else if (env.monotonicNanos() - one.sinceNanos >= 2 * PATIENCE_NANOS) {
      sent.remove(one.key);
      one.answer.accept(new Outcome.Unknown<>("the node that was asked did not answer"));
    }
  }

  // ---- serving

  private void serve(StoredRequest stored) {
    if (stored.state() == BEGUN) {
      long by = stored.rest().i64();
      if (by != incarnation && status.isDead(by)) {
        inService.add(stored.key());
        reply(stored, stored.version(), new Outcome.Unknown<>("the node that had begun is gone"));
      }
      return;
    }
    if (stored.state() != ASKED) {
      return;
    }
    byte[] asked = stored.rest().rest();
    RemoteRequest request = RemoteRequestFormat.decode(asked);
    inService.add(stored.key());
    if (request.isRepeatable()) {
      serve(request, outcome -> served(stored, stored.version(), asked, true, outcome));
      return;
    }
    byte[] begun = new ByteWriter(8 + asked.length).i64(incarnation).raw(asked).toBytes();
    Stamp[] version = new Stamp[1];
    version[0] =
        records.change(
            stored.key(),
            stored.version(),
            value(BEGUN, stored.copy(), begun),
            inEffect -> {
              if (inEffect) {
                serve(request, outcome -> served(stored, version[0], asked, false, outcome));
              } else {
                inService.remove(stored.key()); // taken back
              }
            });
  }

  /** Something that this version cannot make sense of, a zone say, is answered too. */
  private void serve(RemoteRequest request, Consumer<Outcome<byte[]>> answer) {
    try {
      host.serve(request, answer);
    } catch (RuntimeException e) {
      env.report("a request of another node could not be served", e);
      answer.accept(new Outcome.Damaged<>(e.getMessage() + ""));
    }
  }

  private void served(
      StoredRequest stored,
      Stamp version,
      byte[] asked,
      boolean repeatable,
      Outcome<byte[]> outcome) {
    String key = stored.key();
    if (!(outcome instanceof Outcome.Unavailable<byte[]>)) {
      reply(stored, version, outcome);
    } else if (repeatable) {
      inService.remove(key); // nothing was done: whoever has the shard does it
    } else {
      byte[] again = value(ASKED, stored.copy(), asked);
      records.change(key, version, again, inEffect -> inService.remove(key));
    }
  }

  private void reply(StoredRequest stored, Stamp version, Outcome<byte[]> outcome) {
    byte[] answer = RemoteRequestFormat.encode(outcome);
    records.change(
        stored.key(),
        version,
        value(ANSWERED, stored.copy(), answer),
        inEffect -> {
          inService.remove(stored.key());
          sendNotification(stored.sender());
        });
  }
}
