package dev.carillon.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.protocol.Attempt;
import dev.carillon.protocol.Attempts;
import dev.carillon.protocol.Beat;
import dev.carillon.protocol.FromServer;
import dev.carillon.protocol.FromWorker;
import dev.carillon.protocol.Hello;
import dev.carillon.protocol.Interrupted;
import dev.carillon.protocol.Lease;
import dev.carillon.protocol.Leased;
import dev.carillon.protocol.Members;
import dev.carillon.protocol.Moved;
import dev.carillon.protocol.Outcome;
import dev.carillon.protocol.Settled;
import dev.carillon.protocol.Stale;
import dev.carillon.protocol.Succeeded;
import dev.carillon.protocol.Token;
import dev.carillon.protocol.Welcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The rules of the protocol on the worker's side, on a clock that the test moves. */
class WorkerCoreTest {
  private static final int SLOTS = 4;

  private final World world = new World();
  private long now = TimeUnit.DAYS.toNanos(1);
  private WorkerCore core = worker("a:1");

  private WorkerCore worker(String... addresses) {
    return new WorkerCore(
        world, Hello.newBuilder().setWorker("w").setSlots(SLOTS).build(), List.of(addresses), now);
  }

  /** What is done for the worker, as the test sees it. */
  private static final class World implements Surroundings {
    final Map<String, List<FromWorker>> said = new HashMap<>();
    final List<Run> started = new ArrayList<>();
    final List<Run> interrupted = new ArrayList<>();
    final List<String> closed = new ArrayList<>();

    @Override
    public void open(ServerLink server) {
      said.put(server.address, new ArrayList<>());
    }

    @Override
    public void send(ServerLink server, FromWorker message) {
      said.get(server.address).add(message);
    }

    @Override
    public void close(ServerLink server, String why) {
      closed.add(server.address);
    }

    @Override
    public void start(Run run) {
      started.add(run);
    }

    @Override
    public void interrupt(Run run) {
      interrupted.add(run);
    }

    @Override
    public long random(long bound) {
      return 0;
    }

    @Override
    public void log(boolean warning, String text) {}
  }

  private void turn() {
    assertThat(core.turn(now)).isPositive();
  }

  /** Lets time go by in steps, as a loop would. */
  private void pass(long millis) {
    for (long left = millis; left > 0; left -= 50) {
      now += TimeUnit.MILLISECONDS.toNanos(Math.min(50, left));
      turn();
    }
  }

  private ServerLink server(String address) {
    return core.servers().stream().filter(s -> s.address.equals(address)).findFirst().orElseThrow();
  }

  private void hear(String address, FromServer.Builder message) {
    ServerLink server = server(address);
    core.heard(server, server.stream, message.build(), now);
    turn();
  }

  private void welcome(String address) {
    turn();
    hear(address, FromServer.newBuilder().setWelcome(Welcome.newBuilder().setNode(address)));
  }

  private void answerBeats(String address) {
    hear(
        address,
        FromServer.newBuilder().setBeat(Beat.newBuilder().setNumber(server(address).beat)));
  }

  private static Token token(int nonce) {
    return Token.newBuilder().setJob("j").setAttempt(1).setNonce(nonce).build();
  }

  private void give(String address, int... nonces) {
    Attempts.Builder all = Attempts.newBuilder();
    for (int nonce : nonces) {
      all.addAttempts(Attempt.newBuilder().setToken(token(nonce)).setNumber(nonce).setType("t"));
    }
    hear(address, FromServer.newBuilder().setAttempts(all));
  }

  private void lease(String address, int nonce, long millis) {
    hear(
        address,
        FromServer.newBuilder()
            .setLeased(
                Leased.newBuilder()
                    .addLeases(Lease.newBuilder().setToken(token(nonce)).setLengthMillis(millis))));
  }

  private void finish(int index) {
    Run run = world.started.get(index);
    core.finished(
        run,
        Outcome.newBuilder()
            .setToken(run.token())
            .setSucceeded(Succeeded.getDefaultInstance())
            .build(),
        now);
    turn();
  }

  private void lose(String address) {
    ServerLink server = server(address);
    core.closed(server, server.stream, new WorkerCore.Ending("gone", false), now);
    turn();
  }

  private List<FromWorker> said(String address, FromWorker.MessageCase kind) {
    return world.said.get(address).stream().filter(m -> m.getMessageCase() == kind).toList();
  }

  private int freeAt(String address) {
    return said(address, FromWorker.MessageCase.FREE).getLast().getFree().getSlots();
  }

