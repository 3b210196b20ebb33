package dev.carillon.engine.request;

import dev.carillon.api.Dependency;
import dev.carillon.api.IfExists;
import dev.carillon.api.JobId;
import dev.carillon.api.error.CarillonException;
import dev.carillon.api.error.ChangedMeanwhileException;
import dev.carillon.api.error.InvalidJobException;
import dev.carillon.api.error.NameTakenException;
import dev.carillon.api.error.OutcomeUnknownException;
import dev.carillon.api.error.OverloadedException;
import dev.carillon.api.error.StoreUnavailableException;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.UnknownFormatException;
import dev.carillon.engine.job.JobRef;
import dev.carillon.engine.job.JobSpec;
import dev.carillon.engine.member.Member;
import dev.carillon.engine.message.Message;
import dev.carillon.engine.message.RemoteRequest;
import dev.carillon.engine.message.RemoteRequestFormat;
import dev.carillon.engine.message.RemoteRequests;
import dev.carillon.engine.message.Wire;
import dev.carillon.store.Outcome;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What members do for a node that owns nothing: it asks one of them, which does as if a user of its
 * own had asked, and answers when that is durable.
 *
 * <pre>
 * errand   byte 1 a request, or byte 2 jobs to add: byte all or nothing, varint count, of each its
 *          body, byte what if it exists, the names and the places in the batch that it waits for
 * answer   of a request that of the request; of jobs one each: byte 1, the job, byte created; or
 *          byte 2 to 7 for why not, string
 * </pre>
 *
 * <p>Crash table: the client dies: what it asked for is done, and nobody hears of it. The member
 * dies before it answered: what does no harm twice is asked of another; of anything else the caller
 * hears that the outcome is not known. Nobody is there: the caller hears that at once.
 */
public final class Errands {
  private static final int REQUEST = 1;
  private static final int ADD = 2;
  private static final int MOST_UNDER_WAY = 10_000;

  private final Wire wire;
  private final Adds adds;
  private final RemoteRequests.Host server;
  private final Map<Long, Errand> underWay = new LinkedHashMap<>();
  private final List<Runnable> beforeTheFirstLook = new ArrayList<>();
  private List<Member> members = List.of();
  private boolean looked;
  private long numbers;
  private int turns;

  /** One that a member has been asked for. */
  private record Errand(long member, Consumer<byte[]> answer, Consumer<String> lost) {}

  Errands(Wire wire, Adds adds, RemoteRequests.Host server) {
    this.wire = wire;
    this.adds = adds;
    this.server = server;
  }

  /** What has been asked for and is not answered. */
  public int underWay() {
    return underWay.size() + beforeTheFirstLook.size();
  }

  // ---- the client's

  /** Who else is there; what was asked of those who are gone is answered. */
  public void saw(List<Member> others) {
    members = others.stream().filter(Member::takesShards).toList();
    if (!looked) {
      looked = true;
      beforeTheFirstLook.forEach(Runnable::run);
      beforeTheFirstLook.clear();
    }
    List<Long> there = others.stream().map(Member::incarnation).toList();
    boolean anyGone = underWay.values().stream().anyMatch(e -> !there.contains(e.member()));
    if (anyGone) {
      wire.afterHearing(() -> loseAllBut(there)); // it may have answered before it went
    }
  }

  private void loseAllBut(List<Long> there) {
    lose(errand -> !there.contains(errand.member()), "the node that was asked is gone");
  }

  /** The store is another copy: neither what was asked nor an answer need be in it. */
  public void exchanged() {
    lose(errand -> true, "the store went back in time meanwhile");
  }

  private void lose(Predicate<Errand> which, String why) {
    List<Long> lost = new ArrayList<>();
    underWay.forEach(
        (number, errand) -> {
          if (which.test(errand)) {
            lost.add(number);
          }
        });
    for (Long number : lost) {
      Errand errand = underWay.remove(number);
      if (errand != null) {
        errand.lost().accept(why);
      }
    }
  }

  public void add(List<AddRequest> requests, boolean together) {
    if (!looked && beforeTheFirstLook.size() < MOST_UNDER_WAY) {
      beforeTheFirstLook.add(() -> add(requests, together));
      return;
    }
    byte[] asked = encode(requests, together);
    Consumer<byte[]> answer = bytes -> answered(requests, bytes);
    String problem =
        ask(
            asked,
            answer,
            why ->
                refuse(requests, new OutcomeUnknownException("the job may be scheduled: " + why)));
    if (problem != null) {
      refuse(requests, new StoreUnavailableException("the job was not scheduled: " + problem));
    }
  }

