package dev.carillon.engine.shard;

import dev.carillon.engine.commit.Committer;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.environment.NodeEvent;
import dev.carillon.engine.history.Summary;
import dev.carillon.store.Head;
import dev.carillon.store.Journals.Release;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Moves shards on that have nothing left to do here: unloads, seals, releases or drops them, and
 * hands those back that another node is to have (rebalance). A shard with queued operations, an
 * open attempt or a hold stays as it is.
 *
 * <p>Crash table: a seal, release or drop whose answer is lost is found by the next listing as it
 * is. Each is idempotent and repeated until answered while this node lives.
 */
final class Settling {
  private static final int MOST_RELEASED_TOGETHER = 256;

  private final NodeEnvironment env;
  private final Directory directory;
  private final Committer committer;
  private final Shards shards;
  private final Shards.Host host;

  Settling(
      NodeEnvironment env,
      Directory directory,
      Committer committer,
      Shards shards,
      Shards.Host host) {
    this.env = env;
    this.directory = directory;
    this.committer = committer;
    this.shards = shards;
    this.host = host;
  }

  /** Moves a shard on where it has nothing left to do. */
  void settle(Shard shard) {
    if (shard.handingBack && !shards.isStopping()) {
      handBackIfAnothers(shard);
      return;
    }
    if (!shard.quiet()
        || shard.fold == null
        || !shard.fold.debts().isEmpty()
        || shards.isStopping()) {
      return;
    }
    if (shard.fold.live().size() == 0 && shard.sealed) {
      if (shard.added == 0) {
        drop(shard);
      } else {
        drained(shard);
      }
    } else if (shard.running == 0
        && shard.arranging == 0
        && !shards.isSoon(shard.journal.wakeMicros())) {
      if (isToGo(shard) && !host.hasOpenAttempts(shard)) {
        env.metrics().count("shards.spared", 1);
        shards.open.leave(shard);
        release(shard);
      } else {
        shards.unload(shard);
      }
    }
  }

  /** Whether the shard is better off with another node, though nothing of it is to be done now. */
  private boolean isToGo(Shard shard) {
    boolean emptyOrphan =
        shard.orphan
            && !shard.sealed
            && shard.fold != null
            && shard.fold.live().size() == 0
            && directory.isAnothers(shard.home, shard.id);
    return emptyOrphan || shards.open.isSpare(shard);
  }

  /** True where the shard goes, or is about to go, to another node. */
  boolean handBackIfAnothers(Shard shard) {
    if (!shard.owned()) {
      return shard.handingBack; // a release under way is not called back: it may be in effect
    }
    boolean goes =
        shards.isLeaving() || (!shard.orphan && directory.isAnothers(shard.home, shard.id));
    if (goes && !shard.handingBack) {
      beginHandBack(shard);
    } else if (!goes && shard.handingBack) {
      shard.handingBack = false;
      host.handBackChanged(shard);
    }
    if (shard.handingBack && shard.quiet() && !host.hasOpenAttempts(shard)) {
      if (!shards.isLeaving()) {
        env.tell(new NodeEvent.HandedBack(shard.id, shard.home));
      }
      env.metrics().count("shards.handed.back", 1);
      release(shard);
    }
    return shard.handingBack;
  }

  private void beginHandBack(Shard shard) {
    shard.handingBack = true;
    shards.open.leave(shard);
    host.handBackChanged(shard);
  }

  private void drained(Shard shard) {
    Summary summary = shard.summary();
    long keepUntil = shards.retention.keepUntil(summary);
    if (shards.packs.wants(summary, shard.journal.olderGenerations())) {
      // It keeps its early wake time, so that the next look finds it if nobody packs it.
      releaseAs(shard, summary, shards.packs::offer);
    } else if (shard.journal.wakeMicros() < keepUntil) {
      committer.raiseWake(shard.journal, keepUntil);
    } else {
      release(shard);
    }
  }

  /** A drained shard was claimed again: its time is over, or it was only looked at. */
  void retire(Shard shard, Summary summary) {
    shard.sealed = true;
    shard.evidence = summary.evidence();
    if (shard.awaited()) {
      shards.loads.load(shard);
    } else if (shard.visitorsWait()) {
      shard.drainedAs(summary);
      shard.fireOwned(); // it retires at its wake time
    } else if (shards.retention.isOver(summary)
        || (shard.spent && !shards.retention.hasKeys(summary))) {
      shards.retention.retire(shard, summary);
    } else {
      releaseAs(shard, summary, head -> {});
    }
  }

