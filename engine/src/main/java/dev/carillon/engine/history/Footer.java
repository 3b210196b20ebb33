package dev.carillon.engine.history;

import dev.carillon.engine.format.ByteReader;
import dev.carillon.engine.format.ByteWriter;
import dev.carillon.engine.format.DamagedException;
import dev.carillon.engine.format.Frame;
import dev.carillon.engine.format.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a packed generation says of itself, in entries behind its blocks: first a catalogue, then
 * the jobs by number, a thousand to an entry. Each entry is one {@link Kind#FOOTER} frame.
 *
 * <pre>
 * catalogue  byte 1, varint blocks, byte 1 where recurring jobs have run occurrences themselves,
 *            long first end, long last end, varint jobs not ended,
 *            three times (types, namespaces, queues): varint words, so often string and varint
 *            count, varint count of other words;
 *            varint states, so often byte code and varint count;
 *            varint keys, so often string: the metadata that the parts know of;
 *            varint entries with jobs, so often {@link Part}
 * jobs       byte 2, varint jobs, so often: number (the first a long, then varint steps),
 *            byte state or 0, varint micros after the first end if it has one,
 *            varint type, varint namespace, varint queue (256: another word),
 *            varint blocks, 0 for all, then the first and varint steps
 * </pre>
 *
 * <p>The blocks of a job hold all its operations, and where it is an occurrence those of its
 * recurring job, so its story can be told from them.
 */
public final class Footer {
  /** The code of a word beyond the first 256. */
  public static final int OTHERS = 256;

  /** Jobs in one entry. */
  static final int JOBS_AN_ENTRY = 1_024;

  private static final int CATALOGUE = 1;
  private static final int JOBS = 2;
  private static final int STATES = 12;

  /** A job in more blocks is read from all of them. */
  private static final int MOST_BLOCKS = 8;

  private static final int[] ALL_BLOCKS = {};

  private Footer() {}

  /**
   * What is in one entry with jobs: enough to pass it over. Long number of its first job, varint
   * states, then, if one of its jobs has ended, varint micros from the footer's first end to its
   * own and from there to its last; three times varint and so many bytes, a bit for each word; its
   * {@link MetadataFilter}.
   *
   * @param number of its first job
   * @param states a bit each by code, bit 0 for jobs that have not ended
   */
  public record Part(
      long number,
      int states,
      long firstEndMicros,
      long lastEndMicros,
      BitSet types,
      BitSet namespaces,
      BitSet queues,
      MetadataFilter metadata) {

    private static Part of(List<Job> jobs) {
      Part part =
          new Part(
              jobs.getFirst().number,
              jobs.stream().mapToInt(job -> 1 << job.state).reduce(0, (a, b) -> a | b),
              Footer.firstEndMicros(jobs),
              jobs.stream().mapToLong(job -> job.endMicros).max().orElse(0),
              new BitSet(),
              new BitSet(),
              new BitSet(),
              MetadataFilter.of(
                  jobs.stream().flatMap(job -> job.metadata.stream()).distinct().toList()));
      for (Job job : jobs) {
        part.types.set(job.type);
        part.namespaces.set(job.namespace);
        part.queues.set(job.queue);
      }
      return part;
    }

    public boolean hasEnded() {
      return (states & ~1) != 0;
    }

    private void write(ByteWriter out, long firstEnd) {
      out.i64(number).varint(states);
      if (hasEnded()) {
        out.varint(firstEndMicros - firstEnd).varint(lastEndMicros - firstEndMicros);
      }
      out.bytes(types.toByteArray()).bytes(namespaces.toByteArray()).bytes(queues.toByteArray());
      metadata.write(out);
    }

    private static Part read(ByteReader in, long firstEnd) {
      long number = in.i64();
      int states = (int) in.varint();
      boolean ended = (states & ~1) != 0;
      long first = ended ? firstEnd + in.varint() : 0;
      long last = ended ? first + in.varint() : 0;
      return new Part(
          number,
          states,
          first,
          last,
          BitSet.valueOf(in.bytes()),
          BitSet.valueOf(in.bytes()),
          BitSet.valueOf(in.bytes()),
          MetadataFilter.read(in));
    }
  }

  // ---- writing

  /** Words and their codes, in the order in which they came. */
  static final class Words {
    private final Map<String, Integer> codes = new LinkedHashMap<>();
    private final List<String> words = new ArrayList<>();

    int size() {
      return words.size();
    }

    int code(String word) {
      Integer known = codes.get(word);
      if (known != null) {
        return known;
      }
      if (words.size() == OTHERS) {
        return OTHERS;
      }
      codes.put(word, words.size());
      words.add(word);
      return words.size() - 1;
    }
  }

  /** A job while it is noted where its operations are. */
  static final class Job {
    final long number;
    int state;
    long endMicros;
    int type;
    int namespace;
    int queue;

    /** The recurring job that it is an occurrence of, 0 for none. */
    long schedule;

    /** Hashes of what is looked for by metadata. */
    List<Long> metadata = List.of();

    private int[] blocks = new int[2];
    private int size;

    Job(long number) {
      this.number = number;
    }

    /** An operation of it is in {@code block}, which is not before those named earlier. */
    void in(int block) {
      if (size > 0 && (blocks[size - 1] == block || size > MOST_BLOCKS)) {
        return;
      }
      if (size == blocks.length) {
        blocks = Arrays.copyOf(blocks, 2 * size);
      }
      blocks[size++] = block;
    }

    /** Those of the job and of its recurring job; none stand for all. */
    private int[] blocksWith(@Nullable Job recurring) {
      int[] own = Arrays.copyOf(blocks, size);
      if (recurring != null) {
        int[] both = Arrays.copyOf(own, size + recurring.size);
        System.arraycopy(recurring.blocks, 0, both, size, recurring.size);
        own = Arrays.stream(both).sorted().distinct().toArray();
      }
      boolean tooMany =
          own.length > MOST_BLOCKS || (recurring != null && recurring.size > MOST_BLOCKS);
      return tooMany ? ALL_BLOCKS : own;
    }
  }

  /** What is to be written. */
  record Draft(
      int blocks,
      boolean occurrences,
      Words types,
      Words namespaces,
      Words queues,
      Set<String> metadataKeys,
      List<Job> jobs) {}

  /** The data of the footer's entries. */
  static List<byte[]> encode(Draft draft) {
    List<Job> jobs = new ArrayList<>(draft.jobs());
    jobs.sort((a, b) -> Long.compare(a.number, b.number));
    Map<Long, Job> recurring = recurring(jobs);
    long firstEnd = firstEndMicros(jobs);
    List<byte[]> entries = new ArrayList<>();
    ByteWriter parts = new ByteWriter(64 + jobs.size() / 16);
    parts.varint((jobs.size() + JOBS_AN_ENTRY - 1) / JOBS_AN_ENTRY);
    for (int from = 0; from < jobs.size(); from += JOBS_AN_ENTRY) {
      List<Job> some = jobs.subList(from, Math.min(jobs.size(), from + JOBS_AN_ENTRY));
      Part.of(some).write(parts, firstEnd);
      entries.add(entry(jobs(some, firstEnd, recurring)));
    }
    entries.addFirst(entry(catalogue(draft, jobs, parts.toBytes())));
    return entries;
  }

  static long firstEndMicros(List<Job> jobs) {
    return jobs.stream()
        .filter(job -> job.state != 0)
        .mapToLong(job -> job.endMicros)
        .min()
        .orElse(0);
  }

  private static byte[] entry(byte[] body) {
    return Frame.encode(List.of(Frame.of(Kind.FOOTER, 0, body)));
  }

  private static Map<Long, Job> recurring(List<Job> jobs) {
    Map<Long, Job> found = new LinkedHashMap<>();
    for (Job job : jobs) {
      if (job.schedule != 0) {
        found.put(job.schedule, job);
      }
    }
    jobs.stream().filter(job -> found.containsKey(job.number)).forEach(j -> found.put(j.number, j));
    return found;
  }

  private static byte[] catalogue(Draft draft, List<Job> jobs, byte[] parts) {
    long lastEnd = 0;
    long[] types = new long[OTHERS + 1];
    long[] namespaces = new long[OTHERS + 1];
    long[] queues = new long[OTHERS + 1];
    long[] states = new long[STATES];
    for (Job job : jobs) {
      lastEnd = Math.max(lastEnd, job.endMicros);
      types[job.type]++;
      namespaces[job.namespace]++;
      queues[job.queue]++;
      states[job.state]++;
    }
    ByteWriter out =
        new ByteWriter(1024)
            .u8(CATALOGUE)
            .varint(draft.blocks())
            .u8(draft.occurrences() ? 1 : 0)
            .i64(firstEndMicros(jobs))
            .i64(lastEnd)
            .varint(states[0]);
    write(out, draft.types(), types);
    write(out, draft.namespaces(), namespaces);
    write(out, draft.queues(), queues);
    out.varint(STATES - 1);
    for (int code = 1; code < STATES; code++) {
      out.u8(code).varint(states[code]);
    }
    out.varint(draft.metadataKeys().size());
    draft.metadataKeys().forEach(out::string);
    return out.raw(parts).toBytes();
  }

  private static void write(ByteWriter out, Words words, long[] counts) {
    out.varint(words.words.size());
    for (int code = 0; code < words.words.size(); code++) {
      out.string(words.words.get(code)).varint(counts[code]);
    }
    out.varint(counts[OTHERS]);
  }

  private static byte[] jobs(List<Job> jobs, long firstEnd, Map<Long, Job> recurring) {
    ByteWriter out = new ByteWriter(16 * jobs.size() + 16).u8(JOBS).varint(jobs.size());
    long before = 0;
    for (Job job : jobs) {
      if (before == 0) {
        out.i64(job.number);
      } else {
        out.varint(job.number - before);
      }
      before = job.number;
      out.u8(job.state);
      if (job.state != 0) {
        out.varint(job.endMicros - firstEnd);
      }
      out.varint(job.type).varint(job.namespace).varint(job.queue);
      write(out, job.blocksWith(job.schedule != 0 ? recurring.get(job.schedule) : null));
    }
    return out.toBytes();
  }

  private static void write(ByteWriter out, int[] blocks) {
    out.varint(blocks.length);
    int before = 0;
    for (int block : blocks) {
      out.varint(block - before);
      before = block;
    }
  }

  // ---- reading

  /**
   * How often each word occurs.
   *
   * @param words by code
   * @param counts by code, then that of all other words
   */
  @SuppressWarnings("ArrayRecordComponent") // handed over, never compared
  public record Counts(List<String> words, long[] counts) {
    static final int NONE = -1;

    /** The code of a word; {@link #NONE} where no job has it. */
    public int code(String word) {
      int code = words.indexOf(word);
      return code >= 0 ? code : counts[words.size()] > 0 ? OTHERS : NONE;
    }
  }

  /**
   * The footer's first entry.
   *
   * @param occurrences whether recurring jobs have run occurrences themselves
   * @param live jobs that have not ended
   * @param states how many are in each state, by its code
   * @param metadataKeys by which the parts can be told apart
   * @param parts what is in each entry with jobs
   */
  @SuppressWarnings("ArrayRecordComponent") // handed over, never compared
  public record Catalogue(
      int blocks,
      boolean occurrences,
      long firstEndMicros,
      long lastEndMicros,
      long live,
      Counts types,
      Counts namespaces,
      Counts queues,
      long[] states,
      Set<String> metadataKeys,
      List<Part> parts) {

    /** The entry with that job, from 0, if it is there at all; -1 where it is not. */
    public int entryOf(long number) {
      int from = 0;
      int to = parts.size();
      while (from < to) {
        int middle = (from + to) >>> 1;
        if (parts.get(middle).number() <= number) {
          from = middle + 1;
        } else {
          to = middle;
        }
      }
      return from - 1;
    }

    /** The number of its {@code i}th entry with jobs. */
    public long entry(int i) {
      return blocks + 2L + i;
    }
  }

  /** Reads the first entry. */
  public static Catalogue catalogue(byte[] entry) {
    ByteReader in = reader(entry, CATALOGUE);
    int blocks = (int) in.varint();
    boolean occurrences = in.u8() == 1;
    long firstEnd = in.i64();
    long lastEnd = in.i64();
    long live = in.varint();
    Counts types = counts(in);
    Counts namespaces = counts(in);
    Counts queues = counts(in);
    long[] states = new long[STATES];
    for (int i = in.length(); i > 0; i--) {
      int code = in.u8();
      long count = in.varint();
      if (code < STATES) {
        states[code] = count;
      }
    }
    states[0] = live;
    Set<String> metadataKeys = new LinkedHashSet<>();
    for (int i = in.length(); i > 0; i--) {
      metadataKeys.add(in.string());
    }
    int size = in.length();
    List<Part> parts = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      parts.add(Part.read(in, firstEnd));
    }
    return new Catalogue(
        blocks,
        occurrences,
        firstEnd,
        lastEnd,
        live,
        types,
        namespaces,
        queues,
        states,
        metadataKeys,
        parts);
  }

  private static Counts counts(ByteReader in) {
    int size = in.length();
    List<String> words = new ArrayList<>(size);
    long[] counts = new long[size + 1];
    for (int i = 0; i < size; i++) {
      words.add(in.string());
      counts[i] = in.varint();
    }
    counts[size] = in.varint();
    return new Counts(words, counts);
  }

  private static ByteReader reader(byte[] entry, int part) {
    Frame frame = Frame.decode(entry).getFirst();
    if (frame.kind() != Kind.FOOTER) {
      throw new DamagedException("footer: kind " + frame.kind() + " (expected: FOOTER)");
    }
    ByteReader in = frame.reader();
    int found = in.u8();
    if (found != part) {
      throw new DamagedException("footer: part " + found + " (expected: " + part + ")");
    }
    return in;
  }

  /** Goes through the jobs of an entry; its fields tell of the one it stands at. */
  public static final class Jobs {
    private final ByteReader in;
    private final long firstEnd;
    private int left;
    private boolean first = true;
    private int[] blocks = new int[MOST_BLOCKS];
    private int size;

    public long number;
    public int state;
    public long endMicros;
    public int type;
    public int namespace;
    public int queue;

    public Jobs(byte[] entry, Catalogue catalogue) {
      this.in = reader(entry, JOBS);
      this.firstEnd = catalogue.firstEndMicros();
      this.left = (int) in.varint();
    }

    /** Steps to the next job; false behind the last. */
    public boolean next() {
      if (left-- <= 0) {
        return false;
      }
      number = first ? in.i64() : number + in.varint();
      first = false;
      state = in.u8();
      endMicros = state == 0 ? 0 : firstEnd + in.varint();
      type = (int) in.varint();
      namespace = (int) in.varint();
      queue = (int) in.varint();
      size = in.length();
      if (size > blocks.length) {
        blocks = new int[size];
      }
      int before = 0;
      for (int i = 0; i < size; i++) {
        before += (int) in.varint();
        blocks[i] = before;
      }
      return true;
    }

    /** The blocks that tell of it, by the number of their entry. */
    public int[] blocks(Catalogue catalogue) {
      if (size > 0) {
        return Arrays.copyOf(blocks, size);
      }
      int[] all = new int[catalogue.blocks()];
      Arrays.setAll(all, i -> i + 1);
      return all;
    }
  }
}
