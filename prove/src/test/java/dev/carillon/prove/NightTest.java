package dev.carillon.prove;

import static org.assertj.core.api.Assertions.assertThat;

import dev.carillon.fixture.PostgresServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Three processes go through a bad night, and their log is the one in the documents: the same
 * events, in other numbers and at other times. {@code -Dcarillon.night.write=true} writes it anew.
 */
@Timeout(120)
class NightTest {
  private static final Path FILE = Path.of("..", "docs", "examples", "a-night.txt");

  private static final Pattern LINE =
      Pattern.compile("(\\d\\d:\\d\\d:\\d\\d\\.\\d{3}) (\\S+) +(INFO|WARN) +(\\S+): (.*)");

  /** What may come or not, or at another number of times, and says nothing of the night. */
  private static final List<String> ACCIDENTAL =
      List.of("handed back", "store: still away", "store: away", "store: back", "(fenced)");

  private final List<Entry> entries = new CopyOnWriteArrayList<>();
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final List<NodeProcess> processes = new ArrayList<>();

  /** A line of a node's log, with the lines that belong to it. */
  private record Entry(LocalTime at, String node, String level, String logger, String text) {
    /** The line without what differs from night to night. */
    String essence() {
      return text.replaceAll("\\n.*", "")
          .replaceAll(" \\(and [0-9,]+ more in the last .*", "")
          .replaceAll("20\\d\\d-\\S+Z", "TIME")
          .replaceAll("\\bj[0-9a-z]{6,}[0-9a-z.~-]*", "JOB")
          .replaceAll("node-[abc]", "NODE")
          .replaceAll("(, NODE)+", "")
          .replaceAll("//[^/ ]*/\\S*", "DATABASE")
          .replaceAll("Carillon \\S+,", "Carillon VERSION,")
          .replaceAll("(a shard|[0-9,]+ shards)", "SHARDS")
          .replaceAll("[0-9]+\\.[0-9] s", "SECONDS");
    }

    String told() {
      return level + " " + logger + ": " + essence();
    }

    String printed() {
      return "%s %s %-4s %s: %s".formatted(at, node, level, logger, text);
    }
  }

  private final class NodeProcess {
    private final String node;
    private final Process process;
    private final BufferedReader answers;
    private final Writer words;
    private final Thread reader;
    private boolean ours;

    NodeProcess(String node, String url) throws IOException {
      this.node = node;
      this.process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "--enable-native-access=ALL-UNNAMED",
                  "-XX:TieredStopAtLevel=1", // lives for seconds only
                  "-Djava.util.logging.SimpleFormatter.format=%1$tT.%1$tL|%4$s|%3$s|%5$s%6$s%n",
                  "-cp",
                  System.getProperty("java.class.path"),
                  NightChild.class.getName(),
                  url,
                  node)
              .start();
      this.answers =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
      this.words = process.outputWriter(StandardCharsets.UTF_8);
      this.reader = Thread.ofPlatform().daemon().name("log-of-" + node).start(this::read);
      processes.add(this);
    }

    private void read() {
      try (BufferedReader log =
          new BufferedReader(
              new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8))) {
        for (String line = log.readLine(); line != null; line = log.readLine()) {
          lines.add(node + "|" + line);
          take(line);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private void take(String line) {
      String[] parts = line.split("\\|", 4);
      if (parts.length == 4 && parts[2].startsWith("dev.carillon.")) {
        String level = parts[1].replace("WARNING", "WARN");
        entries.add(new Entry(LocalTime.parse(parts[0]), node, level, parts[2], parts[3]));
        ours = true;
      } else if (parts.length == 4) {
        ours = false; // of the connection pool, say
      } else if (ours) {
        addToLast(line);
      }
    }

    /** Of its own last entry: those of other nodes may have come in between. */
    private void addToLast(String line) {
      for (int i = entries.size() - 1; i >= 0; i--) {
        Entry last = entries.get(i);
        if (last.node.equals(node)) {
          String text = last.text + "\n" + line;
          entries.set(i, new Entry(last.at, node, last.level, last.logger, text));
          return;
        }
      }
    }

    void order(String word) throws IOException {
      words.write(word + "\n");
      words.flush();
      assertThat(answers.readLine()).isEqualTo(word);
    }

    void kill() throws InterruptedException {
      process.destroyForcibly();
      assertThat(process.waitFor()).isEqualTo(Child.KILLED);
      reader.join();
    }

    void stop() throws IOException, InterruptedException {
      words.close();
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
      reader.join();
    }
  }

  @AfterEach
  void end() {
    processes.forEach(child -> child.process.destroyForcibly());
  }

  private void await(String part) {
    awaitNew(part, 0);
  }

  /** Waits for a line beyond those that are there. */
  private void awaitNew(String part, int from) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .pollInterval(Duration.ofMillis(20))
        .untilAsserted(
            () ->
                assertThat(entries.stream().skip(from).toList())
                    .as(() -> String.join("\n", lines))
                    .anyMatch(entry -> entry.printed().contains(part)));
  }

