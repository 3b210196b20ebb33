package dev.carillon.engine;

import dev.carillon.api.JobState;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.attempt.AttemptRunner;
import dev.carillon.engine.attempt.Attempts;
import dev.carillon.engine.attempt.Completions;
import dev.carillon.engine.attempt.Elsewhere;
import dev.carillon.engine.attempt.Poison;
import dev.carillon.engine.attempt.Recurrences;
import dev.carillon.engine.attempt.Retries;
import dev.carillon.engine.attempt.WorkerRun;
import dev.carillon.engine.commit.Basics;
import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.commit.RecordChanges;
import dev.carillon.engine.commit.ShardJournal;
import dev.carillon.engine.dispatch.DispatchLook;
import dev.carillon.engine.dispatch.Dispatcher;
import dev.carillon.engine.dispatch.Flow;
import dev.carillon.engine.dispatch.JobMeters;
import dev.carillon.engine.dispatch.Keys;
import dev.carillon.engine.dispatch.Lane;
import dev.carillon.engine.dispatch.PayloadMemory;
import dev.carillon.engine.dispatch.SlowStart;
import dev.carillon.engine.environment.Membership;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeOptions;
import dev.carillon.engine.environment.Timers;
import dev.carillon.engine.fold.ShardFold;
import dev.carillon.engine.history.ShardLoad;
import dev.carillon.engine.job.HistoryEntry;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.Why;
import dev.carillon.engine.life.Checkpoints;
import dev.carillon.engine.life.JobLife;
import dev.carillon.engine.life.JobLookup;
import dev.carillon.engine.life.ProgressReports;
import dev.carillon.engine.life.Updates;
import dev.carillon.engine.life.Watchers;
import dev.carillon.engine.life.Workflows;
import dev.carillon.engine.limit.Rates;
import dev.carillon.engine.limit.Shares;
import dev.carillon.engine.loan.Borrowing;
import dev.carillon.engine.loan.HandlerLists;
import dev.carillon.engine.loan.Lending;
import dev.carillon.engine.loan.Permits;
import dev.carillon.engine.member.ClusterFormat;
import dev.carillon.engine.member.Formats;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.member.Members;
import dev.carillon.engine.message.Message;
import dev.carillon.engine.message.Notifications;
import dev.carillon.engine.message.RemoteRequest;
import dev.carillon.engine.message.RemoteRequests;
import dev.carillon.engine.message.Wire;
import dev.carillon.engine.request.Adds;
import dev.carillon.engine.request.Controls;
import dev.carillon.engine.request.Hindrances;
import dev.carillon.engine.request.Intake;
import dev.carillon.engine.request.NamedChildren;
import dev.carillon.engine.request.Questions;
import dev.carillon.engine.request.Replays;
import dev.carillon.engine.request.RequestRouter;
import dev.carillon.engine.request.Signals;
import dev.carillon.engine.shard.NodeJob;
import dev.carillon.engine.shard.Shard;
import dev.carillon.engine.shard.Shards;
import dev.carillon.engine.worker.Workers;
import dev.carillon.store.Outcome;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Makes the parts of a node and ties them together. A part gets the parts of earlier rooms as
 * arguments. Where a part of an earlier room calls one of a later room, it does so by an interface
 * of its own, and the adapters below pass the call on.
 */
final class Assembly {
  final NodeOptions options;
  final Timers timers = new Timers();
  final Committer committer;
  final RecordChanges records;
  final ClusterFormat format;
  final MemberStatus status;
  final Shards shards;
  final RemoteRequests requests;
  final Wire wire;
  final JobLookup lookup;
  final Watchers watchers;
  final ProgressReports reports;
  final Attempts.Rules rules;
  final Attempts attempts;
  final Rates rates;
  final Shares shares;
  final Keys keys;
  final PayloadMemory payloads;
  final Dispatcher dispatcher;
  final SlowStart slowStart;
  final Flow flow;
  final JobLife life;
  final Checkpoints checkpoints;
  final Workflows workflows;
  final HandlerLists handlerLists;
  final Permits permits;
  final Lending lending;
  final Borrowing borrowing;
  final Workers workers;
  final Adds adds;
  final NamedChildren namedChildren;
  final Intake intake;
  final Controls controls;
  final Replays replays;
  final Signals signals;
  final RequestRouter router;

