package dev.carillon.prove;

import dev.carillon.api.JobEvent;
import dev.carillon.api.JobInfo;
import dev.carillon.api.JobState;
import dev.carillon.prove.Ledger.Disturbance;
import dev.carillon.prove.Ledger.Line;
import dev.carillon.prove.Ledger.Start;
import dev.carillon.prove.StoreContents.Found;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Holds the ledger against the store. Every check stands on what must be so whatever moment a kill
 * came at: an acknowledgement, a start or an end that was told did happen; one that was not told
 * may have happened.
 */
final class KillChecks {
  /** Processes that must have died during an attempt before its job is given up as the cause. */
  private static final int DEATHS_OF_POISON = 3;

  private final Ledger ledger;
  private final StoreContents store;
  private final boolean lends;

  KillChecks(Ledger ledger, StoreContents store) {
    this(ledger, store, false);
  }

  /**
   * Checks of what a ledger tells.
   *
   * @param lends whether attempts run on other nodes than that of their job
   */
  KillChecks(Ledger ledger, StoreContents store, boolean lends) {
    this.ledger = ledger;
    this.store = store;
    this.lends = lends;
  }

  List<Check> all() {
    return List.of(
        notLost(),
        allEnded(),
        answeredWithExisting(),
        refusedStayOut(),
        noPhantom(),
        neverEarly(),
        attemptsBounded(),
        nothingAfterTheEnd(),
        successWasWorked(),
        namesUnique(),
        keysUnique(),
        batchesWhole(),
        cancelsKept(),
        deadByDesign(),
        readsClean());
  }

  private Check notLost() {
    Check check = new Check("every acknowledged job is there and ended as it may");
    for (Line line : ledger.lines()) {
      if (line.created() && !line.mayBeLost) {
        Found found = store.job(line.acknowledged == null ? "" : line.acknowledged.job());
        check.that(
            found != null
                && found.request().equals(line.request)
                && found.info().state().ended()
                && mayEndAs(line, found.info()),
            line + " found as " + (found == null ? "nothing" : found.info().state()));
      }
    }
    return check;
  }

  private boolean mayEndAs(Line line, JobInfo info) {
    return switch (info.state()) {
      case SUCCEEDED -> line.asked().behaviour().succeeds();
      case CANCELLED -> !ledger.cancels(info.id().value()).isEmpty();
      case DEAD -> !line.asked().behaviour().succeeds() || mayBePoison(info);
      default -> false;
    };
  }

  /** Kills at random look like a job that kills: its markers must show as many. */
  private boolean mayBePoison(JobInfo info) {
    Found found = store.job(info.id().value());
    return found != null
        && found.events().stream()
                .filter(event -> event.kind() == JobEvent.Kind.STARTED)
                .map(event -> ledger.disturbedAfter(Note.micros(event.at())))
                .distinct()
                .count()
            >= DEATHS_OF_POISON;
  }

  private Check allEnded() {
    Check check = new Check("nothing is left that has not ended, acknowledged or not");
    for (Found found : store.all()) {
      check.that(found.info().state().ended(), found.info());
    }
    return check;
  }

  private Check answeredWithExisting() {
    Check check = new Check("an answer with another's job made none of its own");
    for (Line line : ledger.lines()) {
      if (line.acknowledged != null && !line.acknowledged.created() && !line.mayBeLost) {
        check.that(
            store.job(line.acknowledged.job()) != null
                && store.ofRequest(line.request).isEmpty()
                && line.starts.isEmpty(),
            line);
      }
    }
    return check;
  }

  private Check refusedStayOut() {
    Check check = new Check("a refused job is not there and never ran");
    for (Line line : ledger.lines()) {
      if (line.refused != null && !line.refused.unknown()) {
        check.that(
            store.ofRequest(line.request).isEmpty() && line.starts.isEmpty(),
            line + " refused: " + line.refused.why());
      }
    }
    return check;
  }

  private Check noPhantom() {
    Check check = new Check("nothing is there or ran that was not requested, and once only");
    for (Found found : store.all()) {
      Line line = ledger.lineOf(found.request());
      check.that(
          line != null && line.requested != null && store.ofRequest(found.request()).size() == 1,
          found.info());
    }
    for (Line line : ledger.lines()) {
      for (Start start : line.mayBeLost ? List.<Start>of() : line.starts) {
        Found found = store.job(start.note().job());
        check.that(
            line.requested != null && found != null && found.request().equals(line.request), line);
      }
    }
    ledger.strange().forEach(what -> check.that(false, what));
    return check;
  }