  @Test
  void saysHelloThenRoomThenAcceptsBeforeItStarts() {
    welcome("a:1");
    assertThat(world.said.get("a:1").getFirst().hasHello()).isTrue();
    assertThat(freeAt("a:1")).isEqualTo(SLOTS);
    give("a:1", 1, 2);
    assertThat(
            said("a:1", FromWorker.MessageCase.ACCEPTED).getFirst().getAccepted().getTokensList())
        .containsExactly(token(1), token(2));
    assertThat(world.started).hasSize(2);
    FromWorker last = said("a:1", FromWorker.MessageCase.FREE).getLast();
    assertThat(last.getFree().getSlots()).isEqualTo(2);
    assertThat(last.getFree().getLastSeen()).isEqualTo(2);
  }

  @Test
  void whatComesBeyondTheSlotsGoesBackUncounted() {
    welcome("a:1");
    give("a:1", 1, 2, 3, 4, 5);
    assertThat(world.started).hasSize(SLOTS);
    assertThat(said("a:1", FromWorker.MessageCase.REFUSED).getFirst().getRefused().getTokensList())
        .containsExactly(token(5));
    assertThat(freeAt("a:1")).isZero();
  }

  @Test
  void whatIsGivenTwiceRunsOnce() {
    welcome("a:1");
    give("a:1", 1);
    give("a:1", 1);
    assertThat(world.started).hasSize(1);
  }

  @Test
  void unleasedAttemptIsStoppedTwoSecondsAfterTheLastAnsweredBeatWasSent() {
    welcome("a:1");
    pass(600); // a beat is sent, and answered late
    long sent = server("a:1").beatSentNanos;
    pass(300);
    answerBeats("a:1");
    give("a:1", 1);
    assertThat(server("a:1").answeredNanos).isEqualTo(sent);
    pass(TimeUnit.NANOSECONDS.toMillis(sent + WorkerCore.UNLEASED_NANOS - now) - 50);
    assertThat(world.interrupted).isEmpty();
    pass(200);
    assertThat(world.interrupted).hasSize(1);
    assertThat(world.started.getFirst().elsewhere).isTrue();
  }

  @Test
  void leasedAttemptIsStoppedWithATenthOfTheLeaseToSpare() {
    welcome("a:1");
    give("a:1", 1);
    lease("a:1", 1, 20_000);
    lose("a:1");
    long vouched = world.started.getFirst().vouchedNanos;
    pass(TimeUnit.NANOSECONDS.toMillis(vouched - now) + 17_900);
    assertThat(world.interrupted).isEmpty();
    pass(300);
    assertThat(world.interrupted).hasSize(1);
  }

  @Test
  void answeredBeatsKeepAttemptsAlive() {
    welcome("a:1");
    give("a:1", 1);
    for (int i = 0; i < 100; i++) {
      pass(600);
      answerBeats("a:1");
    }
    assertThat(world.interrupted).isEmpty();
  }

  @Test
  void workerThatStoodStillStopsFirstAndBeginsNothing() {
    welcome("a:1");
    give("a:1", 1);
    now += TimeUnit.SECONDS.toNanos(30);
    give("a:1", 2);
    assertThat(world.started).hasSize(1);
    assertThat(world.interrupted).hasSize(1);
    assertThat(said("a:1", FromWorker.MessageCase.REFUSED)).hasSize(1);
  }

  @Test
  void outcomeIsSaidAgainUntilItIsSettled() {
    welcome("a:1");
    give("a:1", 1);
    finish(0);
    assertThat(said("a:1", FromWorker.MessageCase.OUTCOMES)).hasSize(1);
    pass(TimeUnit.NANOSECONDS.toMillis(WorkerCore.AGAIN_NANOS) + 500);
    assertThat(said("a:1", FromWorker.MessageCase.OUTCOMES)).hasSize(2);
    lose("a:1");
    pass(3_000);
    welcome("a:1");
    assertThat(said("a:1", FromWorker.MessageCase.OUTCOMES)).isNotEmpty();
    hear("a:1", FromServer.newBuilder().setSettled(Settled.newBuilder().addTokens(token(1))));
    assertThat(core.isIdle()).isTrue();
  }

  @Test
  void staleAttemptIsStoppedAndItsOutcomeIsNotSaid() {
    welcome("a:1");
    give("a:1", 1);
    hear("a:1", FromServer.newBuilder().setStale(Stale.newBuilder().addTokens(token(1))));
    assertThat(world.interrupted).hasSize(1);
    finish(0);
    assertThat(said("a:1", FromWorker.MessageCase.OUTCOMES)).isEmpty();
    assertThat(core.isIdle()).isTrue();
  }