  Assembly(NodeEnvironment env, AttemptRunner runner, Formats formats, NodeOptions options) {
    this.options = options;
    this.committer = new Committer(env, timers, new CommitHost());
    this.records = new RecordChanges(env, options.incarnation(), timers);
    Basics basics = new Basics(env, options, timers, records);
    MemberChanges changes = new MemberChanges(this, env);
    this.format = new ClusterFormat(env, timers, formats, changes);
    Membership membership = options.membership();
    this.status =
        new MemberStatus(
            env,
            options,
            membership == null ? null : new Members(basics, membership, format, changes, changes));
    this.shards =
        new Shards(
            env,
            options,
            status.directory(),
            new Shards.Parts(timers, committer, records),
            new ShardHost());
    Notifications notifications = new Notifications(env);
    this.requests = new RemoteRequests(basics, notifications, status, shards, new RequestHost());
    this.wire = new Wire(basics, notifications, status, new WireHost());
    this.lookup = new JobLookup(basics, shards);
    this.watchers = new Watchers(basics, status, shards, lookup);
    this.reports = new ProgressReports(basics, committer, shards, watchers);
    this.rules =
        new Attempts.Rules(
            new Retries(env, options.failurePolicy()),
            new Recurrences(env),
            new Completions(env, timers),
            new JobMeters(env));
    this.attempts =
        new Attempts(
            basics,
            new Attempts.Parts(
                status,
                shards,
                committer,
                runner,
                new LifeHost(),
                new ChildrenHost(),
                watchers,
                reports,
                new Loans()),
            rules);
    this.rates = new Rates(env, records, timers);
    this.shares = new Shares(basics, status, this::sayLook);
    this.keys = new Keys(rates, shares, new KeyHost());
    this.payloads = new PayloadMemory(env, options, timers, new PayloadHost());
    this.dispatcher =
        new Dispatcher(options.slots(), attempts.starts, keys, this::blocked, payloads);
    this.slowStart = new SlowStart(env::monotonicNanos, timers, options, dispatcher.node());
    this.flow = new Flow(basics, rates, shares, dispatcher);
    this.life =
        new JobLife(
            basics,
            new JobLife.Parts(
                status,
                shards,
                committer,
                requests,
                dispatcher,
                keys,
                attempts,
                rules,
                lookup,
                watchers,
                reports),
            this::pauseForPoison);
    this.checkpoints = new Checkpoints(env, committer, life);
    this.workflows = new Workflows(env, attempts, checkpoints);
    this.handlerLists =
        new HandlerLists(env, records, options.incarnation(), new HandlerListHost());
    this.permits = new Permits(env, records, options.incarnation(), status::isForgotten);
    this.lending =
        new Lending(
            basics,
            new Lending.Parts(
                status,
                wire,
                handlerLists,
                permits,
                dispatcher,
                attempts,
                life,
                checkpoints,
                reports));
    this.borrowing = new Borrowing(env, runner, options, timers, wire, dispatcher, permits, status);
    this.workers =
        new Workers(
            basics,
            new Workers.Parts(
                status, wire, shards, dispatcher, attempts, life, checkpoints, reports));
    dispatcher.lender(new Lenders());
    this.adds =
        new Adds(
            basics,
            status,
            new Adds.Parts(shards, committer, requests, lookup, life),
            new Updates(rules.recurrences()));
    this.namedChildren = new NamedChildren(adds, workflows);
    lending.turns(namedChildren::checkpoint);
    this.intake = new Intake(env, options, adds, status::gone);
    Controls.Parts forControls =
        new Controls.Parts(shards, committer, rules.recurrences(), requests, lookup, life);
    this.controls = new Controls(env, forControls);
    this.replays = new Replays(env, forControls);
    this.signals = new Signals(env, forControls);
    this.router =
        new RequestRouter(
            status,
            wire,
            new RequestRouter.Parts(
                life, adds, controls, replays, signals, shares, lending, borrowing, workers),
            basics,
            new Questions.Parts(
                status, shards, attempts, borrowing, lookup, watchers, hindrances(env)));
  }

  private Hindrances hindrances(NodeEnvironment env) {
    return new Hindrances(
        env,
        new Hindrances.Parts(
            status,
            shards,
            committer,
            attempts,
            slowStart,
            new DispatchLook(env, dispatcher, keys, status::nodeId),
            handlerLists,
            lending));
  }

  private void blocked(NodeJob job) {
    life.blocked(job);
  }

  private void sayLook(long incarnation, String record) {
    wire.send(incarnation, Message.encode(new Message.Look(record)));
  }

  private void pauseForPoison(JobRef schedule) {
    Why why = new Why(options.nodeId(), Poison.REASON);
    controls.pause(new RemoteRequest.Pause(schedule, why, false, false), outcome -> {});
  }

  private final class CommitHost implements Committer.Host {
    @Override
    public void fenced(ShardJournal journal) {
      shards.fenced(journal);
    }

    @Override
    public void changed(ShardJournal journal) {
      shards.changed(journal);
    }

    @Override
    public long nowMicros() {
      return status.nowMicros();
    }
  }

  private final class ShardHost implements Shards.Host {
    @Override
    public void claimed(Shard shard) {
      if (status.isShared()) {
        requests.claimed();
      }
    }

    @Override
    public void loaded(Shard shard, ShardLoad.Folded<NodeJob> load) {
      life.loaded(shard, load);
    }

    @Override
    public boolean hasOpenAttempts(Shard shard) {
      return attempts.isOpen(shard);
    }

