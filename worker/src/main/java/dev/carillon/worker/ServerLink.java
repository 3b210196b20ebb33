package dev.carillon.worker;

import dev.carillon.protocol.Outcome;
import dev.carillon.protocol.Token;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A server and the stream to it. Only the loop uses it. */
final class ServerLink {
  final String address;

  /** Counts the streams, so that a word of an earlier one is known as such. */
  long stream;

  State state = State.CLOSED;

  /** The program that was started named it, rather than another server. */
  final boolean named;

  long nextOpenNanos;
  int failures;
  long openedNanos;
  long heardNanos;

  /** When the last answered beat, or hello, was sent. */
  long answeredNanos;

  long beat;
  long beatSentNanos;

  /** The beats that are not answered, with the times when they were sent. */
  final Deque<long[]> beats = new ArrayDeque<>();

  /** The number of the last attempt that it gave. */
  long lastSeen;

  int toldFree;
  long toldSeen;

  /** It gives nothing more. */
  boolean drains;

  String node = "";

  /** Why it is not connected; null where nothing is known. */
  @Nullable String problem;

  // What is to be said at the end of this round.
  final List<Token> accepted = new ArrayList<>();
  final List<Token> refused = new ArrayList<>();
  final List<Token> resumed = new ArrayList<>();
  final List<Outcome> outcomes = new ArrayList<>();

  /** How far a stream is. */
  enum State {
    CLOSED,
    /** Hello is said. */
    OPENING,
    /** Welcome was heard. */
    OPEN
  }

  ServerLink(String address, boolean named, long nowNanos) {
    this.address = address;
    this.named = named;
    this.nextOpenNanos = nowNanos;
  }

  boolean isOpen() {
    return state == State.OPEN;
  }

  /** Begins anew. */
  void opens(long nowNanos) {
    stream++;
    state = State.OPENING;
    openedNanos = nowNanos;
    heardNanos = nowNanos;
    answeredNanos = nowNanos;
    beat = 0;
    beats.clear();
    lastSeen = 0;
    toldFree = 0;
    toldSeen = 0;
    drains = false;
    forget();
  }

  void forget() {
    accepted.clear();
    refused.clear();
    resumed.clear();
    outcomes.clear();
  }

  void beats(long nowNanos) {
    beat++;
    beatSentNanos = nowNanos;
    beats.add(new long[] {beat, nowNanos});
  }

  /** The answer to a beat: everything until then was heard. */
  void answered(long number) {
    while (!beats.isEmpty() && beats.peek()[0] <= number) {
      answeredNanos = beats.remove()[1];
    }
  }
}
