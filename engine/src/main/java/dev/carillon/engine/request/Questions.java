package dev.carillon.engine.request;

import dev.carillon.engine.attempt.Attempts;
import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.life.JobLookup;
import dev.carillon.engine.life.LivePhases;
import dev.carillon.engine.life.Watchers;
import dev.carillon.engine.loan.Borrowing;
import dev.carillon.engine.member.Member;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.message.JobNews;
import dev.carillon.engine.message.JobStand;
import dev.carillon.engine.message.Message;
import dev.carillon.engine.message.Question;
import dev.carillon.engine.message.RunningJob;
import dev.carillon.engine.message.Wire;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.ShardId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Asks what nodes have in memory, this one among them, and answers those that ask. A question reads
 * and changes nothing; whoever asked gets the answers that came within its patience, and the names
 * of those that gave none.
 *
 * <p>Crash table: the node that asks dies: an answer lies on the wire until somebody deletes it. A
 * node that is asked dies, is fenced or hangs: it is named as silent. A question or an answer is
 * lost: the same. Nothing is asked twice.
 */
public final class Questions {
  private static final int MOST_UNDER_WAY = 1_000;

  private final NodeEnvironment env;
  private final Timers timers;
  private final String nodeId;
  private final Wire wire;
  private final Parts parts;
  private final Map<Long, Asked> underWay = new LinkedHashMap<>();
  private long numbers;

  /** The parts of a node that know what there is. */
  public record Parts(
      MemberStatus status,
      Shards shards,
      Attempts attempts,
      Borrowing borrowing,
      JobLookup lookup,
      Watchers watchers,
      Hindrances hindrances) {}

  /**
   * What nodes answered.
   *
   * @param of by the ids of the nodes, this one first
   * @param silent the ids of the nodes that gave no answer in time
   */
  public record Answers<T>(Map<String, T> of, List<String> silent) {}

  /**
   * The jobs whose handlers run on a node.
   *
   * @param jobs those that began first
   * @param all how many there are
   */
  public record Running(List<RunningJob> jobs, int all) {}

  /** A question under way: who has not answered. */
  private final class Asked {
    final Map<Long, String> missing = new LinkedHashMap<>();
    final Map<String, byte[]> answers = new LinkedHashMap<>();
    final Consumer<Asked> done;

    /** 0 until it is under way. */
    long number;

    Timers.@Nullable Timer limit;

    Asked(Consumer<Asked> done) {
      this.done = done;
    }

    <T> Answers<T> read(BiFunction<String, ByteReader, T> reader) {
      Map<String, T> of = new LinkedHashMap<>();
      answers.forEach((node, bytes) -> of.put(node, reader.apply(node, new ByteReader(bytes))));
      return new Answers<>(of, List.copyOf(missing.values()));
    }
  }

  Questions(Basics basics, Wire wire, Parts parts) {
    this.env = basics.env();
    this.timers = basics.timers();
    this.nodeId = basics.options().nodeId();
    this.wire = wire;
    this.parts = parts;
  }

  /** Questions that are not answered. */
  int underWay() {
    return underWay.size();
  }

  // ---- asking

  /**
   * Which handlers run now, on this node and on all others that run any.
   *
   * @param namespace of the jobs; null for all
   * @param most how many a node tells
   */
  public void running(
      @Nullable String namespace, int most, long patienceNanos, Consumer<Answers<Running>> answer) {
    ask(
        new Question.Running(namespace, most),
        Questions::runsHandlers,
        patienceNanos,
        asked -> answer.accept(asked.read((node, in) -> readRunning(in))));
  }

  /**
   * How live jobs of a shard stand on the node that has it.
   *
   * @param owner the incarnation that has the shard
   * @param number of the job; 0 for all
   * @param answer hears null where nobody answered who has the shard in memory
   */
  public void phases(
      ShardId shard,
      long owner,
      long number,
      long patienceNanos,
      Consumer<@Nullable LivePhases> answer) {
    if (parts.shards().known(shard) != null) {
      answer.accept(parts.lookup().livePhases(shard));
      return;
    }
    ask(
        new Question.Phases(shard, number),
        member -> member.incarnation() == owner,
        patienceNanos,
        asked -> answer.accept(onlyOne(asked)));
  }

