package dev.carillon.server.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.carillon.Carillon;
import dev.carillon.api.error.StoreUnavailableException;
import java.net.InetAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who is let in by a token, and when no more; both clocks stand still unless they are moved. */
class TokenProofTest {
  private static final Instant START = Instant.parse("2026-03-01T08:00:00Z");

  private final AtomicReference<Instant> wall = new AtomicReference<>(START);
  private final AtomicLong nanos = new AtomicLong(1);
  private Carillon carillon;
  private Tokens tokens;
  private TokenProof proof;

  @BeforeEach
  void open() {
    carillon = Carillon.inMemory();
    tokens = new Tokens(carillon.node().sharedRecords(Tokens.AREA));
    proof = newProof();
  }

  private TokenProof newProof() {
    return new TokenProof(tokens, wall::get, nanos::get);
  }

  @AfterEach
  void close() {
    proof.close();
    carillon.close();
  }

  private Tokens.Issued create(Instant expires) {
    return tokens.create(
        new Tokens.Wanted(
            "ci", Role.SUBMITTER, Scope.of(List.of("a")), Scope.of(List.of("q")), expires),
        "me",
        wall.get());
  }

  private void pass(Duration time) {
    wall.updateAndGet(now -> now.plus(time));
    nanos.addAndGet(time.toNanos());
  }

  private Caller ask(TokenText text) {
    return ask("Bearer " + text.text());
  }

  private Caller ask(String header) {
    Arrival arrival =
        new Arrival(
            InetAddress.getLoopbackAddress(),
            true,
            true,
            "localhost",
            null,
            Map.of("authorization", header));
    return proof.caller(arrival).orElseThrow();
  }

  private void assertRefused(TokenText text) {
    assertThatThrownBy(() -> ask(text))
        .isInstanceOf(Denied.class)
        .hasMessage("Authorization: no token that is valid (expected: Bearer crl_ID_SECRET)");
  }

  @Test
  void callerHasTheRoleInTheNamespacesAndQueuesOfTheToken() {
    Caller caller = ask(create(null).text());
    assertThat(caller.name()).startsWith("ci/");
    assertThat(caller.has(Role.SUBMITTER, "a")).isTrue();
    assertThat(caller.has(Role.VIEWER, "a")).isTrue();
    assertThat(caller.has(Role.OPERATOR, "a")).isFalse();
    assertThat(caller.has(Role.VIEWER, "b")).isFalse();
    assertThat(caller.has(Role.VIEWER, null)).isFalse();
    assertThat(caller.mayUse("a", "q")).isTrue();
    assertThat(caller.mayUse("a", "r")).isFalse();
    assertThat(caller.mayUse(null, "q")).isFalse();
    assertThat(caller.reachesAllQueues()).isFalse();
  }

  @Test
  void secretIsKeptAsItsHashAlone() {
    TokenText text = create(null).text();
    assertThat(text.text()).matches("crl_[a-z2-7]{12}_[a-z2-7]{52}");
    assertThat(text.toString()).doesNotContain(text.secret());
    carillon
        .node()
        .sharedRecords(Tokens.AREA)
        .list()
        .forEach(
            entry ->
                assertThat(new String(entry.value(), java.nio.charset.StandardCharsets.ISO_8859_1))
                    .doesNotContain(text.secret()));
  }

  @Test
  void otherSecretsOtherIdsAndOtherTextsAreRefusedAlike() {
    TokenText text = create(null).text();
    String other = text.secret().substring(1) + (text.secret().startsWith("a") ? "b" : "a");
    assertRefused(new TokenText(text.id(), other));
    assertRefused(new TokenText("aaaaaaaaaaaa", text.secret()));
    for (String header :
        List.of(
            "Bearer", "Bearer x", "Basic eDp5", "Bearer crl_a_b", "Bearer " + text.text() + "x")) {
      assertThatThrownBy(() -> ask(header)).isInstanceOf(Denied.class);
    }
    assertThat(ask("bearer  " + text.text()).name()).contains(text.id());
  }

  @Test
  void revokedTokenIsRefusedAfterTheNextLook() {
    TokenText text = create(null).text();
    assertThat(ask(text).name()).contains(text.id());
    assertThat(tokens.revoke(text.id(), "me", wall.get()).orElseThrow().end()).isNotNull();
    pass(Duration.ofMillis(4_100)); // what was seen is too old to let in by
    assertRefused(text);
    assertThat(tokens.revoke(text.id(), "me again", wall.get()).orElseThrow().end().by())
        .isEqualTo("me");
    assertThat(tokens.revoke("nosuchtokeni", "me", wall.get())).isEmpty();
  }

