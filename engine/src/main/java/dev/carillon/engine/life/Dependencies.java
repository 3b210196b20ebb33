package dev.carillon.engine.life;

import dev.carillon.api.JobState;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.Operation;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.fold.Awaited;
import dev.carillon.engine.fold.FoldedJob;
import dev.carillon.engine.fold.OperationBody;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.fold.WorkflowState;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import dev.carillon.engine.job.Debt;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.message.RemoteRequest;
import dev.carillon.engine.message.RemoteRequests;
import dev.carillon.engine.query.JobReader;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Brings the end of a job to those that wait for it, in whatever shards they are.
 *
 * <p>The waiting job's add says what it waits for. It is made known to the other job's shard; the
 * end of that job turns into a debt there, in the same operation. The debt is paid when the waiting
 * job has the news in its own journal.
 *
 * <p>Crash table: before the other shard knows, whoever loads the waiting job makes it known again;
 * a job that has ended meanwhile is answered from its journal. A debt is in the fold of its shard
 * until it is paid, and that shard stays awake; news that come twice change nothing the second
 * time.
 */
public final class Dependencies {
  private static final int MOST_UNDER_WAY = 256;
  private static final long RETRY_NANOS = 50_000_000;
  private static final long REFUSED_NANOS = 60_000_000_000L;
  private static final long ELSEWHERE_NANOS = 500_000_000L;
  private static final int MOST_BYTES_IN_A_LETTER = 32 << 10;
  private static final byte[] NOTHING = {};
  private static final byte NOT_LIVE = 0;
  private static final byte REGISTERED = 1;

  private final NodeEnvironment env;
  private final Shards shards;
  private final Committer committer;
  private final Timers timers;
  private final RemoteRequests requests;
  private final Host host;
  private final ChildEnds children;
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();

  /** How often the store became another copy. */
  private int copies;

  private int underWay;

  /** What waits is being begun: what ends at once meanwhile does not begin the next in its turn. */
  private boolean beginning;

  /** The node, as far as dependencies need it. */
  interface Host {
    /** One that the job waited for has ended. */
    void met(NodeJob job);

    /** A child of the workflow has ended, and its history says so. */
    void wake(NodeJob job);
  }

  Dependencies(
      NodeEnvironment env,
      Shards shards,
      Committer committer,
      Timers timers,
      RemoteRequests requests,
      Host host) {
    this.env = env;
    this.shards = shards;
    this.committer = committer;
    this.timers = timers;
    this.requests = requests;
    this.host = host;
    this.children = new ChildEnds(env, shards, committer, host::wake);
  }

  // ---- making known who waits

  /** A job is here that may wait for others. */
  void arrived(Shard shard, NodeJob job) {
    Awaited awaited = job.awaited();
    WorkflowState workflow = job.workflow();
    if (awaited != null) {
      arrange(shard, job, awaited.notArranged(), awaited::arranged);
    }
    if (workflow != null) {
      arrange(shard, job, workflow.notArranged(), workflow::arranged);
    }
  }

  private void arrange(Shard shard, NodeJob job, List<JobRef> others, Consumer<JobRef> known) {
    for (JobRef other : others) {
      shard.arranging++;
      Arrangement made = new Arrangement(shard, shard.ref(job.number), known, other, copies);
      begin(() -> arrange(made));
    }
  }

  /**
   * One job that waits for another, whose shard is to know it.
   *
   * @param shard that of the one which waits: it stays loaded meanwhile, else two shards whose jobs
   *     wait for each other's would load each other for ever
   * @param known hears of the other that its shard knows
   * @param copies how often the store had become another copy when that was known
   */
  private record Arrangement(
      Shard shard, JobRef waiter, Consumer<JobRef> known, JobRef other, int copies) {}

