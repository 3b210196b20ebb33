package dev.carillon.worker;

import dev.carillon.protocol.Accepted;
import dev.carillon.protocol.Attempt;
import dev.carillon.protocol.Beat;
import dev.carillon.protocol.Draining;
import dev.carillon.protocol.Free;
import dev.carillon.protocol.FromServer;
import dev.carillon.protocol.FromWorker;
import dev.carillon.protocol.Hello;
import dev.carillon.protocol.Lease;
import dev.carillon.protocol.Outcome;
import dev.carillon.protocol.Outcomes;
import dev.carillon.protocol.Progress;
import dev.carillon.protocol.Refused;
import dev.carillon.protocol.Resume;
import dev.carillon.protocol.Save;
import dev.carillon.protocol.Saved;
import dev.carillon.protocol.Stop;
import dev.carillon.protocol.Token;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a worker knows and decides. Events come with the time by a clock that only moves forward;
 * {@link #turn} is called after them. Only the loop uses it.
 *
 * <p>Crash table:
 *
 * <table>
 * <caption>what if</caption>
 * <tr><td>a stream ends</td><td>its attempts go on; all servers are asked for them again and again;
 * the unleased stop after two seconds, the leased after nine tenths of the lease</td></tr>
 * <tr><td>an answer is lost</td><td>the outcome is said again, to all servers</td></tr>
 * <tr><td>this process stands still</td><td>what nobody vouches for is stopped first of all, and
 * what has come meanwhile is not begun</td></tr>
 * <tr><td>the server's clock is another one</td><td>nothing: both count durations of their own
 * </td></tr>
 * <tr><td>a server gives more than there is room for</td><td>it goes back, uncounted</td></tr>
 * </table>
 */
final class WorkerCore {
  static final long BEAT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  static final long UNLEASED_NANOS = TimeUnit.SECONDS.toNanos(2);
  static final long HELLO_NANOS = TimeUnit.SECONDS.toNanos(5);
  static final long SILENT_NANOS = TimeUnit.SECONDS.toNanos(15);

  /** What is not answered for so long is said again. */
  static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(3);

  private static final long RESUME_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long REPORT_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long FIRST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long LONGEST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long REFUSED_WAIT_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** An outcome that nobody wants to hear for so long is forgotten. */
  private static final long KEEP_NANOS = TimeUnit.HOURS.toNanos(1);

  /** With so many outcomes that are not settled nothing more is taken. */
  static final int MOST_UNSETTLED = 10_000;

  static final int MOST_SERVERS = 64;
  private static final int MESSAGE_BYTES = 1 << 20;
  private static final int MESSAGE_OUTCOMES = 1_000;

  private final Surroundings surroundings;
  private final Hello hello;
  private final int slots;
  private final Map<String, ServerLink> servers = new LinkedHashMap<>();
  private final Map<Long, Run> runs = new LinkedHashMap<>();
  private final Map<Run, Supplier<Progress>> reports = new LinkedHashMap<>();
  private final Map<Long, Saving> asked = new HashMap<>();
  private int occupied;
  private boolean draining;
  private boolean ended;
  private long requests;
  private long nextReportNanos;
  private long nextSweepNanos;

  /** The counts of all that has happened. */
  final Counts counts = new Counts();

  /** How often what happened. */
  static final class Counts {
    long given;
    long refused;
    long settled;
    long stale;
    long abandoned;
  }

  WorkerCore(Surroundings surroundings, Hello hello, Collection<String> addresses, long now) {
    this.surroundings = surroundings;
    this.hello = hello;
    this.slots = hello.getSlots();
    addresses.forEach(address -> servers.put(address, new ServerLink(address, true, now)));
    nextSweepNanos = now;
    nextReportNanos = now;
  }

  // ---- streams

  /** A stream has ended, or could not be opened. */
  void closed(ServerLink server, long stream, Ending ending, long now) {
    if (stream != server.stream || server.state == ServerLink.State.CLOSED) {
      return;
    }
    lost(server, now);
    server.failures++;
    server.problem = ending.why();
    long most = ending.refused() ? REFUSED_WAIT_NANOS : LONGEST_WAIT_NANOS;
    long wait = Math.min(most, FIRST_WAIT_NANOS << Math.min(server.failures, 10));
    server.nextOpenNanos = now + wait / 2 + surroundings.random(wait / 2);
    if (server.failures == 1 || ending.refused()) {
      surroundings.log(true, "no stream to " + server.address + ": " + ending.why());
    }
  }

  /**
   * The end of a stream.
   *
   * @param why for people
   * @param refused the server does not want this worker: to come back soon makes no sense
   */
  record Ending(String why, boolean refused) {}

  private void lost(ServerLink server, long now) {
    server.state = ServerLink.State.CLOSED;
    server.forget();
    List<Run> orphans = new ArrayList<>();
    for (Run run : runs.values()) {
      if (run.link == server) {
        run.vouchedNanos = server.answeredNanos;
        run.link = null;
        run.savings.forEach(saving -> asked.remove(saving.request));
        orphans.add(run);
      }
    }
    orphans.forEach(run -> sayToAll(run, now));
  }

  private void end(ServerLink server, String why, long now) {
    surroundings.close(server, why);
    closed(server, server.stream, new Ending(why, false), now);
  }

  private void open(ServerLink server, long now) {
    server.opens(now);
    surroundings.open(server);
    Hello.Builder message = hello.toBuilder();
    for (Run run : runs.values()) {
      if (!run.isOver()) {
        message.addRunning(run.token());
      }
    }
    surroundings.send(server, FromWorker.newBuilder().setHello(message).build());
  }

  // ---- what servers say

  void heard(ServerLink server, long stream, FromServer message, long now) {
    if (stream != server.stream || server.state == ServerLink.State.CLOSED) {
      return;
    }
    server.heardNanos = now;
    switch (message.getMessageCase()) {
      case WELCOME -> {
        welcomed(server, message.getWelcome().getNode());
        learn(message.getWelcome().getMembers().getAddressesList(), now);
      }
      case ATTEMPTS -> {
        List<Run> begun = new ArrayList<>();
        for (Attempt attempt : message.getAttempts().getAttemptsList()) {
          given(server, attempt, begun, now);
        }
        say(server); // before handlers begin: what kills this process counts as an attempt
        begun.forEach(surroundings::start);
      }
      case LEASED -> message.getLeased().getLeasesList().forEach(lease -> leased(server, lease));
      case STOP -> stop(message.getStop());
      case SETTLED -> message.getSettled().getTokensList().forEach(this::settled);
      case STALE -> message.getStale().getTokensList().forEach(this::stale);
      case MOVED -> message.getMoved().getTokensList().forEach(token -> moved(server, token, now));
      case SAVED -> saved(message.getSaved());
      case MEMBERS -> learn(message.getMembers().getAddressesList(), now);
      case BEAT -> server.answered(message.getBeat().getNumber());
      case DRAIN -> server.drains = true;
      case MESSAGE_NOT_SET -> {} // of a later version
    }
  }

  private void welcomed(ServerLink server, String node) {
    server.state = ServerLink.State.OPEN;
    server.failures = 0;
    server.problem = null;
    server.node = node;
    surroundings.log(false, "connected to " + server.address + " (node " + node + ")");
    for (Run run : runs.values()) {
      if (run.outcome != null) {
        server.outcomes.add(run.outcome);
      }
    }
    if (draining) {
      surroundings.send(
          server, FromWorker.newBuilder().setDraining(Draining.getDefaultInstance()).build());
    }
  }

  private void learn(List<String> addresses, long now) {
    for (String address : addresses) {
      if (servers.size() < MOST_SERVERS && !address.isEmpty()) {
        servers.computeIfAbsent(address, a -> new ServerLink(a, false, now));
      }
    }
    if (!addresses.isEmpty()) {
      servers.values().removeIf(server -> isForgotten(server, addresses));
    }
  }

  /** Nobody names it any more, and nobody answers there. */
  private static boolean isForgotten(ServerLink server, List<String> addresses) {
    return !server.named
        && server.state == ServerLink.State.CLOSED
        && server.failures > 10
        && !addresses.contains(server.address);
  }

  private void given(ServerLink server, Attempt attempt, List<Run> begun, long now) {
    server.lastSeen = Math.max(server.lastSeen, attempt.getNumber());
    Token token = attempt.getToken();
    if (runs.containsKey(token.getNonce())) {
      return; // said twice
    }
    counts.given++;
    boolean late = now - server.answeredNanos >= UNLEASED_NANOS;
    if (late || draining || occupied >= slots) {
      counts.refused++;
      server.refused.add(token);
      return;
    }
    Run run = new Run(attempt, server, now);
    runs.put(token.getNonce(), run);
    occupied++;
    server.accepted.add(token);
    begun.add(run);
  }

  private @Nullable Run find(Token token) {
    Run run = runs.get(token.getNonce());
    return run != null && run.token().equals(token) ? run : null;
  }

  private void leased(ServerLink server, Lease lease) {
    Run run = find(lease.getToken());
    if (run != null) {
      run.leased = true;
      run.leaseNanos = TimeUnit.MILLISECONDS.toNanos(lease.getLengthMillis());
      attach(run, server);
    }
  }

  private void attach(Run run, ServerLink server) {
    if (run.link != server) {
      run.link = server;
      run.savings.forEach(this::ask);
    }
  }

  private void stop(Stop stop) {
    Run run = find(stop.getToken());
    if (run == null || run.isOver()) {
      return;
    }
    switch (stop.getWhy()) {
      case PAUSE, SHUTDOWN -> run.paused = true;
      case FENCED -> abandon(run);
      case CANCEL, TIMEOUT, DEADLINE, WHY_UNKNOWN, UNRECOGNIZED -> {
        run.cancelled = true;
        surroundings.interrupt(run);
      }
    }
  }

  private void settled(Token token) {
    Run run = find(token);
    if (run != null && run.isOver()) {
      counts.settled++;
      runs.remove(token.getNonce());
    }
  }

  private void stale(Token token) {
    Run run = find(token);
    if (run == null) {
      return;
    }
    counts.stale++;
    run.stale = true;
    if (run.isOver()) {
      runs.remove(token.getNonce());
    } else {
      abandon(run);
    }
  }

  private void moved(ServerLink server, Token token, long now) {
    Run run = find(token);
    if (run != null && run.link == server) {
      run.vouchedNanos = server.answeredNanos;
      run.link = null;
      run.savings.forEach(saving -> asked.remove(saving.request));
      sayToAll(run, now);
    }
  }

  // ---- handlers

  /** A handler has returned. */
  void finished(Run run, Outcome outcome, long now) {
    if (run.isOver()) {
      return;
    }
    occupied--;
    run.outcome = outcome;
    run.endedNanos = now;
    Supplier<Progress> last = reports.remove(run);
    if (last != null) {
      sayReport(run, last);
    }
    run.savings.forEach(saving -> asked.remove(saving.request));
    if (run.stale) {
      runs.remove(run.token().getNonce());
      return;
    }
    ServerLink link = run.link;
    if (link != null && link.isOpen()) {
      run.saidNanos = now;
      link.outcomes.add(outcome);
    } else {
      sayToAll(run, now);
    }
  }

  /** Keeps a position. */
  void save(Saving saving) {
    Run run = saving.run;
    if (run.isOver() || run.stale || run.elsewhere) {
      saving.answer.complete(Saved.Result.STALE);
      return;
    }
    run.savings.add(saving);
    ask(saving);
  }

  private void ask(Saving saving) {
    ServerLink link = saving.run.link;
    if (link != null && link.isOpen()) {
      saving.request = ++requests;
      asked.put(saving.request, saving);
      surroundings.send(
          link,
          FromWorker.newBuilder()
              .setSave(
                  Save.newBuilder()
                      .setRequest(saving.request)
                      .setToken(saving.run.token())
                      .setState(saving.state))
              .build());
    }
  }

  private void saved(Saved saved) {
    Saving saving = asked.remove(saved.getRequest());
    if (saving != null) {
      saving.run.savings.remove(saving);
      saving.answer.complete(saved.getResult());
    }
  }

  /** The handler reports; what that is is asked for when it is said. */
  void report(Run run, Supplier<Progress> progress) {
    if (!run.isOver()) {
      reports.put(run, progress);
    }
  }

  /** Nobody vouches for it any more. */
  private void abandon(Run run) {
    if (!run.elsewhere) {
      counts.abandoned++;
      run.elsewhere = true;
      run.cancelled = true;
      run.savings.forEach(saving -> saving.answer.complete(Saved.Result.STALE));
      run.savings.clear();
      surroundings.interrupt(run);
    }
  }

  // ---- the end

  /** Takes nothing more; attempts that can save their position are asked to. */
  void drain() {
    draining = true;
    for (ServerLink server : servers.values()) {
      if (server.isOpen()) {
        surroundings.send(
            server, FromWorker.newBuilder().setDraining(Draining.getDefaultInstance()).build());
      }
    }
    runs.values().forEach(run -> run.paused = true);
  }

  /** Handlers have had their time. */
  void interruptAll() {
    for (Run run : runs.values()) {
      if (!run.isOver()) {
        run.paused = true;
        surroundings.interrupt(run);
      }
    }
  }

  /** Whether there is nothing left to say. */
  boolean isIdle() {
    return runs.isEmpty();
  }

  /** Ends all streams. */
  void end(long now) {
    ended = true;
    for (ServerLink server : servers.values()) {
      if (server.state != ServerLink.State.CLOSED) {
        surroundings.close(server, "the worker ends");
        lost(server, now);
      }
    }
  }

  // ---- time

  /** Does what is due and says what has gathered; returns how long nothing will be. */
  long turn(long now) {
    if (ended) {
      return BEAT_NANOS;
    }
    if (now - nextSweepNanos >= 0) {
      sweep(now);
      nextSweepNanos = now + BEAT_NANOS / 5;
    }
    for (ServerLink server : servers.values()) {
      if (server.isOpen()) {
        say(server);
      }
    }
    sayFree();
    if (!reports.isEmpty() && now - nextReportNanos >= 0) {
      nextReportNanos = now + REPORT_NANOS;
      sayReports();
    }
    return Math.max(1, nextSweepNanos - now);
  }

  private void sweep(long now) {
    for (Run run : runs.values()) {
      look(run, now);
    }
    runs.values().removeIf(run -> run.isOver() && now - run.endedNanos >= KEEP_NANOS);
    for (ServerLink server : List.copyOf(servers.values())) {
      look(server, now);
    }
  }

  private void look(Run run, long now) {
    if (run.isOver()) {
      if (now - run.saidNanos >= AGAIN_NANOS) {
        sayToAll(run, now);
      }
      return;
    }
    long most = run.leased ? run.leaseNanos / 10 * 9 : UNLEASED_NANOS;
    if (now - run.vouched() >= most) {
      abandon(run);
    } else if (run.link == null && now - run.saidNanos >= RESUME_NANOS) {
      sayToAll(run, now);
    }
  }

  private void look(ServerLink server, long now) {
    switch (server.state) {
      case CLOSED -> {
        if (now - server.nextOpenNanos >= 0 && !isReachedOtherwise(server)) {
          open(server, now);
        }
      }
      case OPENING -> {
        if (now - server.openedNanos >= HELLO_NANOS) {
          end(server, "no welcome in time", now);
        }
      }
      case OPEN -> {
        if (now - server.heardNanos >= SILENT_NANOS) {
          end(server, "silent for " + SILENT_NANOS / 1_000_000_000 + " s", now);
        } else if (now - server.beatSentNanos >= BEAT_NANOS) {
          server.beats(now);
          surroundings.send(
              server,
              FromWorker.newBuilder().setBeat(Beat.newBuilder().setNumber(server.beat)).build());
        }
      }
    }
  }

  /** Two addresses may lead to one node, which has one stream of a worker. */
  private boolean isReachedOtherwise(ServerLink server) {
    return !server.node.isEmpty()
        && servers.values().stream()
            .anyMatch(other -> other.isOpen() && other.node.equals(server.node));
  }

  // ---- what is said

  /** Asks all servers for an attempt, or tells all of its end: one of them has its job. */
  private void sayToAll(Run run, long now) {
    run.saidNanos = now;
    for (ServerLink server : servers.values()) {
      if (server.isOpen()) {
        Outcome outcome = run.outcome;
        if (outcome != null) {
          server.outcomes.add(outcome);
        } else {
          server.resumed.add(run.token());
        }
      }
    }
  }

  private void say(ServerLink server) {
    if (!server.accepted.isEmpty()) {
      FromWorker.Builder message = FromWorker.newBuilder();
      message.setAccepted(Accepted.newBuilder().addAllTokens(server.accepted));
      surroundings.send(server, message.build());
      server.accepted.clear();
    }
    if (!server.refused.isEmpty()) {
      FromWorker.Builder message = FromWorker.newBuilder();
      message.setRefused(Refused.newBuilder().addAllTokens(server.refused));
      surroundings.send(server, message.build());
      server.refused.clear();
    }
    if (!server.resumed.isEmpty()) {
      FromWorker.Builder message = FromWorker.newBuilder();
      message.setResume(Resume.newBuilder().addAllTokens(server.resumed));
      surroundings.send(server, message.build());
      server.resumed.clear();
    }
    if (!server.outcomes.isEmpty()) {
      sayOutcomes(server);
    }
  }

  private void sayOutcomes(ServerLink server) {
    Outcomes.Builder message = Outcomes.newBuilder();
    int bytes = 0;
    for (Outcome outcome : server.outcomes) {
      int more = outcome.getSerializedSize();
      boolean full = bytes + more > MESSAGE_BYTES || message.getOutcomesCount() >= MESSAGE_OUTCOMES;
      if (full && message.getOutcomesCount() > 0) {
        surroundings.send(server, FromWorker.newBuilder().setOutcomes(message).build());
        message = Outcomes.newBuilder();
        bytes = 0;
      }
      message.addOutcomes(outcome);
      bytes += more;
    }
    surroundings.send(server, FromWorker.newBuilder().setOutcomes(message).build());
    server.outcomes.clear();
  }

  private void sayFree() {
    int unsettled = runs.size() - occupied;
    int free = draining || unsettled >= MOST_UNSETTLED ? 0 : slots - occupied;
    int open = 0;
    for (ServerLink server : servers.values()) {
      open += server.isOpen() && !server.drains ? 1 : 0;
    }
    for (ServerLink server : servers.values()) {
      if (server.isOpen()) {
        int share = free == 0 || server.drains ? 0 : Math.max(1, free / open);
        if (share != server.toldFree || server.lastSeen != server.toldSeen) {
          server.toldFree = share;
          server.toldSeen = server.lastSeen;
          surroundings.send(
              server,
              FromWorker.newBuilder()
                  .setFree(Free.newBuilder().setSlots(share).setLastSeen(server.lastSeen))
                  .build());
        }
      }
    }
  }

  private void sayReports() {
    reports.entrySet().removeIf(each -> sayReport(each.getKey(), each.getValue()));
  }

  /** Whether there is a server to tell. */
  private boolean sayReport(Run run, Supplier<Progress> report) {
    ServerLink link = run.link;
    if (link == null || !link.isOpen()) {
      return false;
    }
    surroundings.send(link, FromWorker.newBuilder().setProgress(report.get()).build());
    return true;
  }

  // ---- for people

  Collection<ServerLink> servers() {
    return servers.values();
  }

  int occupied() {
    return occupied;
  }

  int unsettled() {
    return runs.size() - occupied;
  }
}