  private @Nullable LivePhases onlyOne(Asked asked) {
    for (byte[] each : asked.answers.values()) {
      if (each.length > 0) {
        return LivePhases.read(new ByteReader(each), env.wallMicros());
      }
    }
    return null;
  }

  /**
   * How a job that has not ended stands on the node that has its shard.
   *
   * @param owner the incarnation that has the shard, as far as the store says; 0 for nobody
   * @param answer hears null where nobody answered
   */
  public void why(
      Question.Why question, long owner, long patienceNanos, Consumer<@Nullable JobStand> answer) {
    if (parts.shards().known(question.job().shard()) != null) {
      answer.accept(parts.hindrances().of(question));
      return;
    }
    ask(
        question,
        member -> member.incarnation() == owner,
        patienceNanos,
        asked ->
            answer.accept(
                asked.answers.isEmpty()
                    ? null
                    : JobStand.decode(asked.answers.values().iterator().next())));
  }

  /**
   * What happened to the jobs of the other nodes after the events that are known.
   *
   * @param known the last known event by the id of its node
   */
  public void news(
      Map<String, JobNews.Place> known, long patienceNanos, Consumer<Answers<JobNews>> done) {
    long own = parts.status().incarnation();
    if (parts.status().living().isEmpty()) {
      done.accept(new Answers<>(Map.of(), List.of()));
      return;
    }
    ask(
        member -> new Question.News(place(known, member)),
        member -> runsHandlers(member) && member.incarnation() != own,
        patienceNanos,
        asked -> done.accept(asked.read((node, in) -> JobNews.decode(in))));
  }

  private static JobNews.Place place(Map<String, JobNews.Place> known, @Nullable Member member) {
    return member == null
        ? JobNews.Place.NONE
        : known.getOrDefault(name(member), JobNews.Place.NONE);
  }

  /**
   * What nodes measured of late, this one among them.
   *
   * @param ring which of their rings
   * @param known the last known interval by the id of its node
   */
  public void past(
      int ring, Map<String, Long> known, long patienceNanos, Consumer<Answers<byte[]>> done) {
    ask(
        member ->
            new Question.Past(ring, known.getOrDefault(member == null ? nodeId : name(member), 0L)),
        Questions::runsHandlers,
        patienceNanos,
        asked -> done.accept(new Answers<>(asked.answers, List.copyOf(asked.missing.values()))));
  }

  /** Which shards nodes have, this one among them, counted by the time of their jobs. */
  public void shards(long patienceNanos, Consumer<Answers<List<ShardCounts.Row>>> done) {
    ask(
        new Question.Shards(),
        member -> true,
        patienceNanos,
        asked -> done.accept(asked.read((node, in) -> ShardCounts.decode(in))));
  }

  /** Which due jobs do not run, on this node and on all others, counted by what keeps them. */
  public void waiting(
      Question.Waiting question, long patienceNanos, Consumer<Answers<List<WaitCounts.Row>>> done) {
    ask(
        question,
        Questions::runsHandlers,
        patienceNanos,
        asked -> done.accept(asked.read((node, in) -> WaitCounts.decode(in))));
  }

  /** Whether a node of that incarnation is there, as far as this one knows. */
  public boolean isThere(long incarnation) {
    return parts.status().isThere(incarnation);
  }

  /** The id of the node of an incarnation; empty where it is not known. */
  public String nodeId(long incarnation) {
    return parts.status().nodeId(incarnation);
  }

  private static boolean runsHandlers(Member member) {
    return !member.traits().contains(Member.Trait.CLIENT);
  }

  private void ask(
      Question question, Predicate<Member> whom, long patienceNanos, Consumer<Asked> done) {
    ask(member -> question, whom, patienceNanos, done);
  }