  private Check neverEarly() {
    Check check = new Check("no attempt started before its time");
    for (Line line : ledger.lines()) {
      for (Start start : line.starts) {
        Note.Started note = start.note();
        boolean firstAsAsked = note.attempt() > 1 || line.dues.contains(note.dueMicros());
        check.that(note.atMicros() >= note.dueMicros() && firstAsAsked, line + " " + note);
      }
    }
    return check;
  }

  private Check attemptsBounded() {
    Check check = new Check("attempts ≤ 1 + crashes between start and durable end + own retries");
    List<Disturbance> disturbances = ledger.disturbances();
    for (Line line : ledger.lines()) {
      if (line.starts.isEmpty() || line.requested == null || line.mayRepeat) {
        continue;
      }
      List<Disturbance> hits =
          disturbances.stream()
              .filter(d -> line.starts.stream().anyMatch(start -> hit(d, start, line)))
              .toList();
      int most = 1 + hits.size() + line.asked().behaviour().retries();
      long counted = line.starts.stream().filter(start -> !ledger.isLate(line, start)).count();
      check.that(counted <= most && onceEach(line, hits), line + " most " + most);
    }
    return check;
  }

  private boolean hit(Disturbance blow, Start start, Line line) {
    return lends ? blow.mayHaveHit(start, line.end) : blow.hit(start, line.end);
  }

  /** An attempt of one number starts once in one life, unless that was disturbed and went on. */
  private boolean onceEach(Line line, List<Disturbance> hits) {
    Map<String, Integer> starts = new HashMap<>();
    line.starts.forEach(
        start -> starts.merge(start.incarnation() + "#" + start.note().attempt(), 1, Integer::sum));
    long again = hits.stream().filter(d -> lends || d.blow() != Ledger.Blow.KILL).count();
    return starts.values().stream().allMatch(times -> times <= 1 + again);
  }

  private Check nothingAfterTheEnd() {
    Check check = new Check("no attempt started after the durable end");
    for (Line line : ledger.lines()) {
      List<Found> found = store.ofRequest(line.request);
      for (Start start : line.starts) {
        boolean beforeTold = line.end == null || start.note().atMicros() <= line.end.atMicros();
        boolean beforeWritten =
            toldBy(start, line)
                || found.stream()
                    .allMatch(f -> start.note().atMicros() <= lastLifeOf(f, start.note()));
        check.that(
            line.mayRepeat || ledger.isLate(line, start) || (beforeTold && beforeWritten), line);
      }
    }
    return check;
  }

  /** Whether the process that started it wrote the end too: when it told of that counts, then. */
  private static boolean toldBy(Start start, Line line) {
    return line.end != null && line.end.incarnation() == start.incarnation();
  }

  /**
   * When the process was dead that wrote the end of an attempt of that number. Not the time of that
   * end: a node writes the time at which its turn began, a little before the attempt's start.
   */
  private long lastLifeOf(Found found, Note.Started started) {
    return ledger.disturbedAfter(
        found.events().stream()
            .filter(event -> event.kind() == JobEvent.Kind.RETRIED)
            .filter(event -> event.attempt() == started.attempt())
            .mapToLong(event -> Note.micros(event.at()))
            .findFirst()
            .orElse(endedMicros(found)));
  }

  private static long endedMicros(Found found) {
    var ended = found.info().endedAt();
    return ended == null ? Long.MAX_VALUE : Note.micros(ended);
  }

  private Check successWasWorked() {
    Check check = new Check("a job that succeeded had run to its end");
    for (Found found : store.all()) {
      Line line = ledger.lineOf(found.request());
      if (found.info().state() == JobState.SUCCEEDED) {
        check.that(line != null && line.finishedWell, found.info());
      }
    }
    return check;
  }

  /**
   * Two jobs of one name must not have been live at once. A job was live for certain from the first
   * of its acknowledgement, its first start and the kill before which it was written, until its end
   * was on its way to the journal.
   */
  private Check namesUnique() {
    Check check = new Check("no two live jobs had the same name");
    Map<String, List<Found>> byName = new HashMap<>();
    for (Found found : store.all()) {
      if (found.info().name() != null) {
        byName.computeIfAbsent(found.info().name(), n -> new ArrayList<>()).add(found);
      }
    }
    byName.values().forEach(jobs -> checkApart(check, jobs));
    return check;
  }

