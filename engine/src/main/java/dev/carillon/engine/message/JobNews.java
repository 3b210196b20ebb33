package dev.carillon.engine.message;

import dev.carillon.api.JobInfo;
import dev.carillon.api.JobListener;
import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.UnknownFormatException;
import java.util.ArrayList;
import java.util.List;

/**
 * What happened to jobs of a node of late.
 *
 * <pre>
 * place   long, varint
 * lost    byte
 * more    byte
 * events  varint, each: byte kind, job
 * </pre>
 *
 * @param place the last event that is told here; where to go on
 * @param lost whether some that came after the one that was asked for are not there any more
 * @param more whether there are more already
 */
public record JobNews(Place place, boolean lost, boolean more, List<Event> events) {

  /**
   * An event of a start of a node.
   *
   * @param incarnation of the node
   * @param number of the event, from 1; 0 for before all
   */
  public record Place(long incarnation, long number) {
    /** Of one who knows none. */
    public static final Place NONE = new Place(0, 0);
  }

  /** What happened. */
  public enum Kind {
    STARTED(1),
    RETRYING(2),
    BLOCKED(3),
    ENDED(4);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    static Kind ofCode(int code) {
      for (Kind each : values()) {
        if (each.code == code) {
          return each;
        }
      }
      throw new UnknownFormatException("event: " + code + " (expected: 1 to 4)");
    }
  }

  /** One event. */
  public record Event(Kind kind, JobInfo job) {

    /** Tells a listener of it. */
    public void tell(JobListener listener) {
      switch (kind) {
        case STARTED -> listener.started(job);
        case RETRYING -> listener.retrying(job);
        case BLOCKED -> listener.blocked(job);
        case ENDED -> listener.ended(job);
      }
    }
  }

  public JobNews {
    events = List.copyOf(events);
  }

  public byte[] encode() {
    ByteWriter out =
        new ByteWriter(64 + 256 * events.size())
            .i64(place.incarnation())
            .varint(place.number())
            .u8(lost ? 1 : 0)
            .u8(more ? 1 : 0)
            .varint(events.size());
    for (Event each : events) {
      JobInfoFormat.write(each.job(), out.u8(each.kind().code));
    }
    return out.toBytes();
  }

  public static JobNews decode(ByteReader in) {
    Place place = new Place(in.i64(), in.varint());
    boolean lost = in.u8() == 1;
    boolean more = in.u8() == 1;
    List<Event> events = new ArrayList<>();
    for (int left = in.length(); left > 0; left--) {
      events.add(new Event(Kind.ofCode(in.u8()), JobInfoFormat.read(in)));
    }
    return new JobNews(place, lost, more, events);
  }
}