  @Test
  void nobodyIsLetInByALookThatIsTooOld() {
    TokenText text = create(null).text();
    Caller caller = ask(text);
    carillon.close();
    assertThat(ask(text).name()).isEqualTo(caller.name()); // within the four seconds
    pass(Duration.ofMillis(4_100));
    assertThatThrownBy(() -> ask(text))
        .isInstanceOfAny(
            StoreUnavailableException.class, dev.carillon.api.error.ClosedException.class);
  }

  @Test
  void tokenEndsAtItsTime() {
    TokenText text = create(START.plusSeconds(60)).text();
    assertThat(ask(text).name()).startsWith("ci/");
    pass(Duration.ofSeconds(59));
    assertThat(ask(text).name()).startsWith("ci/");
    pass(Duration.ofSeconds(1));
    assertRefused(text);
    assertThatThrownBy(() -> create(wall.get())).hasMessageContaining("a time to come");
  }

  @Test
  void clockThatJumpsBackRevivesNoExpiredToken() {
    TokenText text = create(START.plusSeconds(60)).text();
    pass(Duration.ofSeconds(61));
    assertRefused(text);
    wall.set(START.minus(Duration.ofDays(400)));
    assertRefused(text);
  }

  @Test
  void tokenThatWasSeenToEndStaysEndedForOtherProcessesWithAnEarlierClock() {
    TokenText text = create(START.plusSeconds(60)).text();
    pass(Duration.ofSeconds(61));
    tokens.sweep(tokens.list(), wall.get());
    wall.set(START);
    proof.close();
    proof = newProof();
    assertRefused(text);
    assertThat(tokens.list()).singleElement().satisfies(t -> assertThat(t.secrets()).isEmpty());
  }

  @Test
  void jumpForwardRefusesAtOnceAndIsWrittenDownOnlyWhenItStays() {
    TokenClock clock = new TokenClock(wall::get, nanos::get);
    TokenText text = create(START.plus(Duration.ofDays(1))).text();
    wall.set(START.plus(Duration.ofDays(366)));
    assertRefused(text);
    assertThat(clock.settled()).isBefore(START.plusSeconds(1));
    pass(Duration.ofSeconds(61));
    assertThat(clock.settled()).isAfter(START.plus(Duration.ofDays(366)));
    wall.set(START);
    assertThat(clock.latest()).isAfter(START.plus(Duration.ofDays(366)));
  }

  @Test
  void twoSecretsCountWhileATokenIsRotatedAndNeverThree() {
    TokenText first = create(null).text();
    TokenText second = rotated(first, Duration.ofMinutes(10));
    assertThat(ask(second).name()).isEqualTo(ask(first).name());
    TokenText third = rotated(first, Duration.ofMinutes(10));
    pass(Duration.ofSeconds(5));
    assertRefused(first);
    assertThat(ask(second).name()).isEqualTo(ask(third).name());
    pass(Duration.ofMinutes(10));
    assertRefused(second);
    assertThat(ask(third).name()).contains(first.id());
  }

  private TokenText rotated(TokenText text, Duration overlap) {
    Tokens.Issued issued =
        tokens.rotate(text.id(), wall.get().plus(overlap), wall.get()).orElseThrow();
    pass(Duration.ofSeconds(1));
    return issued.text();
  }

  @Test
  void endedTokensAreForgottenAfterThirtyDaysAndCannotBeRotated() {
    TokenText text = create(null).text();
    tokens.revoke(text.id(), "me", wall.get());
    assertThat(tokens.rotate(text.id(), wall.get(), wall.get())).isEmpty();
    tokens.sweep(tokens.list(), wall.get().plus(Tokens.KEPT));
    assertThat(tokens.list()).hasSize(1);
    tokens.sweep(tokens.list(), wall.get().plus(Tokens.KEPT).plusSeconds(1));
    assertThat(tokens.list()).isEmpty();
  }

  @Test
  void recordThatIsNotUnderstoodLetsNobodyIn() {
    TokenText text = create(null).text();
    var records = carillon.node().sharedRecords(Tokens.AREA);
    var entry = records.get(text.id()).orElseThrow();
    for (int length = 0; length < entry.value().length; length++) {
      assertThat(TokenFormat.read(text.id(), java.util.Arrays.copyOf(entry.value(), length)))
          .isEmpty();
    }
    byte[] newer = entry.value().clone();
    newer[0] = 2;
    records.put(text.id(), entry.version(), newer);
    assertRefused(text);
  }
}