  private void checkApart(Check check, List<Found> jobs) {
    jobs.sort(Comparator.comparingLong(this::liveFrom));
    long lastEnd = Long.MIN_VALUE;
    for (Found job : jobs) {
      check.that(liveFrom(job) >= lastEnd, job.info());
      lastEnd = Math.max(lastEnd, endedMicros(job));
    }
  }

  private long liveFrom(Found job) {
    Line line = ledger.lineOf(job.request());
    if (line == null) {
      return Long.MAX_VALUE;
    }
    long from = ledger.killedAtMicros(line.incarnation);
    if (line.acknowledged != null) {
      from = Math.min(from, line.acknowledged.atMicros());
    }
    for (Start start : line.starts) {
      from = Math.min(from, start.note().atMicros());
    }
    return from;
  }

  private Check keysUnique() {
    Check check = new Check("one job for each idempotency key, and every answer names it");
    Map<String, Set<String>> byKey = new HashMap<>();
    for (Found found : store.all()) {
      if (found.info().key() != null) {
        jobsOf(byKey, found.info().key()).add(found.info().id().value());
      }
    }
    for (Line line : ledger.lines()) {
      if (line.requested != null
          && line.requested.way() == Note.Way.KEYED
          && !line.mayBeLost
          && line.acknowledged != null) {
        jobsOf(byKey, line.requested.unique()).add(line.acknowledged.job());
      }
    }
    byKey.forEach((key, jobs) -> check.that(jobs.size() == 1, key + ": " + jobs));
    return check;
  }

  private static Set<String> jobsOf(Map<String, Set<String>> byKey, @Nullable String key) {
    return byKey.computeIfAbsent(String.valueOf(key), k -> new HashSet<>());
  }

  private Check batchesWhole() {
    Check check = new Check("of a batch all jobs are there or none");
    ledger.lines().stream()
        .filter(line -> line.requested != null && line.requested.way() == Note.Way.BATCH)
        .collect(Collectors.groupingBy(line -> line.asked().batch()))
        .forEach(
            (batch, lines) -> {
              long there =
                  lines.stream().filter(l -> !store.ofRequest(l.request).isEmpty()).count();
              check.that(
                  there == 0 || there == lines.size(),
                  "batch " + batch + ": " + there + " of " + lines.size());
            });
    return check;
  }

  private Check cancelsKept() {
    Check check = new Check("a cancel came out as it was answered; cancelled jobs never start");
    ledger
        .cancels()
        .forEach(
            (job, cancels) ->
                cancels.stream()
                    .filter(cancel -> cancel.answered != null)
                    .forEach(cancel -> check.that(kept(job, cancel), job + " " + cancel.answered)));
    return check;
  }

  private boolean kept(String job, Ledger.Cancel cancel) {
    Found found = store.job(job);
    Note.CancelAnswered answered = cancel.answered;
    if (found == null || answered == null) {
      return ledger.mayBeLost(job);
    }
    Line line = ledger.lineOf(found.request());
    if (line != null && line.mayRepeat) {
      return true;
    }
    JobState state = found.info().state();
    return switch (answered.answer()) {
      case CANCELLED ->
          state == JobState.CANCELLED
              && line != null
              && line.starts.stream()
                  .allMatch(start -> start.note().atMicros() <= answered.atMicros());
      case STOPPING -> state.ended();
      case ENDED -> state.name().equals(answered.state());
      case NOT_FOUND -> false;
      case UNKNOWN -> true;
    };
  }

  private Check deadByDesign() {
    Check check = new Check("dead letters are those designed to die");
    for (Found found : store.all()) {
      Line line = ledger.lineOf(found.request());
      if (found.info().state() == JobState.DEAD) {
        check.that(line != null && mayEndAs(line, found.info()), line + " " + found.info());
      }
    }
    return check;
  }

  private Check readsClean() {
    Check check =
        new Check(
            "every journal reads clean, its epochs in order, and SQLite finds its file whole");
    for (int i = 0; i < store.shards(); i++) {
      check.that(true, "");
    }
    store.problems().forEach(problem -> check.that(false, problem));
    return check;
  }
}