    @Override
    public void handBackChanged(Shard shard) {
      if (shard.handingBack) {
        workers.leaving(shard);
      } else {
        life.staysHere(shard);
      }
    }

    @Override
    public void looked(Shard shard, long nowMicros) {
      payloads.fetchDueSoon(shard, nowMicros);
    }

    @Override
    public void unloaded(Shard shard, ShardFold<NodeJob> fold) {
      life.unloaded(shard, fold);
    }
  }

  private final class RequestHost implements RemoteRequests.Host {
    @Override
    public boolean forwards(RemoteRequest request, Consumer<Outcome<byte[]>> answer) {
      return router.forwards(request, answer);
    }

    @Override
    public void serve(RemoteRequest request, Consumer<Outcome<byte[]>> answer) {
      router.serve(request, answer);
    }
  }

  private final class WireHost implements Wire.Host {
    @Override
    public boolean expectsMessages() {
      return router.expectsMessages();
    }

    @Override
    public void heard(long from, byte[] message) {
      router.heard(from, message);
    }
  }

  private final class LifeHost implements Attempts.Life {
    @Override
    public void schedule(NodeJob job) {
      life.schedule(job);
    }

    @Override
    public void moved(NodeJob job) {
      life.moved(job);
    }

    @Override
    public void unfit(NodeJob job, NodeJob.Phase why) {
      life.unfit(job, why);
    }

    @Override
    public void endRequested(NodeJob job) {
      life.endRequested(job);
    }

    @Override
    public void convict(NodeJob job) {
      life.convict(job);
    }
  }

  private final class ChildrenHost implements Attempts.Children {
    @Override
    public void added(Shard shard, NodeJob child) {
      life.added(shard, child);
    }

    @Override
    public void joined(Shard shard, NodeJob workflow) {
      life.joined(shard, workflow);
    }

    @Override
    public void cancelChild(NodeJob parent, JobRef child, Runnable then) {
      life.cancelChild(parent, child, then);
    }
  }

  private final class Loans implements Elsewhere {
    @Override
    public void lend(Attempt attempt) {
      WorkerRun worker = attempt.worker;
      if (worker != null) {
        workers.give(attempt, worker);
      } else {
        lending.lend(attempt);
      }
    }

    @Override
    public void recall(Attempt attempt, boolean now) {
      if (attempt.worker != null) {
        workers.recall(attempt);
      } else {
        lending.recall(attempt, now);
      }
    }

    @Override
    public ToWorkers workers() {
      return workers;
    }

    @Override
    public void recalled(Attempt attempt, boolean now, Runnable then) {
      lending.recalled(attempt, now, then);
    }

    @Override
    public void recorded(Attempt attempt, int count, HistoryEntry entry) {
      lending.recorded(attempt, count, entry);
    }

    @Override
    public long waitUntilBorrowedLasted(long nanos) {
      return borrowing.waitUntilLasted(nanos);
    }
  }

  /** Workers come first: a node that has room may have other things to do. */
  private final class Lenders implements Dispatcher.Lender {
    @Override
    public long borrowerFor(NodeJob job) {
      long worker = workers.workerFor(job);
      return worker != 0 ? worker : lending.borrowerFor(job.type);
    }

    @Override
    public boolean mayHaveRoom(String type) {
      return lending.mayHaveRoom(type);
    }

    @Override
    public boolean isTaken(String type, String namespace, String queue) {
      return workers.isTaken(type, namespace, queue);
    }

    @Override
    public boolean anyWorkers() {
      return workers.areThere();
    }

    @Override
    public int workersRoom(String type) {
      return workers.room(type);
    }
  }

  private final class KeyHost implements Keys.Host {
    @Override
    public void ready(NodeJob job) {
      life.mayGetKey(job);
    }

    @Override
    public void blocked(NodeJob job) {
      life.blocked(job);
    }

    @Override
    public void refuse(NodeJob job, JobState state, String reason) {
      life.refuse(job, state, reason);
    }

    @Override
    public void cancel(NodeJob job, String reason) {
      life.cancel(job, reason);
    }
  }

  private final class PayloadHost implements PayloadMemory.Host {
    @Override
    public void doubt(Shard shard) {
      shards.prove(shard, () -> {});
    }

    @Override
    public void paused(NodeJob job) {
      life.schedule(job); // its deadline counts from here
    }

    @Override
    public void ready(NodeJob job) {
      life.restored(job);
    }

    @Override
    public void refill(Lane lane) {
      dispatcher.refill(lane);
    }
  }

  private final class HandlerListHost implements HandlerLists.Host {
    @Override
    public void announce(long version) {
      status.say(said -> said.withHandlers(version));
    }

    @Override
    public void learnt(Set<String> types) {
      lending.learnt(types);
    }

    @Override
    public boolean isForgotten(long incarnation) {
      return status.isForgotten(incarnation);
    }
  }
}