  /**
   * What one that waits is to be told.
   *
   * @param copies how often the store had become another copy when that was known
   * @param end with its result, where that is at hand
   * @param done hears whether it is told for good; if not, it is not true any more
   */
  private record News(
      JobRef waiter,
      JobRef ended,
      @Nullable JobState state,
      int copies,
      OperationBody.@Nullable End end,
      Consumer<Boolean> done) {}

  /** The store is another copy: what ended may live in it, and who waits may not be there. */
  public void exchanged() {
    copies++;
  }

  private void arranged(Arrangement made) {
    made.known().accept(made.other());
    over(made);
  }

  private void over(Arrangement made) {
    made.shard().arranging--;
    over();
  }

  /** Starts something now or when there is room; it ends by {@link #over}. */
  private void begin(Runnable action) {
    if (underWay < MOST_UNDER_WAY) {
      underWay++;
      action.run();
    } else {
      waiting.add(action);
    }
  }

  private void over() {
    underWay--;
    if (beginning) {
      return;
    }
    beginning = true;
    try {
      while (underWay < MOST_UNDER_WAY && !waiting.isEmpty()) {
        underWay++;
        waiting.remove().run();
      }
    } finally {
      beginning = false;
    }
  }

  /** What cannot be done now may be one day: until then others have the place. */
  private void afterOthers(long nanos, Runnable action) {
    again(nanos, () -> begin(action));
    over();
  }

  private void again(long nanos, Runnable action) {
    timers.at(env.monotonicNanos() + nanos, action);
  }

  private void arrange(Arrangement made) {
    if (made.copies() != copies) {
      over(made); // whoever loads it arranges it
      return;
    }
    JobRef other = made.other();
    shards.withLoaded(
        other.shard(),
        new Shards.ShardAccess() {
          @Override
          public void use(Shard shard) {
            NodeJob job = shard.job(other.number());
            if (made.copies() != copies) {
              over(made);
            } else if (job == null) {
              lookUp(made);
            } else if (job.waiters().contains(made.waiter())) {
              arranged(made);
            } else {
              register(
                  shard,
                  job,
                  made.waiter(),
                  registered -> {
                    if (registered) {
                      arranged(made);
                    } else {
                      lookUp(made);
                    }
                  },
                  () -> again(RETRY_NANOS, () -> arrange(made)));
            }
          }

          @Override
          public void none() {
            if (shards.refused().containsKey(other.shard())) {
              afterOthers(REFUSED_NANOS, () -> arrange(made));
            } else {
              lookUp(made);
            }
          }

          @Override
          public void elsewhere(Head head) {
            if (made.copies() != copies) {
              over(made);
              return;
            }
            requests.send(
                head,
                new RemoteRequest.Await(other, made.waiter()),
                outcome -> {
                  if (!(outcome instanceof Outcome.Ok<byte[]>(byte[] known))) {
                    afterOthers(ELSEWHERE_NANOS, () -> arrange(made));
                  } else if (known[0] == REGISTERED) {
                    arranged(made);
                  } else {
                    lookUp(made);
                  }
                },
                () -> arrange(made));
          }
        });
  }

  /** Another node's job waits for one of this node's: answers whether its end will be told. */
  public void await(JobRef job, JobRef waiter, Consumer<Outcome<byte[]>> answer) {
    int known = copies;
    shards.withLoaded(
        job.shard(),
        new Shards.ShardAccess() {
          @Override
          public void use(Shard shard) {
            NodeJob live = shard.job(job.number());
            if (known != copies) {
              answer.accept(wentBack()); // who waits may not be there any more
            } else if (live == null) {
              none();
            } else if (live.waiters().contains(waiter)) {
              answer.accept(Outcome.ok(new byte[] {REGISTERED}));
            } else {
              register(
                  shard,
                  live,
                  waiter,
                  registered ->
                      answer.accept(Outcome.ok(new byte[] {registered ? REGISTERED : NOT_LIVE})),
                  () -> answer.accept(new Outcome.Unavailable<>("the shard is changing hands")));
            }
          }

          @Override
          public void none() {
            answer.accept(
                shards.refused().containsKey(job.shard())
                    ? new Outcome.Unavailable<>("the shard cannot be read")
                    : Outcome.ok(new byte[] {NOT_LIVE}));
          }

          @Override
          public void elsewhere(Head head) {
            answer.accept(Shards.elsewhere(head));
          }
        });
  }

