package dev.carillon.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.api.BlockReason;
import dev.carillon.api.JobHandle;
import dev.carillon.api.JobState;
import dev.carillon.api.TaskType;
import dev.carillon.protocol.Accepted;
import dev.carillon.protocol.Free;
import dev.carillon.protocol.FromServer;
import dev.carillon.protocol.FromWorker;
import dev.carillon.protocol.Hello;
import dev.carillon.protocol.Outcome;
import dev.carillon.protocol.Outcomes;
import dev.carillon.protocol.Resume;
import dev.carillon.protocol.Succeeded;
import dev.carillon.protocol.Take;
import dev.carillon.protocol.Token;
import dev.carillon.server.access.Grant;
import dev.carillon.server.access.ProvenAccess;
import dev.carillon.server.access.Role;
import dev.carillon.server.access.Scope;
import dev.carillon.server.access.TokenProof;
import dev.carillon.server.access.Tokens;
import dev.carillon.server.gateway.GatewayLimits;
import io.grpc.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the listener for workers does with streams that are not as they should be. */
@Timeout(120)
@SuppressWarnings("try") // workers are there to run
class GatewayTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final TaskType<String> NOTE = TaskType.of("note", String.class);

  @TempDir Path folder;
  private TestServer server;

  private void open(GatewayLimits limits) {
    server =
        new TestServer(
            folder.resolve("jobs.db"),
            limits,
            carillon -> new dev.carillon.server.access.LoopbackAccess());
  }

  @AfterEach
  void close() {
    if (server != null) {
      server.close();
    }
  }

  private static FromWorker hello(String name, Take... takes) {
    return FromWorker.newBuilder()
        .setHello(Hello.newBuilder().setWorker(name).addAllTakes(List.of(takes)).setSlots(1))
        .build();
  }

  private static Take take(String type) {
    return Take.newBuilder().setType(type).build();
  }

  private static FromWorker free(int slots) {
    return FromWorker.newBuilder().setFree(Free.newBuilder().setSlots(slots)).build();
  }

  private static FromWorker done(Token token) {
    return FromWorker.newBuilder()
        .setOutcomes(
            Outcomes.newBuilder()
                .addOutcomes(
                    Outcome.newBuilder()
                        .setToken(token)
                        .setSucceeded(Succeeded.getDefaultInstance())))
        .build();
  }

  @Test
  void wrongWordsEndTheStreamAndSayWhatIsWrong() throws Exception {
    open(GatewayLimits.standard());
    try (PlayedStream first = PlayedStream.to(server.workers())) {
      first.say(free(1));
      assertThat(first.awaitEnd())
          .satisfies(status -> assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT))
          .satisfies(status -> assertThat(status.getDescription()).contains("hello first"));
    }
    assertEnds(hello(""), "a name of 1 to 200 characters");
    assertEnds(hello("w"), "takes: 0 (expected: 1 to 1000)");
    assertEnds(hello("w\n"), "hello.worker: a name with control characters");
    Take[] many = new Take[10_000];
    for (int i = 0; i < many.length; i++) {
      many[i] = take("type" + i);
    }
    assertEnds(hello("w", many), "hello.takes: 10000 (expected: 1 to 1000)");
    assertEnds(
        hello("w", take("a").toBuilder().setLeaseMillis(1).build()),
        "lease: PT0.001S (expected: PT5S to PT1H)");

    Token malformed = Token.newBuilder().setJob("j").setAttempt(0).build();
    assertAnsweredByEnd(done(malformed), "token.attempt: 0");
    assertAnsweredByEnd(done(malformed.toBuilder().setJob(" ").setAttempt(1).build()), "job id:");
    assertAnsweredByEnd(
        FromWorker.newBuilder()
            .setOutcomes(
                Outcomes.newBuilder()
                    .addOutcomes(
                        Outcome.newBuilder().setToken(malformed.toBuilder().setAttempt(1))))
            .build(),
        "outcome.how: none");
    assertAnsweredByEnd(hello("w", take("note")), "hello: a second one");
  }

  private void assertEnds(FromWorker hello, String why) throws Exception {
    try (PlayedStream stream = PlayedStream.to(server.workers())) {
      stream.say(hello);
      assertThat(stream.awaitEnd().getDescription()).contains(why);
    }
  }

  private void assertAnsweredByEnd(FromWorker word, String why) throws Exception {
    try (PlayedStream stream = PlayedStream.to(server.workers())) {
      stream.say(hello("w", take("note")));
      stream.await(FromServer::hasWelcome);
      stream.say(word);
      assertThat(stream.awaitEnd().getDescription()).contains(why);
    }
  }

  @Test
  void fabricatedDoubledAndForeignOutcomesCountForNothing() throws Exception {
    open(GatewayLimits.standard());
    try (PlayedStream worker = PlayedStream.to(server.workers());
        PlayedStream other = PlayedStream.to(server.workers())) {
      worker.say(hello("w1", take("note")));
      other.say(hello("w2", take("note")));
      other.await(FromServer::hasWelcome);
      worker.await(FromServer::hasWelcome);
      worker.say(free(1));
      JobHandle<Void> job = server.carillon().schedule(NOTE.job("a"));
      Token token = worker.await(FromServer::hasAttempts).getAttempts().getAttempts(0).getToken();
      worker.say(
          FromWorker.newBuilder().setAccepted(Accepted.newBuilder().addTokens(token)).build());

      other.say(done(token)); // of another worker
      assertThat(other.await(FromServer::hasStale).getStale().getTokens(0)).isEqualTo(token);
      Token forged = token.toBuilder().setNonce(4711).build();
      worker.say(done(forged));
      assertThat(worker.await(FromServer::hasStale).getStale().getTokens(0)).isEqualTo(forged);
      Token later = token.toBuilder().setAttempt(2).build();
      worker.say(done(later));
      worker.await(FromServer::hasStale);
      assertThat(job.info().state()).isEqualTo(JobState.RUNNING);

      worker.say(done(token));
      worker.say(done(token));
      worker.await(FromServer::hasSettled);
      assertThat(job.result(LONG)).isNull();
      worker.say(done(token));
      worker.await(FromServer::hasStale);
      worker.say(FromWorker.newBuilder().setResume(Resume.newBuilder().addTokens(token)).build());
      worker.await(FromServer::hasStale);
    }
  }

  @Test
  void secondStreamOfAWorkerEndsTheFirst() throws Exception {
    open(GatewayLimits.standard());
    try (PlayedStream first = PlayedStream.to(server.workers());
        PlayedStream second = PlayedStream.to(server.workers())) {
      first.say(hello("w1", take("note")));
      first.await(FromServer::hasWelcome);
      second.say(hello("w1", take("note")));
      second.await(FromServer::hasWelcome);
      assertThat(first.awaitEnd().getCode()).isEqualTo(Status.Code.ABORTED);
    }
  }

  @Test
  void streamWithoutHelloIsEnded() throws Exception {
    open(GatewayLimits.standard().hello(Duration.ofMillis(500)));
    try (PlayedStream silent = PlayedStream.to(server.workers())) {
      assertThat(silent.awaitEnd().getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
    }
  }

  @Test
  void acceptsNothingAndItGoesToAnotherUncounted() throws Exception {
    open(GatewayLimits.standard());
    try (PlayedStream mute = PlayedStream.to(server.workers())) {
      mute.say(hello("mute", take("note")));
      mute.await(FromServer::hasWelcome);
      mute.say(free(1));
      JobHandle<Void> job = server.carillon().schedule(NOTE.job("a"));
      mute.await(FromServer::hasAttempts);
      try (CarillonWorker worker =
          CarillonWorker.builder()
              .server(server.workers())
              .daemon(true)
              .handle(NOTE, (text, context) -> {})
              .start()) {
        assertThat(job.result(LONG)).isNull();
        assertThat(job.info().attempt()).isEqualTo(1);
        assertThat(worker.info().given()).isEqualTo(1);
      }
    }
  }

  @Test
  void workerThatNeverReadsIsEndedAndHoldsUpNobody() throws Exception {
    open(GatewayLimits.standard().stalled(Duration.ofSeconds(2)));
    String large = "x".repeat(200_000);
    try (PlayedStream deaf = PlayedStream.deafTo(server.workers())) {
      deaf.say(hello("deaf", take("note")));
      Awaitility.await().until(() -> !server.carillon().node().workers().connected().isEmpty());
      deaf.say(free(1_000));
      for (int i = 0; i < 50; i++) {
        server.carillon().schedule(NOTE.job(large));
      }
      Awaitility.await()
          .atMost(LONG)
          .until(() -> server.carillon().node().workers().connected().isEmpty());
      try (CarillonWorker worker =
          CarillonWorker.builder()
              .server(server.workers())
              .daemon(true)
              .handle(NOTE, (text, context) -> {})
              .start()) {
        Awaitility.await().atMost(LONG).until(() -> worker.info().settled() == 50);
      }
    }
  }

  @Test
  void typesAreBlockedWithoutWorkersAndReleasedByTheFirst() {
    open(GatewayLimits.standard());
    JobHandle<Void> job = server.carillon().schedule(NOTE.job("a"));
    Awaitility.await().until(() -> job.info().blockReason() == BlockReason.NO_HANDLER);
    try (CarillonWorker worker =
        CarillonWorker.builder()
            .server(server.workers())
            .daemon(true)
            .handle(NOTE, (text, context) -> {})
            .start()) {
      assertThat(job.result(LONG)).isNull();
      assertThat(worker.name()).isNotEmpty();
    }
  }

  @Test
  void workersNeedTheRoleInWhatTheyTake() throws Exception {
    String[] texts = new String[3];
    server =
        new TestServer(
            folder.resolve("jobs.db"),
            GatewayLimits.standard(),
            carillon -> {
              Tokens tokens = new Tokens(carillon.node().sharedRecords(Tokens.AREA));
              texts[0] = token(tokens, "viewer", Role.VIEWER, Scope.ALL, Scope.ALL);
              texts[1] =
                  token(
                      tokens,
                      "mail",
                      Role.WORKER,
                      new Scope(false, Set.of("shop")),
                      new Scope(false, Set.of("mail")));
              texts[2] = token(tokens, "all", Role.WORKER, Scope.ALL, Scope.ALL);
              return new ProvenAccess(List.of(new TokenProof(tokens)));
            });
    Take any = take("note");
    Take mail = any.toBuilder().setNamespace("shop").setQueue("mail").build();
    assertRefused(null, any, Status.Code.UNAUTHENTICATED);
    assertRefused("crl_0_wrong", any, Status.Code.UNAUTHENTICATED);
    assertRefused(texts[0], any, Status.Code.PERMISSION_DENIED);
    assertRefused(texts[1], any, Status.Code.PERMISSION_DENIED);
    assertRefused(
        texts[1], mail.toBuilder().setQueue("video").build(), Status.Code.PERMISSION_DENIED);
    assertRefused(texts[1], mail.toBuilder().setQueue("").build(), Status.Code.PERMISSION_DENIED);
    try (PlayedStream worker = PlayedStream.to(server.workers(), texts[1])) {
      worker.say(hello("w1", mail));
      worker.await(FromServer::hasWelcome);
    }
    try (PlayedStream worker = PlayedStream.to(server.workers(), texts[2])) {
      worker.say(hello("w2", any));
      worker.await(FromServer::hasWelcome);
      Tokens tokens = new Tokens(server.carillon().node().sharedRecords(Tokens.AREA));
      String id = texts[2].split("_", -1)[1];
      assertThat(tokens.revoke(id, "test", Instant.now())).isPresent();
      assertThat(worker.awaitEnd().getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
    }
    try (CarillonWorker worker =
        CarillonWorker.builder()
            .server(server.workers())
            .token(texts[0])
            .daemon(true)
            .handle(NOTE, (text, context) -> {})
            .start()) {
      Awaitility.await()
          .until(
              () -> worker.info().servers().getFirst().problem().startsWith("PERMISSION_DENIED"));
    }
  }

  private static String token(
      Tokens tokens, String name, Role role, Scope namespaces, Scope queues) {
    return tokens
        .create(new Tokens.Wanted(name, role, namespaces, queues, null), "test", Instant.now())
        .text()
        .text();
  }

  private void assertRefused(String token, Take take, Status.Code code) throws Exception {
    try (PlayedStream worker = PlayedStream.to(server.workers(), token)) {
      worker.say(hello("w", take));
      assertThat(worker.awaitEnd().getCode()).isEqualTo(code);
    }
  }

  @Test
  void grantsOfWorkersAreRead() {
    assertThat(Grant.parse("worker@shop").has(Role.WORKER, "shop")).isTrue();
    assertThat(Grant.parse("worker@shop").has(Role.VIEWER, "shop")).isFalse();
    assertThat(Grant.parse("operator").has(Role.WORKER, "shop")).isFalse();
    assertThat(Grant.parse("admin").has(Role.WORKER, "shop")).isTrue();
  }
}