  @Test
  void logOfABadNightTellsItsStory() throws Exception {
    try (PostgresServer server = PostgresServer.start("night")) {
      NodeProcess a = new NodeProcess("node-a", server.url());
      await("node node-a, store");
      NodeProcess b = new NodeProcess("node-b", server.url());
      NodeProcess c = new NodeProcess("node-c", server.url());
      await("node node-b, store");
      await("node node-c, store");
      a.order("orders");
      await("dead letter");
      await("no handler");
      await("undecodable");
      await("handler goes on");
      b.order("later");
      b.kill();
      await("took over");
      int before = entries.size();
      b = new NodeProcess("node-b", server.url());
      awaitNew("node node-b, store", before);
      c.stop();
      await("node node-c has stopped");
      server.crash();
      await("node-a WARN dev.carillon.node: fenced");
      await("node-b WARN dev.carillon.node: fenced");
      server.restart();
      await("node-a INFO dev.carillon.node: not fenced any more");
      await("node-b INFO dev.carillon.node: not fenced any more");
      a.order("pause");
      await("node-a INFO dev.carillon.node: operator's setting");
      await("node-b INFO dev.carillon.node: operator's setting");
      a.order("fax");
      await("handler of type fax is here");
      await("handler returned at last");
      b.stop();
      await("node node-b has stopped");
      a.stop();
    }
    List<Entry> night = new ArrayList<>(entries);
    night.sort(Comparator.comparing(Entry::at));
    if (Boolean.getBoolean("carillon.night.write")) {
      Files.createDirectories(FILE.getParent());
      Files.writeString(
          FILE, String.join("\n", night.stream().map(Entry::printed).toList()) + "\n");
    }
    linesOfOneCauseAreASecondApart(night);
    assertThat(story(night))
        .as("docs/examples/a-night.txt (with -Dcarillon.night.write=true it is written anew)")
        .isEqualTo(story(read(Files.readString(FILE))));
  }

  private static void linesOfOneCauseAreASecondApart(List<Entry> night) {
    Map<String, Entry> last = new HashMap<>();
    for (Entry entry : night) {
      String cause = entry.node + " " + cause(entry);
      Entry before = last.put(cause, entry);
      if (before != null && !entry.text.startsWith("open: ")) {
        assertThat(Duration.between(before.at, entry.at).toMillis())
            .as("%s%n%s", before.printed(), entry.printed())
            .isGreaterThan(900);
      }
    }
  }

  /** What a line is about: nodes and types of jobs differ, jobs and messages do not. */
  private static String cause(Entry entry) {
    String text = entry.text.replaceAll("\\n.*", "");
    Matcher about = Pattern.compile("node-[abc]|\\((charge|invoice|export)\\)").matcher(text);
    String first = text.split("[0-9:]", 2)[0];
    return first + (about.find() ? about.group() : "");
  }

  private static SortedSet<String> story(List<Entry> night) {
    SortedSet<String> story = new TreeSet<>();
    for (Entry entry : night) {
      String told = entry.told();
      boolean problem = told.startsWith("WARN dev.carillon.node: ") && !told.contains("fenced");
      if (!problem && ACCIDENTAL.stream().noneMatch(told::contains)) {
        story.add(told);
      }
    }
    return story;
  }

  private static List<Entry> read(String file) {
    List<Entry> read = new ArrayList<>();
    for (String line : file.lines().toList()) {
      Matcher found = LINE.matcher(line);
      if (found.matches()) {
        read.add(
            new Entry(
                LocalTime.parse(found.group(1)),
                found.group(2),
                found.group(3),
                found.group(4),
                found.group(5)));
      }
    }
    return read;
  }
}