  /** Another node knows of an end that one of this node's jobs waits for. */
  public void told(RemoteRequest.Tell tell, Consumer<Outcome<byte[]>> answer) {
    underWay++; // not in line with the own: two nodes would wait for each other
    tell(
        new News(
            tell.job(),
            tell.ended(),
            tell.state(),
            copies,
            tell.end().length == 0 ? null : OperationBody.End.decode(new ByteReader(tell.end())),
            told -> {
              answer.accept(told ? Outcome.ok(new byte[0]) : wentBack());
              over();
            }));
  }

  private static Outcome<byte[]> wentBack() {
    return new Outcome.Unavailable<>("the store went back in time");
  }

  private void register(
      Shard shard, NodeJob job, JobRef waiter, Consumer<Boolean> done, Runnable lost) {
    OperationBody.Waiter body = new OperationBody.Waiter(env.wallMicros(), waiter);
    shard.registering++;
    committer.add(
        shard.journal,
        new Operation(
            Frame.of(Kind.WAITER, job.number, body.encode()),
            new Operation.Listener() {
              @Override
              public void applied(ShardFold.Answer answer, @Nullable FoldedJob met) {
                shard.registering--;
                done.accept(answer == ShardFold.Answer.APPLIED);
              }

              @Override
              public void lost(Operation.Loss loss, String why) {
                shard.registering--;
                lost.run();
              }
            }));
  }

  /** The job is not live: how did it end? */
  private void lookUp(Arrangement made) {
    env.submit(
        NodeEnvironment.Channel.READ,
        store -> new JobReader(store).find(made.other()),
        outcome -> {
          if (!(outcome instanceof Outcome.Ok<Optional<JobReader.Story>>(var found))) {
            again(RETRY_NANOS, () -> arrange(made));
            return;
          }
          JobState state = found.map(story -> story.view().info().state()).orElse(null);
          if (state != null && !state.ended()) {
            again(RETRY_NANOS, () -> arrange(made));
          } else {
            tell(
                new News(
                    made.waiter(), made.other(), state, made.copies(), null, told -> over(made)));
          }
        });
  }

  // ---- telling

  /** The shard owes these. */
  void owes(Shard shard, List<Debt> debts) {
    debts.forEach(debt -> begin(() -> pay(shard, debt, endOf(debt))));
  }

  private static OperationBody.@Nullable End endOf(Debt debt) {
    byte[] end = debt.end();
    return end != null ? OperationBody.End.decode(new ByteReader(end)) : null;
  }

  /** The shard owes this, for a job that has just ended. */
  void owes(Shard shard, Debt debt, OperationBody.End end) {
    begin(() -> pay(shard, debt, end));
  }

  private void pay(Shard shard, Debt debt, OperationBody.@Nullable End end) {
    if (!shard.owned()) {
      over(); // whoever has it now pays
      return;
    }
    tell(
        new News(
            debt.waiter(),
            shard.ref(debt.number()),
            debt.state(),
            copies,
            end,
            told -> {
              if (told) {
                settle(shard, debt);
              }
              over();
            }));
  }

  /** The debt is paid: it need not be paid again. */
  private void settle(Shard shard, Debt debt) {
    if (!shard.owned()) {
      return;
    }
    OperationBody.Waiter body = new OperationBody.Waiter(env.wallMicros(), debt.waiter());
    committer.add(
        shard.journal,
        new Operation(
            Frame.of(Kind.TOLD, debt.number(), body.encode()),
            new Operation.Listener() {
              @Override
              public void applied(ShardFold.Answer answer, @Nullable FoldedJob met) {}

              @Override
              public void lost(Operation.Loss loss, String why) {}
            }));
  }

