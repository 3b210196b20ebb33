package dev.carillon.server.gateway;

import dev.carillon.gateway.GivenAttempt;
import dev.carillon.protocol.Attempt;
import dev.carillon.protocol.Attempts;
import dev.carillon.protocol.FromServer;
import dev.carillon.protocol.Lease;
import dev.carillon.protocol.Leased;
import dev.carillon.protocol.Settled;
import dev.carillon.protocol.Stale;
import dev.carillon.protocol.Token;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * What the node has said to a worker and the worker has not read. Several words of a kind become
 * one message. Thread-safe: the node puts in, a writer takes out.
 */
final class Outbox {
  private static final int MESSAGE_BYTES = 256 << 10;
  private static final int MESSAGE_WORDS = 500;

  private final int most;
  private final Queue<Word> words = new ArrayDeque<>();

  /** A word of the node. */
  sealed interface Word {}

  record Given(GivenAttempt attempt) implements Word {}

  record Done(Token token) implements Word {}

  record Old(Token token) implements Word {}

  record Held(Lease lease) implements Word {}

  /** Any other. */
  record Said(FromServer message) implements Word {}

  Outbox(int most) {
    this.most = most;
  }

  /** Whether there was room. */
  synchronized boolean put(Word word) {
    return words.size() < most && words.add(word);
  }

  synchronized boolean isEmpty() {
    return words.isEmpty();
  }

  synchronized void clear() {
    words.clear();
  }

  /** The next message; null where there is none. */
  @Nullable FromServer take() {
    Word first = poll();
    return switch (first) {
      case null -> null;
      case Said(FromServer message) -> message;
      case Given given -> attempts(given);
      case Done(Token token) -> {
        Settled.Builder all = Settled.newBuilder().addTokens(token);
        while (all.getTokensCount() < MESSAGE_WORDS
            && pollIf(Done.class) instanceof Done(Token t)) {
          all.addTokens(t);
        }
        yield FromServer.newBuilder().setSettled(all).build();
      }
      case Old(Token token) -> {
        Stale.Builder all = Stale.newBuilder().addTokens(token);
        while (all.getTokensCount() < MESSAGE_WORDS && pollIf(Old.class) instanceof Old(Token t)) {
          all.addTokens(t);
        }
        yield FromServer.newBuilder().setStale(all).build();
      }
      case Held(Lease lease) -> {
        Leased.Builder all = Leased.newBuilder().addLeases(lease);
        while (all.getLeasesCount() < MESSAGE_WORDS
            && pollIf(Held.class) instanceof Held(Lease l)) {
          all.addLeases(l);
        }
        yield FromServer.newBuilder().setLeased(all).build();
      }
    };
  }

  private FromServer attempts(Given first) {
    Attempts.Builder all = Attempts.newBuilder();
    int bytes = 0;
    Word next = first;
    while (next instanceof Given(GivenAttempt given)) {
      Attempt attempt = Words.attempt(given);
      all.addAttempts(attempt);
      bytes += attempt.getSerializedSize();
      boolean full = bytes >= MESSAGE_BYTES || all.getAttemptsCount() >= MESSAGE_WORDS;
      next = full ? null : pollIf(Given.class);
    }
    return FromServer.newBuilder().setAttempts(all).build();
  }

  private synchronized @Nullable Word poll() {
    return words.poll();
  }

  /** The next word, if it is of the kind. */
  private synchronized @Nullable Word pollIf(Class<? extends Word> kind) {
    return kind.isInstance(words.peek()) ? words.poll() : null;
  }
}