  private static void refuse(List<AddRequest> requests, CarillonException why) {
    requests.forEach(request -> request.refused(why));
  }

  void ask(RemoteRequest request, Consumer<Outcome<byte[]>> answer) {
    if (!looked && beforeTheFirstLook.size() < MOST_UNDER_WAY) {
      beforeTheFirstLook.add(() -> ask(request, answer));
      return;
    }
    byte[] encoded = RemoteRequestFormat.encode(request);
    byte[] asked = new ByteWriter(1 + encoded.length).u8(REQUEST).raw(encoded).toBytes();
    String problem =
        ask(
            asked,
            bytes -> answer.accept(RemoteRequestFormat.decodeAnswer(new ByteReader(bytes))),
            why -> {
              if (request.isRepeatable()) {
                ask(request, answer);
              } else {
                answer.accept(new Outcome.Unknown<>(why));
              }
            });
    if (problem != null) {
      answer.accept(new Outcome.Unavailable<>(problem));
    }
  }

  /** Null where a member has been asked, else why not. */
  private @Nullable String ask(byte[] asked, Consumer<byte[]> answer, Consumer<String> lost) {
    if (members.isEmpty()) {
      return "no other node is there (expected: one that is not a client only)";
    }
    if (underWay.size() >= MOST_UNDER_WAY) {
      return MOST_UNDER_WAY + " requests to other nodes are under way already";
    }
    long member = members.get(Math.floorMod(turns++, members.size())).incarnation();
    underWay.put(++numbers, new Errand(member, answer, lost));
    wire.send(member, Message.encode(new Message.Errand(numbers, asked)));
    return null;
  }

  /** A member has answered. */
  void done(long from, long number, byte[] answer) {
    Errand errand = underWay.get(number);
    if (errand != null && errand.member() == from) {
      underWay.remove(number);
      errand.answer().accept(answer);
    }
  }

  // ---- the member's

  /** A client asks. */
  void run(long client, long number, byte[] asked) {
    ByteReader in = new ByteReader(asked);
    int kind = in.u8();
    if (kind == REQUEST) {
      server.serve(
          RemoteRequestFormat.decode(in.rest()),
          outcome -> answer(client, number, RemoteRequestFormat.encode(outcome)));
    } else if (kind == ADD) {
      addFor(client, number, in);
    } else {
      throw new UnknownFormatException("errand: kind " + kind + " (expected: 1 or 2)");
    }
  }

  private void answer(long client, long number, byte[] answer) {
    wire.send(client, Message.encode(new Message.ErrandDone(number, answer)));
  }

  private void addFor(long client, long number, ByteReader in) {
    boolean together = in.u8() == 1;
    int count = (int) in.varint();
    byte[][] answers = new byte[count][];
    int[] left = {count};
    BiConsumer<Integer, byte[]> one =
        (place, answer) -> {
          answers[place] = answer;
          if (--left[0] == 0) {
            ByteWriter all = new ByteWriter(32 * count);
            for (byte[] each : answers) {
              all.raw(each);
            }
            answer(client, number, all.toBytes());
          }
        };
    List<AddRequest> requests = decode(in, count, one);
    if (together) {
      adds.addAll(requests);
    } else {
      requests.forEach(adds::add);
    }
  }

  // ---- as bytes

  private static byte[] encode(List<AddRequest> requests, boolean together) {
    Map<AddRequest, Integer> places = new LinkedHashMap<>();
    requests.forEach(request -> places.put(request, places.size()));
    ByteWriter out = new ByteWriter(256 * requests.size()).u8(ADD).u8(together ? 1 : 0);
    out.varint(requests.size());
    for (AddRequest request : requests) {
      out.bytes(request.body).u8(code(request.ifExists));
      writeAsker(out, request);
      List<AddRequest.Named> named = request.takeNamed();
      out.varint(named.size());
      named.forEach(each -> out.string(each.name()).u8(each.condition().code()));
      out.varint(request.inBatch.size());
      request.inBatch.forEach(
          each -> out.varint(places.getOrDefault(each.other(), 0)).u8(each.condition().code()));
    }
    return out.toBytes();
  }