  /** Puts the news into the journal of the one that waits; true once it is there for good. */
  private void tell(News news) {
    shards.whenProven(() -> tellProven(news, () -> tell(news)));
  }

  private void tellProven(News news, Runnable again) {
    if (news.copies() != copies) {
      news.done().accept(false);
      return;
    }
    JobRef waiter = news.waiter();
    Consumer<Boolean> done = news.done();
    shards.withLoaded(
        waiter.shard(),
        new Shards.ShardAccess() {
          @Override
          public void use(Shard shard) {
            NodeJob job = shard.job(waiter.number());
            if (news.copies() != copies) {
              done.accept(false);
            } else if (job != null) {
              tell(shard, job, news);
            } else if (shard.isBehind(waiter.number())) {
              shards.prove(
                  shard,
                  () -> {
                    if (shard.owned()) {
                      done.accept(true); // it was lost with another copy of the store
                    } else {
                      again(RETRY_NANOS, again);
                    }
                  });
            } else if (shard.journal.isAddInFlight(waiter.number())) {
              again(RETRY_NANOS, again); // its batch was quicker
            } else {
              done.accept(true); // it no longer waits
            }
          }

          @Override
          public void none() {
            if (shards.refused().containsKey(waiter.shard())) {
              afterOthers(REFUSED_NANOS, again);
            } else {
              done.accept(true);
            }
          }

          @Override
          public void elsewhere(Head head) {
            if (news.copies() != copies) {
              done.accept(false);
              return;
            }
            requests.send(
                head,
                new RemoteRequest.Tell(waiter, news.ended(), news.state(), letter(news.end())),
                outcome -> {
                  if (outcome.isOk()) {
                    done.accept(true);
                  } else {
                    afterOthers(ELSEWHERE_NANOS, again);
                  }
                },
                again);
          }
        });
  }

  /** An end as a letter takes it along; nothing where the reader has to look in the journal. */
  private static byte[] letter(OperationBody.@Nullable End end) {
    byte[] encoded = end != null ? end.encode() : NOTHING;
    return encoded.length <= MOST_BYTES_IN_A_LETTER ? encoded : NOTHING;
  }

  private void tell(Shard shard, NodeJob job, News news) {
    WorkflowState workflow = job.workflow();
    if (workflow != null && workflow.callOf(news.ended()) != 0) {
      children.tell(
          shard,
          job,
          new ChildEnds.Ended(news.ended(), news.state(), news.end()),
          told -> {
            if (told && workflow.callOf(news.ended()) == 0) {
              news.done().accept(true);
            } else {
              again(told ? 0 : RETRY_NANOS, () -> tell(news)); // two calls may wait for one job
            }
          });
      return;
    }
    // One that can never start ends at once, also if this node does not come to it.
    Awaited awaited = job.awaited();
    boolean breaks = awaited != null && awaited.isBrokenBy(news.ended(), news.state());
    shards.ensureAwakeBy(shard, breaks ? 0 : job.dueMicros, () -> append(shard, job, news));
  }

  private void append(Shard shard, NodeJob job, News news) {
    OperationBody.Met body = new OperationBody.Met(env.wallMicros(), news.ended(), news.state());
    committer.add(
        shard.journal,
        new Operation(
            Frame.of(Kind.MET, job.number, body.encode()),
            new Operation.Listener() {
              @Override
              public void applied(ShardFold.Answer answer, @Nullable FoldedJob met) {
                if (answer == ShardFold.Answer.APPLIED && met != null) {
                  host.met(NodeJob.of(met));
                }
                news.done().accept(true);
              }

              @Override
              public void lost(Operation.Loss loss, String why) {
                again(RETRY_NANOS, () -> tell(news));
              }
            }));
  }
}
