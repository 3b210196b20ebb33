package dev.carillon;

import dev.carillon.api.PayloadCodec;
import dev.carillon.api.TypeToken;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.Month;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Currency;
import java.util.Date;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Payload types that JSON codecs write as {@code golden/payloads.tsv} says, one line a type: name,
 * tab, JSON. Every JSON codec, on every version of Jackson, writes exactly these bytes and reads
 * them. Needs no test library: programs on other class paths call {@link #differences} too.
 */
public final class GoldenPayloads {

  /** One value of a payload type. */
  public record Payload(String name, Type type, Object value) {
    /** Codecs with the same bytes in common. */
    public String json(PayloadCodec codec) {
      return new String(codec.encode(value, type), StandardCharsets.UTF_8);
    }
  }

  enum Colour {
    RED,
    GREEN {
      @Override
      public String toString() {
        return "a friendly green";
      }
    }
  }

  record Point(int x, int y) {}

  record Empty() {}

  record Unsorted(String zebra, String apple, int middle) {}

  record Numbers(byte b, short s, int i, long l, float f, double d, boolean flag, char c) {}

  record Boxes(Byte b, Short s, Integer i, Long l, Float f, Double d, Boolean flag, Character c) {}

  record Nothing(String text, Integer number, List<String> list, Point point) {}

  record Line(String article, BigDecimal price, int count) {}

  record Order(UUID id, String customer, List<Line> lines, Map<String, String> notes) {}

  record Pair<A, B>(A first, B second) {}

  record Tree(String name, List<Tree> children) {}

  record Bytes(byte[] data) {}

  record Arrays(int[] numbers, String[] texts, double[][] matrix) {}

  record Times(
      Instant instant,
      LocalDate date,
      LocalTime time,
      LocalDateTime dateTime,
      Duration duration,
      Period period) {}

  record Zoned(OffsetDateTime offset, ZonedDateTime zoned, ZoneId zone, ZoneOffset zoneOffset) {}

  record Calendar(Year year, YearMonth yearMonth, MonthDay monthDay, Month month, DayOfWeek day) {}

  record Maybe(Optional<String> some, Optional<String> none, OptionalInt i, OptionalLong none2) {}

  record Colours(Colour colour, Set<Colour> set, Map<Colour, Integer> byColour) {}

  record Keys(Map<Integer, String> numbers, Map<LocalDate, String> dates, Map<UUID, Point> ids) {}

  record Anything(Object text, Object number, Object list, Object map, Object none) {}

  record Platform(URI uri, Locale locale, Currency currency, Date date) {}

  record WithMethods(int width, int height) {
    public int getArea() {
      return width * height;
    }

    public boolean isSquare() {
      return width == height;
    }
  }

  /** A class as frameworks have it: no arguments, getters and setters. */
  public static final class Bean {
    private String name;
    private int age;
    private boolean active;
    private List<String> tags = new ArrayList<>();

    public String getName() {
      return name;
    }

    public void setName(String name) {
      this.name = name;
    }

    public int getAge() {
      return age;
    }

    public void setAge(int age) {
      this.age = age;
    }

    public boolean isActive() {
      return active;
    }

    public void setActive(boolean active) {
      this.active = active;
    }

    public List<String> getTags() {
      return tags;
    }

    public void setTags(List<String> tags) {
      this.tags = tags;
    }
  }

  /** A class with fields that everybody sees. */
  public static final class Open {
    public String text;
    public int number;
  }

  private GoldenPayloads() {}

  /** The values, as they are in the file. */
  public static List<Payload> all() {
    List<Payload> all = new ArrayList<>();
    scalars(all);
    records(all);
    generics(all);
    classes(all);
    return all;
  }

  private static void scalars(List<Payload> all) {
    add(all, "text", "plain");
    add(
        all,
        "text-escapes",
        "quote \" backslash \\ slash / tab \t newline \n nul \u0000 del \u007f");
    add(all, "text-unicode", "Grüße, 東京, \u2028, \uD83D\uDE00, \uD834\uDD1E");
    add(all, "text-empty", "");
    add(all, "int", 42);
    add(all, "long", Long.MIN_VALUE);
    add(all, "double", 1.0e-7);
    add(all, "double-large", 1.7976931348623157e308);
    add(all, "float", 3.4028235e38f);
    add(all, "boolean", true);
    add(all, "decimal", new BigDecimal("12345678901234567890.1200"));
    add(all, "decimal-exponent", new BigDecimal("1E+3"));
    add(all, "integer-large", new BigInteger("123456789012345678901234567890"));
    add(all, "uuid", UUID.fromString("00112233-4455-6677-8899-aabbccddeeff"));
    add(all, "enum", Colour.RED);
    all.add(new Payload("enum-with-a-body", Colour.class, Colour.GREEN));
    add(all, "instant", Instant.parse("2026-03-29T01:00:00.123456789Z"));
    add(all, "duration", Duration.ofSeconds(90, 5));
    add(all, "date", LocalDate.of(2026, 2, 28));
  }

  private static void records(List<Payload> all) {
    add(all, "record", new Point(1, -2));
    add(all, "record-empty", new Empty());
    add(all, "record-unsorted", new Unsorted("z", "a", 5));
    add(
        all,
        "primitives",
        new Numbers((byte) 1, (short) 2, 3, 4, 5.5f, Double.MIN_VALUE, true, 'ß'));
    add(all, "boxes", new Boxes((byte) -1, (short) -2, -3, -4L, -0.0f, 0.1 + 0.2, false, '"'));
    add(all, "nulls", new Nothing(null, null, null, null));
    Map<String, String> notes = new LinkedHashMap<>();
    notes.put("z", "last");
    notes.put("a/b", null);
    add(
        all,
        "nested",
        new Order(
            UUID.fromString("ffffffff-0000-1111-2222-333333333333"),
            "Ærøskøbing",
            List.of(
                new Line("bell", new BigDecimal("19.90"), 2),
                new Line("rope", new BigDecimal("0.00"), 1)),
            notes));
    add(all, "tree", new Tree("root", List.of(new Tree("leaf", List.of()))));
    add(all, "bytes-in-a-record", new Bytes(new byte[] {0, 1, -1, 127, -128}));
    add(
        all,
        "arrays",
        new Arrays(new int[] {1, 2}, new String[] {"a", null}, new double[][] {{1.5}, {}}));
    add(
        all,
        "times",
        new Times(
            Instant.EPOCH,
            LocalDate.of(-1, 1, 1),
            LocalTime.of(23, 59),
            LocalDateTime.of(2026, 12, 31, 23, 59, 59, 1_000_000),
            Duration.ofMillis(-1),
            Period.of(1, 2, 3)));
    add(
        all,
        "zoned",
        new Zoned(
            OffsetDateTime.parse("2026-07-01T12:00:00+05:30"),
            ZonedDateTime.parse("2026-10-25T02:30:00+02:00[Europe/Berlin]"),
            ZoneId.of("Asia/Tokyo"),
            ZoneOffset.ofHours(-3)));
    add(
        all,
        "calendar",
        new Calendar(
            Year.of(2026),
            YearMonth.of(2026, 2),
            MonthDay.of(2, 29),
            Month.NOVEMBER,
            DayOfWeek.SUNDAY));
    add(
        all,
        "optionals",
        new Maybe(Optional.of("x"), Optional.empty(), OptionalInt.of(7), OptionalLong.empty()));
    Map<Colour, Integer> byColour = new EnumMap<>(Colour.class);
    byColour.put(Colour.GREEN, 1);
    add(all, "enums", new Colours(Colour.GREEN, Set.of(Colour.RED), byColour));
    add(
        all,
        "keys",
        new Keys(
            new TreeMap<>(Map.of(10, "ten", 9, "nine")),
            Map.of(LocalDate.of(2026, 1, 1), "new year"),
            Map.of(new UUID(1, 2), new Point(3, 4))));
    add(all, "platform", platform());
    add(all, "record-with-methods", new WithMethods(2, 2));
  }

  private static Platform platform() {
    return new Platform(
        URI.create("https://example.org/a?b=c#d"),
        Locale.CANADA_FRENCH,
        Currency.getInstance("EUR"),
        Date.from(Instant.parse("2026-01-02T03:04:05.678Z")));
  }

  private static void generics(List<Payload> all) {
    add(all, "pair", new TypeToken<Pair<Point, List<Line>>>() {}, pair());
    add(all, "list", new TypeToken<List<Point>>() {}, List.of(new Point(1, 2), new Point(3, 4)));
    add(all, "list-of-optionals", new TypeToken<List<Optional<Integer>>>() {}, optionals());
    add(all, "set", new TypeToken<Set<String>>() {}, new LinkedHashSet<>(List.of("b")));
    add(
        all,
        "map",
        new TypeToken<Map<String, Point>>() {},
        new TreeMap<>(Map.of("p", pair().first)));
    add(
        all,
        "map-of-lists",
        new TypeToken<Map<String, List<Duration>>>() {},
        new TreeMap<>(Map.of("d", List.of(Duration.ofDays(1), Duration.ZERO))));
    add(
        all,
        "anything",
        new TypeToken<Anything>() {},
        new Anything("t", 1, List.of(1, "a"), new TreeMap<>(Map.of("k", true)), null));
  }

  private static Pair<Point, List<Line>> pair() {
    return new Pair<>(new Point(0, 0), List.of(new Line("bell", BigDecimal.ONE, 1)));
  }

  private static List<Optional<Integer>> optionals() {
    return List.of(Optional.of(1), Optional.empty());
  }

  private static void classes(List<Payload> all) {
    Bean bean = new Bean();
    bean.setName("n");
    bean.setAge(3);
    bean.setActive(true);
    bean.setTags(List.of("t"));
    add(all, "bean", bean);
    Open open = new Open();
    open.text = "t";
    open.number = 1;
    add(all, "public-fields", open);
  }

  private static void add(List<Payload> all, String name, Object value) {
    all.add(new Payload(name, value.getClass(), value));
  }

  private static <T> void add(List<Payload> all, String name, TypeToken<T> type, T value) {
    all.add(new Payload(name, type.type(), value));
  }

  /** The lines of the file: JSON by name. */
  public static Map<String, String> golden() {
    Map<String, String> golden = new LinkedHashMap<>();
    try (InputStream file = GoldenPayloads.class.getResourceAsStream("/golden/payloads.tsv")) {
      String text = new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
      for (String line : text.lines().toList()) {
        String[] parts = line.split("\t", 2);
        golden.put(parts[0], parts[1]);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return golden;
  }

  /** Where a codec writes other bytes than those of the file, or reads them as something else. */
  public static List<String> differences(PayloadCodec codec) {
    List<String> differences = new ArrayList<>();
    Map<String, String> golden = golden();
    for (Payload payload : all()) {
      String expected = golden.getOrDefault(payload.name(), "not in the file");
      String written = payload.json(codec);
      if (!written.equals(expected)) {
        differences.add(payload.name() + ": writes " + written + ", the file has " + expected);
        continue;
      }
      byte[] stored = expected.getBytes(StandardCharsets.UTF_8);
      Object read = codec.decode(stored, payload.type());
      String again = new String(codec.encode(read, payload.type()), StandardCharsets.UTF_8);
      if (!again.equals(expected)) {
        differences.add(payload.name() + ": reads " + again + " from " + expected);
      }
    }
    if (golden.size() != all().size()) {
      differences.add(golden.size() + " lines in the file for " + all().size() + " payloads");
    }
    return differences;
  }

  /** Prints the file as a codec would have it, to be compared before it is stored. */
  static String lines(PayloadCodec codec) {
    StringBuilder lines = new StringBuilder();
    for (Payload payload : all()) {
      lines.append(payload.name()).append('\t').append(payload.json(codec)).append('\n');
    }
    return lines.toString();
  }
}
