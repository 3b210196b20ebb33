package dev.carillon.engine.worker;

import dev.carillon.api.AttemptToken;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.NodeEnvironment;
import dev.carillon.engine.member.Member;
import dev.carillon.engine.member.MemberStatus;
import dev.carillon.engine.message.Message;
import dev.carillon.engine.message.Wire;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Workers that are connected to other nodes, as an owner of jobs sees them: each is a connection
 * like any other, whose words come and go by way of its gateway.
 *
 * <p>A gateway tells of all its workers. It gives room only where an owner asks for some ({@code
 * Want}), for as long as jobs wait. It answers beats for what an owner gave, so that nothing new
 * crosses the store for a beat; it hears its workers until it says otherwise.
 */
final class FarWorkers {
  /** So soon a gateway is asked for room again. */
  private static final long ASK_NANOS = 200_000_000;

  /** So many attempts are asked for at once, of each gateway. */
  private static final int ASKED_FOR = 64;

  private final NodeEnvironment env;
  private final MemberStatus status;
  private final Wire wire;
  private final Host host;
  private final Map<Long, Gateway> gateways = new LinkedHashMap<>();

  /** What workers say, wherever they are connected. */
  interface Host {
    WorkerLink came(WorkerHello hello, WorkerStream stream, long gateway);

    void went(WorkerLink link);

    void said(WorkerLink link, RelayWord word);
  }

  /** A node that workers are connected to. */
  private static final class Gateway {
    long era;
    @Nullable Long askedNanos;
    final Map<Long, WorkerLink> links = new LinkedHashMap<>();
  }

  FarWorkers(NodeEnvironment env, MemberStatus status, Wire wire, Host host) {
    this.env = env;
    this.status = status;
    this.wire = wire;
    this.host = host;
  }

  /** Who is there now: the workers of those who are not have no gateway any more. */
  void saw(List<Member> members) {
    Map<Long, Long> eras = new LinkedHashMap<>();
    members.forEach(member -> eras.put(member.incarnation(), member.said().era() | 1));
    for (Map.Entry<Long, Gateway> each : List.copyOf(gateways.entrySet())) {
      Gateway gateway = each.getValue();
      Long era = eras.get(each.getKey());
      if (era != null && (gateway.era == 0 || gateway.era == era)) {
        gateway.era = era;
      } else {
        gateways.remove(each.getKey());
        List.copyOf(gateway.links.values()).forEach(host::went);
      }
    }
  }

  /** The store is another copy: what was said is nobody's. */
  void exchanged() {
    for (Gateway gateway : List.copyOf(gateways.values())) {
      List.copyOf(gateway.links.values()).forEach(host::went);
    }
    gateways.clear();
  }

  /** A gateway says something; false where that is not for an owner. */
  boolean heard(long from, RelayWord word) {
    switch (word) {
      case RelayWord.Here(long link, WorkerHello hello) -> {
        Gateway gateway = gateways.computeIfAbsent(from, f -> new Gateway());
        if (!gateway.links.containsKey(link)) {
          gateway.links.put(link, host.came(hello, new FarStream(from, link), from));
        }
      }
      case RelayWord.Gone(long link) -> went(from, link);
      case RelayWord.Roll(List<Long> links) -> called(from, links);
      case RelayWord.Silent(long link, long nanos) -> {
        WorkerLink of = find(from, link);
        if (of != null) {
          of.silentFor(nanos, env.monotonicNanos());
        }
      }
      case RelayWord.Free free -> {
        WorkerLink of = find(from, free.link());
        if (of != null && of.stream instanceof FarStream stream) {
          stream.stamp = free.stamp();
        }
        said(from, free.link(), word);
      }
      case RelayWord.Accepted(long link, AttemptToken token) -> said(from, link, word);
      case RelayWord.Resume(long link, List<AttemptToken> tokens) -> said(from, link, word);
      case RelayWord.Ended ended -> said(from, ended.link(), word);
      case RelayWord.Save save -> said(from, save.link(), word);
      case RelayWord.Reported reported -> said(from, reported.link(), word);
      case RelayWord.Withdrawn(long link, AttemptToken token) -> said(from, link, word);
      default -> {
        return false;
      }
    }
    return true;
  }