  /** Asks each node what it is to be asked: this one too, also where it knows no others yet. */
  private void ask(
      Function<@Nullable Member, Question> question,
      Predicate<Member> whom,
      long patienceNanos,
      Consumer<Asked> done) {
    Asked asked = new Asked(done);
    List<Member> living = parts.status().living();
    long own = parts.status().incarnation();
    boolean full = underWay.size() >= MOST_UNDER_WAY;
    boolean here = living.isEmpty();
    List<Member> others = new ArrayList<>();
    for (Member member : living) {
      if (whom.test(member) && member.incarnation() == own) {
        here = true;
      } else if (whom.test(member)) {
        others.add(member);
        asked.missing.put(member.incarnation(), name(member));
      }
    }
    if (here) {
      asked.missing.put(own, nodeId);
      answer(question.apply(null), bytes -> own(asked, own, bytes));
    }
    if (asked.missing.isEmpty() || full) {
      done.accept(asked);
      return;
    }
    long number = ++numbers;
    asked.number = number;
    underWay.put(number, asked);
    for (Member member : others) {
      Message.Asked message = new Message.Asked(number, question.apply(member));
      wire.send(member.incarnation(), Message.encode(message));
    }
    asked.limit = timers.at(env.monotonicNanos() + patienceNanos, () -> settle(number));
  }

  /** This node's answer stands before those of the others. */
  private void own(Asked asked, long own, byte[] bytes) {
    if (asked.missing.remove(own) == null) {
      return; // too late
    }
    Map<String, byte[]> others = new LinkedHashMap<>(asked.answers);
    asked.answers.clear();
    asked.answers.put(nodeId, bytes);
    asked.answers.putAll(others);
    if (asked.missing.isEmpty() && asked.number != 0) {
      settle(asked.number);
    }
  }

  private static String name(Member member) {
    return member.nodeId().isEmpty()
        ? Long.toHexString(member.incarnation()) // its record is of a later version
        : member.nodeId();
  }

  private void settle(long number) {
    Asked asked = underWay.remove(number);
    if (asked != null) {
      timers.cancel(asked.limit);
      asked.done.accept(asked);
    }
  }

  /** Another node answers; false where the answer comes too late. */
  boolean told(long from, long number, byte[] answer) {
    Asked asked = underWay.get(number);
    String node = asked != null ? asked.missing.remove(from) : null;
    if (asked == null || node == null) {
      return false;
    }
    asked.answers.put(node, answer);
    if (asked.missing.isEmpty()) {
      settle(number);
    }
    return true;
  }

  // ---- answering

  /** Another node asks. */
  void asked(long from, long number, Question question) {
    answer(question, answer -> wire.send(from, Message.encode(new Message.Told(number, answer))));
  }

  private void answer(Question question, Consumer<byte[]> answer) {
    switch (question) {
      case Question.Running(String namespace, int most) -> answer.accept(running(namespace, most));
      case Question.Phases(ShardId shard, long number) -> answer.accept(phases(shard, number));
      case Question.Why why -> answer.accept(parts.hindrances().of(why).encode());
      case Question.News(JobNews.Place known) ->
          answer.accept(parts.watchers().news().after(known).encode());
      case Question.Past(int ring, long after) -> answer.accept(env.past(ring, after));
      case Question.Shards all -> answer.accept(ShardCounts.of(parts.shards().all()));
      case Question.Waiting waiting ->
          new WaitCounts(
                  env, timers, parts.status(), parts.hindrances().dispatch(), waiting, answer)
              .of(parts.shards().all());
    }
  }

  private byte[] running(@Nullable String namespace, int most) {
    List<RunningJob> all = new ArrayList<>();
    Consumer<RunningJob> one =
        job -> {
          if (namespace == null || namespace.equals(job.namespace())) {
            all.add(job);
          }
        };
    parts.attempts().eachRunning(one);
    parts.borrowing().eachRunning(one);
    all.sort(Comparator.comparingLong(RunningJob::startedMicros));
    int shown = Math.clamp(most, 0, Math.min(all.size(), Question.MOST_ITEMS));
    ByteWriter out = new ByteWriter(16 + 64 * shown).varint(all.size()).varint(shown);
    all.subList(0, shown).forEach(job -> job.write(out));
    return out.toBytes();
  }

  private static Running readRunning(ByteReader in) {
    int all = (int) in.varint();
    List<RunningJob> jobs = new ArrayList<>();
    for (long left = in.varint(); left > 0; left--) {
      jobs.add(RunningJob.read(in));
    }
    return new Running(List.copyOf(jobs), all);
  }

  private byte[] phases(ShardId shard, long number) {
    if (parts.shards().known(shard) == null) {
      return new byte[0];
    }
    ByteWriter out = new ByteWriter(256);
    parts.lookup().livePhases(shard, number).write(out, Question.MOST_ITEMS);
    return out.toBytes();
  }
}
