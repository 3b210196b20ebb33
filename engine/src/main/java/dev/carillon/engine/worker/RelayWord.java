package dev.carillon.engine.worker;

import dev.carillon.api.AttemptToken;
import dev.carillon.api.JobId;
import dev.carillon.engine.attempt.Attempt;
import dev.carillon.engine.environment.AttemptOutcome;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.Report;
import dev.carillon.engine.message.Loan;
import dev.carillon.engine.message.OutcomeFormat;
import dev.carillon.store.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * What a gateway, the node that a worker is connected to, and an owner, whose attempts the worker
 * runs, say to each other. A link is the number of the connection at the gateway.
 */
sealed interface RelayWord {
  // ---- the gateway's

  /** A worker is here. */
  record Here(long link, WorkerHello hello) implements RelayWord {}

  /** Its connection has ended. */
  record Gone(long link) implements RelayWord {}

  /** These are the connections that there are. */
  record Roll(List<Long> links) implements RelayWord {}

  /**
   * So many more it would have of you; see {@link WorkerLink#free}.
   *
   * @param stamp when that was said, by the gateway's clock; what is given names it
   */
  record Free(long link, int slots, long seen, long stamp) implements RelayWord {}

  record Accepted(long link, AttemptToken token) implements RelayWord {}

  /** The worker still has these. */
  record Resume(long link, List<AttemptToken> tokens) implements RelayWord {}

  record Ended(long link, AttemptToken token, AttemptOutcome outcome) implements RelayWord {}

  @SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never compared or copied
  record Save(long link, AttemptToken token, long request, byte[] state) implements RelayWord {}

  record Reported(long link, AttemptToken token, Report report) implements RelayWord {}

  /** The worker has not been heard for so long; 0: it is heard again. */
  record Silent(long link, long nanos) implements RelayWord {}

  /** Beats are not answered here any more for the attempt. */
  record Withdrawn(long link, AttemptToken token) implements RelayWord {}

  // ---- the owner's

  /**
   * The worker is to run this.
   *
   * @param stamp of the last {@link Free} that its owner had heard
   */
  record Give(long link, long number, long era, long gatewayEra, long stamp, Loan loan)
      implements RelayWord {}

  record Leased(long link, long era, AttemptToken token, long lengthMicros) implements RelayWord {}

  /** The attempt is mine: what the worker says of it is for me. */
  record Mine(long link, long era, AttemptToken token) implements RelayWord {}

  record Stop(long link, AttemptToken token, Attempt.StopCause why) implements RelayWord {}

  record Told(long link, AttemptToken token, WorkerStream.Word word) implements RelayWord {}

  record Saved(long link, long request, Outcome<Boolean> outcome) implements RelayWord {}

  /** So many attempts of these types wait for workers. */
  record Want(List<String> types, int count) implements RelayWord {}

  /** These connections are not known. */
  record Unknown(List<Long> links) implements RelayWord {}

  /** The attempt is about to have another owner: cease to answer beats for it, and say so. */
  record Withdraw(long link, AttemptToken token) implements RelayWord {}

  static byte[] encode(RelayWord word) {
    ByteWriter out = new ByteWriter(64);
    switch (word) {
      case Here(long link, WorkerHello hello) -> {
        out.u8(1).i64(link).string(hello.worker()).u8(hello.leaseFirst() ? 1 : 0);
        each(
            hello.takes(),
            out,
            take ->
                out.string(take.namespace())
                    .string(take.queue())
                    .string(take.type())
                    .varint(take.leaseMicros()));
      }
      case Gone(long link) -> out.u8(2).i64(link);
      case Roll(List<Long> links) -> each(links, out.u8(3), out::i64);
      case Free(long link, int slots, long seen, long stamp) ->
          out.u8(4).i64(link).varint(slots).varint(seen).i64(stamp);
      case Accepted(long link, AttemptToken token) -> write(token, out.u8(5).i64(link));
      case Resume(long link, List<AttemptToken> tokens) ->
          each(tokens, out.u8(6).i64(link), token -> write(token, out));
      case Ended(long link, AttemptToken token, AttemptOutcome outcome) -> {
        write(token, out.u8(7).i64(link));
        OutcomeFormat.write(outcome, out);
      }
      case Save(long link, AttemptToken token, long request, byte[] state) -> {
        write(token, out.u8(8).i64(link));
        out.i64(request).bytes(state);
      }
      case Reported(long link, AttemptToken token, Report report) -> {
        write(token, out.u8(9).i64(link));
        report.write(out);
      }
      case Silent(long link, long nanos) -> out.u8(10).i64(link).varint(nanos);
      case Withdrawn(long link, AttemptToken token) -> write(token, out.u8(11).i64(link));
      case Give give -> {
        out.u8(12).i64(give.link()).varint(give.number()).varint(give.era());
        give.loan().write(out.varint(give.gatewayEra()).i64(give.stamp()));
      }
      case Leased(long link, long era, AttemptToken token, long length) ->
          write(token, out.u8(13).i64(link).varint(era).varint(length));
      case Mine(long link, long era, AttemptToken token) ->
          write(token, out.u8(14).i64(link).varint(era));
      case Stop(long link, AttemptToken token, Attempt.StopCause why) ->
          write(token, out.u8(15).i64(link).string(why.name()));
      case Told(long link, AttemptToken token, WorkerStream.Word said) ->
          write(token, out.u8(16).i64(link).string(said.name()));
      case Saved(long link, long request, Outcome<Boolean> outcome) ->
          out.u8(17).i64(link).i64(request).u8(code(outcome));
      case Want(List<String> types, int count) ->
          each(types, out.u8(18).varint(count), out::string);
      case Unknown(List<Long> links) -> each(links, out.u8(19), out::i64);
      case Withdraw(long link, AttemptToken token) -> write(token, out.u8(20).i64(link));
    }
    return out.toBytes();
  }