  /** A visit of an unloaded shard is over: whoever waited for that goes on. */
  void leave(Shard shard) {
    shard.visited = false;
    if (shard.loadWanted) {
      shard.loadWanted = false;
      shards.loads.load(shard);
    }
    List<Runnable> next = List.copyOf(shard.visitors);
    shard.visitors.clear();
    next.forEach(Runnable::run); // one of them visits, the others wait again or need not
    settle(shard);
  }

  /** Closes a shard to new jobs. */
  void seal(Shard shard) {
    if (shard.sealed) {
      return;
    }
    shard.sealed = true;
    shard.hold();
    byte[] summary = shard.summary().asOpen().encode();
    shards.write(
        shard,
        store -> store.journals().seal(shard.id, shard.journal.epoch(), summary),
        head -> {
          shard.unhold();
          settle(shard);
        },
        () -> {});
  }

  void drop(Shard shard) {
    shard.journal.leaving();
    shards.write(
        shard,
        store -> store.journals().drop(shard.id, shard.journal.epoch()),
        done -> {
          env.metrics().count("shards.dropped", 1);
          shards.forget(shard);
        },
        () -> {});
  }

  private void release(Shard shard) {
    releaseAs(shard, shard.summary(), head -> {});
  }

  void releaseAs(Shard shard, Summary summary, Consumer<Head> done) {
    leaving(shard, summary);
    release(
        shard,
        new Release(shard.id, shard.journal.epoch(), shard.journal.tail(), summary.encode()),
        done,
        () -> {});
  }

  private void leaving(Shard shard, Summary summary) {
    shard.journal.leaving();
    if (summary.drained() || !summary.replaced().isEmpty()) {
      shards.retention.noteHistory();
    }
  }

  private void release(Shard shard, Release release, Consumer<Head> done, Runnable ifLost) {
    shards.write(
        shard,
        store ->
            store
                .journals()
                .release(
                    release.shard(), release.epoch(), release.expectedTail(), release.summary()),
        head -> {
          shards.forget(shard);
          shards.claims.gaveBack(shard.id);
          done.accept(head);
        },
        ifLost);
  }

  /**
   * Hands every shard to other nodes: the idle ones now, each other one once nothing of it runs.
   */
  void handBackAll() {
    List<Shard> idle = new ArrayList<>();
    for (Shard shard : shards.all()) {
      if (shard.owned()) {
        beginHandBack(shard);
      }
      if (shard.quiet() && !host.hasOpenAttempts(shard)) {
        idle.add(shard);
      }
    }
    releaseAllTogether(idle, () -> {});
  }

  /** Releases every shard of which nothing is open; {@code done} runs at the end. */
  void releaseAll(Runnable done) {
    List<Shard> quiet = new ArrayList<>();
    List<Shard> goingAlready = new ArrayList<>();
    for (Shard shard : shards.all()) {
      if (shard.journal.isLeaving() && !directory.isAlone()) {
        goingAlready.add(shard);
      } else if (shard.quiet() && (directory.isAlone() || !host.hasOpenAttempts(shard))) {
        quiet.add(shard);
      }
    }
    int[] left = {quiet.size() + goingAlready.size() + 1};
    Runnable one =
        () -> {
          if (--left[0] == 0) {
            done.run();
          }
        };
    goingAlready.forEach(shard -> shard.whenGone(one));
    releaseAllTogether(quiet, one);
    one.run();
  }

  private void releaseAllTogether(List<Shard> those, Runnable each) {
    for (int from = 0; from < those.size(); from += MOST_RELEASED_TOGETHER) {
      releaseTogether(
          those.subList(from, Math.min(those.size(), from + MOST_RELEASED_TOGETHER)), each);
    }
  }

  /** Releases many in one call; a shard that this call did not release is released by itself. */
  private void releaseTogether(List<Shard> those, Runnable each) {
    List<Release> releases = new ArrayList<>();
    for (Shard shard : those) {
      Summary summary = shard.summary();
      leaving(shard, summary);
      releases.add(
          new Release(shard.id, shard.journal.epoch(), shard.journal.tail(), summary.encode()));
    }
    env.submit(
        NodeEnvironment.Channel.CONTROL,
        store -> store.journals().releaseAll(releases),
        outcomes -> {
          for (int i = 0; i < those.size(); i++) {
            Shard shard = those.get(i);
            if (outcomes.get(i).isOk() && !shard.journal.isLost()) {
              shards.forget(shard);
              each.run();
            } else {
              release(shard, releases.get(i), head -> each.run(), each);
            }
          }
        });
  }
}
