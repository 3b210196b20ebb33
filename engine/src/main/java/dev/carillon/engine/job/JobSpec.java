package dev.carillon.engine.job;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.store.Records.Stamp;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What was asked for, as the body of {@link Kind#ADD} holds it.
 *
 * <pre>
 * flags     byte  {@link #NAMED} …
 * due       long  microseconds since 1970
 * accepted  long  microseconds since 1970
 * priority  byte
 * stamp     long, long                 if NAMED or KEYED: version of the name's record
 * type      string, varint version
 * lane      string, string             if LANE: namespace and queue, else both "default"
 * name      string                     if NAMED
 * key       string                     if KEYED
 * metadata  varint, string pairs       if METADATA
 * timeout   varint                     if TIMEOUT, microseconds
 * deadline  long                       if DEADLINE, microseconds since 1970
 * more      {@link OptionalSpec}               if MORE
 * payload   the rest
 * </pre>
 *
 * @param timeoutMicros of one attempt, 0 for none
 * @param deadlineMicros of the whole job, 0 for none
 * @param more what few jobs have
 */
public record JobSpec(
    long dueMicros,
    long acceptedMicros,
    int priority,
    Stamp stamp,
    String type,
    int typeVersion,
    String namespace,
    String queue,
    @Nullable String name,
    @Nullable String key,
    Map<String, String> metadata,
    long timeoutMicros,
    long deadlineMicros,
    OptionalSpec more,
    byte[] payload) {

  public static final int NAMED = 1;
  public static final int KEYED = 2;
  public static final int METADATA = 4;
  public static final int TIMEOUT = 8;
  public static final int DEADLINE = 16;
  static final int LANE = 32;
  public static final int MORE = 64;

  /** In the place of the payload stands, as a long, the number of a {@link Kind#PAYLOAD}. */
  private static final int SHARED = 128;

  public static final String DEFAULT = "default";

  private static final byte[] NO_PAYLOAD = {};
  private static final int ACCEPTED_OFFSET = 9;
  private static final int STAMP_OFFSET = 18;

  /** The body. */
  public byte[] encode() {
    ByteWriter out = new ByteWriter(bytesWithoutExtras() + payload.length);
    out.u8(flags()).i64(dueMicros).i64(acceptedMicros).u8(priority);
    if (name != null || key != null) {
      out.i64(stamp.writer()).i64(stamp.sequence());
    }
    out.string(type).varint(typeVersion);
    if (hasLane()) {
      out.string(namespace).string(queue);
    }
    if (name != null) {
      out.string(name);
    }
    if (key != null) {
      out.string(key);
    }
    if (!metadata.isEmpty()) {
      out.varint(metadata.size());
      metadata.forEach((k, v) -> out.string(k).string(v));
    }
    if (timeoutMicros != 0) {
      out.varint(timeoutMicros);
    }
    if (deadlineMicros != 0) {
      out.i64(deadlineMicros);
    }
    if (!more.isNone()) {
      more.write(out);
    }
    return out.raw(payload).toBytes();
  }

  /** Exact for a job that asks for nothing special, so that its body is made in one array. */
  private int bytesWithoutExtras() {
    int head = STAMP_OFFSET + ByteWriter.varintBytes(type.length()) + type.length();
    boolean plain = flags() == 0;
    return head + ByteWriter.varintBytes(typeVersion) + (plain ? 0 : 64);
  }

  private boolean hasLane() {
    return !namespace.equals(DEFAULT) || !queue.equals(DEFAULT);
  }

  private int flags() {
    return (name != null ? NAMED : 0)
        | (key != null ? KEYED : 0)
        | (metadata.isEmpty() ? 0 : METADATA)
        | (timeoutMicros != 0 ? TIMEOUT : 0)
        | (deadlineMicros != 0 ? DEADLINE : 0)
        | (hasLane() ? LANE : 0)
        | (more.isNone() ? 0 : MORE);
  }

  public static JobSpec decode(byte[] body) {
    return decode(body, Words.NONE, Depth.ALL);
  }

  /** Words that a decoded spec shares with the jobs beside it; null for a word of its own. */
  public record Words(@Nullable String type, @Nullable String namespace, @Nullable String queue) {
    private static final Words NONE = new Words(null, null, null);
  }

  /** The same where its type, namespace and queue are at hand. */
  public static JobSpec decode(byte[] body, Words known) {
    return decode(body, known, Depth.ALL);
  }

  private static JobSpec decode(byte[] body, Words known, Depth depth) {
    return decode(new ByteReader(body), known, depth);
  }

  /** How much of a spec is decoded; the rest is left empty. */
  private enum Depth {
    /** All but the payload and the lists of other jobs, which may be long. */
    FACTS,
    /** All but the payload. */
    HEAD,
    ALL
  }

  /** All but the payload, which is left empty. */
  public static JobSpec decodeHead(byte[] body) {
    return decode(body, Words.NONE, Depth.HEAD);
  }

  /** All but the payload and the lists of other jobs: its cost has a bound. */
  public static JobSpec decodeFacts(byte[] body) {
    return decode(body, Words.NONE, Depth.FACTS);
  }

  /** Where the payload begins in an encoded spec. */
  public static int payloadOffset(byte[] body) {
    ByteReader in = new ByteReader(body);
    var unused = decode(in, Words.NONE, Depth.HEAD);
    return body.length - in.remaining();
  }

  private static JobSpec decode(ByteReader in, Words known, Depth depth) {
    int flags = in.u8();
    long due = in.i64();
    long accepted = in.i64();
    int priority = in.i8();
    Stamp stamp = (flags & (NAMED | KEYED)) != 0 ? new Stamp(in.i64(), in.i64()) : Stamp.ABSENT;
    String type = in.string(known.type);
    int typeVersion = (int) in.varint();
    boolean lane = (flags & LANE) != 0;
    String namespace = lane ? in.string(known.namespace) : DEFAULT;
    String queue = lane ? in.string(known.queue) : DEFAULT;
    String name = (flags & NAMED) != 0 ? in.string() : null;
    String key = (flags & KEYED) != 0 ? in.string() : null;
    Map<String, String> metadata = (flags & METADATA) != 0 ? readMetadata(in) : Map.of();
    long timeout = (flags & TIMEOUT) != 0 ? in.varint() : 0;
    long deadline = (flags & DEADLINE) != 0 ? in.i64() : 0;
    OptionalSpec more =
        (flags & MORE) != 0 ? OptionalSpec.read(in, depth != Depth.FACTS) : OptionalSpec.NONE;
    return new JobSpec(
        due,
        accepted,
        priority,
        stamp,
        type,
        typeVersion,
        namespace,
        queue,
        name,
        key,
        metadata,
        timeout,
        deadline,
        more,
        depth == Depth.ALL ? in.rest() : NO_PAYLOAD);
  }

  private static Map<String, String> readMetadata(ByteReader in) {
    int size = (int) in.varint();
    Map<String, String> metadata = new LinkedHashMap<>();
    for (int i = 0; i < size; i++) {
      metadata.put(in.string(), in.string());
    }
    return metadata;
  }

  /**
   * The spec of one occurrence of this recurring job, as a job of its own, encoded; without a
   * payload if this has none.
   *
   * @param currentPriority that of the recurring job now
   */
  public byte[] occurrence(
      OccurrenceSpec occurrence, long occurrenceDue, long acceptedAt, int currentPriority) {
    return new JobSpec(
            occurrenceDue,
            acceptedAt,
            currentPriority,
            Stamp.ABSENT,
            type,
            typeVersion,
            namespace,
            queue,
            null,
            null,
            metadata,
            timeoutMicros,
            0,
            more.as(occurrence),
            payload)
        .encode();
  }

  /**
   * What a replay of this dead letter runs: without name, key and deadline, due now. A ticket
   * stays: it is the job's id.
   */
  public JobSpec replayed(long nowMicros, int newVersion, byte @Nullable [] newPayload) {
    boolean ticket = name == null && Ticket.is(key);
    return new JobSpec(
        nowMicros,
        nowMicros,
        priority,
        ticket ? stamp : Stamp.ABSENT,
        type,
        newPayload != null ? newVersion : typeVersion,
        namespace,
        queue,
        null,
        ticket ? key : null,
        metadata,
        timeoutMicros,
        0,
        more.as(more.occurrence()),
        newPayload != null ? newPayload : payload);
  }

  /** This recurring job as it is when it is declared again: its name and times stay. */
  public JobSpec updated(JobSpec asked) {
    OptionalSpec.Recurring mine = more.recurring();
    OptionalSpec.Recurring its = asked.more.recurring();
    if (mine == null || its == null) {
      throw new IllegalArgumentException("recurring: null (expected: two recurring jobs)");
    }
    OptionalSpec together =
        new OptionalSpec(
            new OptionalSpec.Recurring(mine.firstMicros(), its.schedule()),
            asked.more.policy(),
            null,
            asked.more.concurrency(),
            more.after(),
            more.waiters());
    return new JobSpec(
        dueMicros,
        acceptedMicros,
        asked.priority,
        stamp,
        type,
        asked.typeVersion,
        namespace,
        asked.queue,
        name,
        key,
        asked.metadata,
        asked.timeoutMicros,
        asked.deadlineMicros,
        together,
        asked.payload);
  }

  /** The same with another schedule. */
  public JobSpec withSchedule(byte[] schedule) {
    OptionalSpec.Recurring recurring = more.recurring();
    long first = recurring != null ? recurring.firstMicros() : dueMicros;
    return withMore(more.with(new OptionalSpec.Recurring(first, schedule)));
  }

  /** The same with a ticket for its key. */
  public JobSpec withTicket(String ticket) {
    return new JobSpec(
        dueMicros,
        acceptedMicros,
        priority,
        stamp,
        type,
        typeVersion,
        namespace,
        queue,
        null,
        ticket,
        metadata,
        timeoutMicros,
        deadlineMicros,
        more,
        payload);
  }

  /** The same with another payload, written in that version of its type. */
  public JobSpec withPayload(byte[] other, int version) {
    return with(more, other, version);
  }

  public JobSpec withMore(OptionalSpec newMore) {
    return with(newMore, payload, typeVersion);
  }

  private JobSpec with(OptionalSpec newMore, byte[] newPayload, int newVersion) {
    return new JobSpec(
        dueMicros,
        acceptedMicros,
        priority,
        stamp,
        type,
        newVersion,
        namespace,
        queue,
        name,
        key,
        metadata,
        timeoutMicros,
        deadlineMicros,
        newMore,
        newPayload);
  }

  public static int flags(byte[] body) {
    return body[0] & ~SHARED;
  }

  /** The same without a payload of its own: its payload is the one of this number. */
  public static byte[] sharing(byte[] head, long payload) {
    byte[] body = Arrays.copyOf(head, head.length + Long.BYTES);
    body[0] = (byte) (body[0] | SHARED);
    Frame.LONG.set(body, head.length, payload);
    return body;
  }

  /** The number of its payload; 0 where it has its own. */
  public static long sharedPayload(byte[] body) {
    return (body[0] & SHARED) == 0 ? 0 : (long) Frame.LONG.get(body, body.length - Long.BYTES);
  }

  /** What {@link #sharing} was made of. */
  public static byte[] withoutShared(byte[] body) {
    byte[] head = Arrays.copyOf(body, body.length - Long.BYTES);
    head[0] = (byte) (head[0] & ~SHARED);
    return head;
  }

  /** Writes into an encoded body when its job was accepted. */
  public static void setAccepted(byte[] body, long micros) {
    Frame.LONG.set(body, ACCEPTED_OFFSET, micros);
  }

  /** The same for the frame of an ADD that is about to be written. */
  public static void setAccepted(Frame add, long micros) {
    if (add.kind() != Kind.ADD) {
      return; // it stands behind an operation as adds do
    }
    add.set(ACCEPTED_OFFSET, micros);
  }

  /** Writes into an encoded body the version that its name's record will have. */
  public static void setStamp(byte[] body, Stamp stamp) {
    Frame.LONG.set(body, STAMP_OFFSET, stamp.writer());
    Frame.LONG.set(body, STAMP_OFFSET + 8, stamp.sequence());
  }
}