  private static List<AddRequest> decode(
      ByteReader in, int count, BiConsumer<Integer, byte[]> answered) {
    List<AddRequest> requests = new ArrayList<>();
    List<Runnable> links = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int place = i;
      AddRequest request =
          new AddRequest(JobSpec.decode(in.bytes()), ifExists(in.u8()), new Reply(place, answered));
      requests.add(request);
      readAsker(in, request);
      for (long left = in.varint(); left > 0; left--) {
        request.afterNamed(in.string(), Dependency.Condition.ofCode(in.u8()));
      }
      for (long left = in.varint(); left > 0; left--) {
        int other = (int) in.varint();
        Dependency.Condition condition = Dependency.Condition.ofCode(in.u8());
        links.add(() -> request.after(requests.get(other), condition));
      }
    }
    links.forEach(Runnable::run);
    return requests;
  }

  /** byte flags, string by if 1, the expected job and varint version if 2. */
  private static void writeAsker(ByteWriter out, AddRequest request) {
    String by = request.by();
    AddRequest.Expected expected = request.expected();
    out.u8((by != null ? 1 : 0) | (expected != null ? 2 : 0));
    if (by != null) {
      out.string(by);
    }
    if (expected != null) {
      expected.job().write(out);
      out.varint(expected.version());
    }
  }

  private static void readAsker(ByteReader in, AddRequest request) {
    int flags = in.u8();
    if ((flags & 1) != 0) {
      request.askedBy(in.string());
    }
    if ((flags & 2) != 0) {
      request.expecting(new AddRequest.Expected(JobRef.read(in), (int) in.varint()));
    }
  }

  private record Reply(int place, BiConsumer<Integer, byte[]> answered)
      implements AddRequest.Answer {
    @Override
    public void added(JobRef job, boolean created) {
      ByteWriter out = new ByteWriter(32).u8(1);
      job.write(out);
      answered.accept(place, out.u8(created ? 1 : 0).toBytes());
    }

    @Override
    public void refused(CarillonException why) {
      answered.accept(place, encode(why));
    }
  }

  private static void answered(List<AddRequest> requests, byte[] bytes) {
    ByteReader in = new ByteReader(bytes);
    for (AddRequest request : requests) {
      int code = in.u8();
      if (code == 1) {
        JobRef job = JobRef.read(in);
        request.added(job, in.u8() == 1);
      } else {
        request.refused(decode(code, in));
      }
    }
  }

  private static byte[] encode(CarillonException why) {
    String text = why.getMessage() + "";
    return switch (why) {
      case NameTakenException taken ->
          new ByteWriter(64)
              .u8(taken.hasBegun() ? 8 : 2)
              .string(taken.name())
              .string(taken.existing().value())
              .toBytes();
      case InvalidJobException invalid -> problem(3, text);
      case ChangedMeanwhileException changed -> problem(7, text);
      case OutcomeUnknownException unknown -> problem(4, text);
      case OverloadedException overloaded -> problem(5, text);
      default -> problem(6, text);
    };
  }

  private static byte[] problem(int code, String text) {
    return new ByteWriter(16 + text.length()).u8(code).string(text).toBytes();
  }

  private static CarillonException decode(int code, ByteReader in) {
    String text = in.string();
    return switch (code) {
      case 2 -> new NameTakenException(text, new JobId(in.string()));
      case 3 -> new InvalidJobException(text);
      case 4 -> new OutcomeUnknownException(text);
      case 5 -> new OverloadedException(text);
      case 7 -> new ChangedMeanwhileException(text);
      case 8 -> NameTakenException.begun(text, new JobId(in.string()));
      default -> new StoreUnavailableException(text);
    };
  }

  private static int code(IfExists ifExists) {
    return switch (ifExists) {
      case FAIL -> 1;
      case KEEP -> 2;
      case REPLACE -> 3;
      case UPDATE -> 4;
    };
  }

  private static IfExists ifExists(int code) {
    return switch (code) {
      case 1 -> IfExists.FAIL;
      case 2 -> IfExists.KEEP;
      case 3 -> IfExists.REPLACE;
      case 4 -> IfExists.UPDATE;
      default -> throw new UnknownFormatException("ifExists: " + code + " (expected: 1 to 4)");
    };
  }
}