  private @Nullable WorkerLink find(long from, long link) {
    Gateway gateway = gateways.get(from);
    return gateway != null ? gateway.links.get(link) : null;
  }

  private void said(long from, long link, RelayWord word) {
    WorkerLink of = find(from, link);
    if (of != null) {
      host.said(of, word);
    }
  }

  private void went(long from, long link) {
    Gateway gateway = gateways.get(from);
    WorkerLink of = gateway != null ? gateway.links.remove(link) : null;
    if (of != null) {
      host.went(of);
    }
  }

  /** Words may be lost: what a gateway does not name is gone, what is not known is asked for. */
  private void called(long from, List<Long> links) {
    Gateway gateway = gateways.computeIfAbsent(from, f -> new Gateway());
    Set<Long> there = new LinkedHashSet<>(links);
    for (Long known : List.copyOf(gateway.links.keySet())) {
      if (!there.contains(known)) {
        went(from, known);
      }
    }
    List<Long> unknown = new ArrayList<>(there);
    unknown.removeAll(gateway.links.keySet());
    if (!unknown.isEmpty()) {
      send(from, new RelayWord.Unknown(unknown));
    }
  }

  /**
   * Jobs of these types wait for workers: gateways are asked for room.
   *
   * @return how soon they may be asked again; 0 where there is nobody to ask
   */
  long ask(List<String> types) {
    long now = env.monotonicNanos();
    boolean any = false;
    for (Map.Entry<Long, Gateway> each : gateways.entrySet()) {
      Gateway gateway = each.getValue();
      if (!takesAny(gateway, types)) {
        continue;
      }
      any = true;
      Long asked = gateway.askedNanos;
      if (asked == null || now - asked >= ASK_NANOS) {
        gateway.askedNanos = now;
        send(each.getKey(), new RelayWord.Want(types, ASKED_FOR));
      }
    }
    return any ? ASK_NANOS : 0;
  }

  private static boolean takesAny(Gateway gateway, List<String> types) {
    return gateway.links.values().stream().anyMatch(link -> types.stream().anyMatch(link::takes));
  }

  boolean isEmpty() {
    return gateways.isEmpty();
  }

  private void send(long to, RelayWord word) {
    wire.send(to, Message.encode(new Message.OfWorker(RelayWord.encode(word))));
  }

  /** Beats on the connection are not to renew the attempt any more. */
  static void withdraw(WorkerLink link, AttemptToken token) {
    if (link.stream instanceof FarStream far) {
      far.withdraw(token);
    }
  }

  /** Answers a position that came by way of a gateway. */
  static void saved(WorkerLink link, long request, dev.carillon.store.Outcome<Boolean> outcome) {
    if (link.stream instanceof FarStream far) {
      far.saved(request, outcome);
    }
  }

  /** The way to a worker by its gateway. */
  private final class FarStream implements WorkerStream {
    private final long gateway;
    private final long link;

    /** When room was last spoken of, by the gateway's clock. */
    private long stamp;

    FarStream(long gateway, long link) {
      this.gateway = gateway;
      this.link = link;
    }

    private void say(RelayWord word) {
      send(gateway, word);
    }

    @Override
    public void give(Attempt attempt, long number) {
      Gateway of = gateways.get(gateway);
      long era = of != null ? of.era : 0;
      say(new RelayWord.Give(link, number, status.era(), era, stamp, attempt.loan()));
    }

    @Override
    public void leased(AttemptToken token, long lengthMicros) {
      say(new RelayWord.Leased(link, status.era(), token, lengthMicros));
    }

    @Override
    public void known(AttemptToken token) {
      say(new RelayWord.Mine(link, status.era(), token));
    }

    @Override
    public void stop(AttemptToken token, Attempt.StopCause why) {
      say(new RelayWord.Stop(link, token, why));
    }

    @Override
    public void told(AttemptToken token, Word word) {
      say(new RelayWord.Told(link, token, word));
    }

    @Override
    public void beat(long number) {}

    @Override
    public void close(String why) {}

    void withdraw(AttemptToken token) {
      say(new RelayWord.Withdraw(link, token));
    }

    void saved(long request, dev.carillon.store.Outcome<Boolean> outcome) {
      say(new RelayWord.Saved(link, request, outcome));
    }
  }
}