  @Test
  void newerAttemptOfTheSameJobDoesNotMakeTheOldOneValid() {
    welcome("a:1");
    give("a:1", 1);
    give("a:1", 2); // the same job under another nonce
    hear("a:1", FromServer.newBuilder().setStale(Stale.newBuilder().addTokens(token(1))));
    assertThat(world.interrupted).containsExactly(world.started.getFirst());
    finish(1);
    assertThat(
            said("a:1", FromWorker.MessageCase.OUTCOMES).getFirst().getOutcomes().getOutcomesList())
        .extracting(Outcome::getToken)
        .containsExactly(token(2));
  }

  @Test
  void attemptThatMovedIsAskedForAtAllServersAndKeptByTheOneThatLeasesIt() {
    core = worker("a:1", "b:2");
    welcome("a:1");
    welcome("b:2");
    give("a:1", 1);
    lease("a:1", 1, 20_000);
    hear("a:1", FromServer.newBuilder().setMoved(Moved.newBuilder().addTokens(token(1))));
    assertThat(said("b:2", FromWorker.MessageCase.RESUME)).hasSize(1);
    pass(1_200);
    assertThat(said("b:2", FromWorker.MessageCase.RESUME)).hasSize(2);
    lease("b:2", 1, 20_000);
    for (int i = 0; i < 100; i++) {
      pass(400);
      answerBeats("b:2");
    }
    assertThat(world.interrupted).isEmpty();
    finish(0);
    assertThat(said("b:2", FromWorker.MessageCase.OUTCOMES)).hasSize(1);
  }

  @Test
  void roomIsSharedOutAmongServers() {
    core = worker("a:1", "b:2");
    welcome("a:1");
    welcome("b:2");
    assertThat(freeAt("a:1") + freeAt("b:2")).isEqualTo(SLOTS);
    give("a:1", 1, 2);
    assertThat(freeAt("a:1")).isEqualTo(1);
    assertThat(freeAt("b:2")).isEqualTo(1);
    lose("b:2");
    assertThat(freeAt("a:1")).isEqualTo(2);
  }

  @Test
  void serversThatAreNamedAreConnectedToo() {
    turn();
    hear(
        "a:1",
        FromServer.newBuilder()
            .setWelcome(
                Welcome.newBuilder()
                    .setNode("a")
                    .setMembers(Members.newBuilder().addAddresses("b:2").addAddresses("a:1"))));
    pass(200);
    assertThat(world.said.get("b:2").getFirst().hasHello()).isTrue();
  }

  @Test
  void nodeOfTwoAddressesHasOneStream() {
    core = worker("a:1", "other-name-of-a:1");
    welcome("a:1");
    hear(
        "other-name-of-a:1",
        FromServer.newBuilder().setWelcome(Welcome.newBuilder().setNode("a:1")));
    lose("a:1"); // by the node, which has the newer stream
    for (int i = 0; i < 20; i++) {
      pass(400);
      answerBeats("other-name-of-a:1");
    }
    assertThat(server("a:1").isOpen()).isFalse();
    lose("other-name-of-a:1");
    pass(3_000);
    assertThat(server("a:1").state).isNotEqualTo(ServerLink.State.CLOSED);
  }

  @Test
  void helloOfANewStreamNamesWhatRuns() {
    welcome("a:1");
    give("a:1", 1);
    lease("a:1", 1, 20_000);
    lose("a:1");
    pass(3_000);
    assertThat(world.said.get("a:1").getFirst().getHello().getRunningList())
        .containsExactly(token(1));
  }

  @Test
  void silentStreamAndMissingWelcomeEndTheStream() {
    turn();
    pass(TimeUnit.NANOSECONDS.toMillis(WorkerCore.HELLO_NANOS) + 200);
    assertThat(world.closed).hasSize(1);
    pass(2_000);
    welcome("a:1");
    pass(TimeUnit.NANOSECONDS.toMillis(WorkerCore.SILENT_NANOS) + 200);
    assertThat(world.closed).hasSize(2);
  }

  @Test
  void drainingSaysSoAndTakesNothing() {
    welcome("a:1");
    give("a:1", 1);
    core.drain();
    turn();
    assertThat(said("a:1", FromWorker.MessageCase.DRAINING)).hasSize(1);
    assertThat(freeAt("a:1")).isZero();
    assertThat(world.started.getFirst().paused).isTrue();
    give("a:1", 2);
    assertThat(world.started).hasSize(1);
    core.interruptAll();
    assertThat(world.interrupted).hasSize(1);
    Run run = world.started.getFirst();
    core.finished(
        run,
        Outcome.newBuilder()
            .setToken(run.token())
            .setInterrupted(Interrupted.getDefaultInstance())
            .build(),
        now);
    turn();
    assertThat(core.isIdle()).isFalse();
    hear("a:1", FromServer.newBuilder().setSettled(Settled.newBuilder().addTokens(token(1))));
    assertThat(core.isIdle()).isTrue();
  }
}