  static RelayWord decode(byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    int kind = in.u8();
    return switch (kind) {
      case 1 -> readHere(in);
      case 2 -> new Gone(in.i64());
      case 3 -> new Roll(list(in, in::i64));
      case 4 -> new Free(in.i64(), (int) in.varint(), in.varint(), in.i64());
      case 5 -> new Accepted(in.i64(), token(in));
      case 6 -> new Resume(in.i64(), list(in, () -> token(in)));
      case 7 -> new Ended(in.i64(), token(in), OutcomeFormat.read(in));
      case 8 -> new Save(in.i64(), token(in), in.i64(), in.bytes());
      case 9 -> new Reported(in.i64(), token(in), Report.read(in));
      case 10 -> new Silent(in.i64(), in.varint());
      case 11 -> new Withdrawn(in.i64(), token(in));
      case 12 -> new Give(in.i64(), in.varint(), in.varint(), in.varint(), in.i64(), Loan.read(in));
      case 13 -> readLeased(in);
      case 14 -> new Mine(in.i64(), in.varint(), token(in));
      case 15 -> readStop(in);
      case 16 -> readTold(in);
      case 17 -> new Saved(in.i64(), in.i64(), outcome(in.u8()));
      case 18 -> readWant(in);
      case 19 -> new Unknown(list(in, in::i64));
      case 20 -> new Withdraw(in.i64(), token(in));
      default ->
          throw new UnknownFormatException("word of a worker: " + kind + " (expected: 1 to 20)");
    };
  }

  private static Here readHere(ByteReader in) {
    long link = in.i64();
    String worker = in.string();
    boolean leaseFirst = in.u8() == 1;
    List<WorkerTake> takes =
        list(in, () -> new WorkerTake(in.string(), in.string(), in.string(), in.varint()));
    return new Here(link, new WorkerHello(worker, takes, leaseFirst));
  }

  private static Leased readLeased(ByteReader in) {
    long link = in.i64();
    long era = in.varint();
    long length = in.varint();
    return new Leased(link, era, token(in), length);
  }

  private static Stop readStop(ByteReader in) {
    long link = in.i64();
    Attempt.StopCause why = Attempt.StopCause.valueOf(in.string());
    return new Stop(link, token(in), why);
  }

  private static Told readTold(ByteReader in) {
    long link = in.i64();
    WorkerStream.Word word = WorkerStream.Word.valueOf(in.string());
    return new Told(link, token(in), word);
  }

  private static Want readWant(ByteReader in) {
    int count = (int) in.varint();
    return new Want(list(in, in::string), count);
  }

  private static <T> void each(List<T> all, ByteWriter out, Consumer<T> write) {
    out.varint(all.size());
    all.forEach(write);
  }

  private static <T> List<T> list(ByteReader in, Supplier<T> read) {
    List<T> all = new ArrayList<>();
    for (long left = in.varint(); left > 0; left--) {
      all.add(read.get());
    }
    return all;
  }

  private static void write(AttemptToken token, ByteWriter out) {
    out.string(token.job().value()).varint(token.epoch()).varint(token.attempt());
    out.i64(token.nonce());
  }

  private static AttemptToken token(ByteReader in) {
    return new AttemptToken(new JobId(in.string()), in.varint(), (int) in.varint(), in.i64());
  }

  private static int code(Outcome<Boolean> outcome) {
    return switch (outcome) {
      case Outcome.Ok<Boolean>(Boolean current) -> current ? 1 : 2;
      case Outcome.Unknown<Boolean> unknown -> 3;
      default -> 4;
    };
  }

  private static Outcome<Boolean> outcome(int code) {
    return switch (code) {
      case 1 -> Outcome.ok(true);
      case 2 -> Outcome.ok(false);
      case 3 -> new Outcome.Unknown<>("the owner of the job does not know");
      default -> new Outcome.Unavailable<>("the owner of the job could not write it");
    };
  }
}
