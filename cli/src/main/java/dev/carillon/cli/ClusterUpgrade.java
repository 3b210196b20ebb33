package dev.carillon.cli;

import dev.carillon.engine.environment.Membership;
import dev.carillon.engine.member.Formats;
import dev.carillon.engine.member.Upgrade;
import dev.carillon.engine.member.Upgrade.Reader;
import dev.carillon.engine.member.Upgrade.Standing;
import dev.carillon.store.Records.Stamp;
import dev.carillon.store.Store;
import java.io.PrintWriter;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Which format all nodes write, and the end of an upgrade. */
@Command(
    name = "upgrade",
    description = {
      "Shows the format in which all nodes write, and what each of them reads.",
      "A newer version writes the format of the older ones until the upgrade is",
      "finished; until then every node may go back to the older version.",
      ""
    },
    footer = {"", "Example: ./carillon cluster upgrade jdbc:postgresql://db/app --finish"})
final class ClusterUpgrade extends StoreCommand implements Callable<Integer> {
  private static final Duration BETWEEN = Membership.standard().heartbeatInterval().multipliedBy(3);
  private static final int MOST_TRIES = 10;

  @Option(
      names = "--finish",
      description = {
        "have all nodes write the newest format that everybody reads; a version that",
        "does not read it does not start any more"
      })
  private boolean finish;

  @Override
  public Integer call() throws Exception {
    try (Store store = finish ? open() : openReadOnly()) {
      Upgrade upgrade = new Upgrade(Formats.shipped());
      upgrade.look(store).orThrow();
      Thread.sleep(BETWEEN);
      return finish ? finish(upgrade, store) : show(upgrade.standing(store).orThrow());
    }
  }

  private int show(Standing standing) {
    List<List<@Nullable Object>> rows =
        standing.readers().stream()
            .map(
                reader ->
                    List.<@Nullable Object>of(
                        reader.nodeId(), reader.reads(), reader.there() ? "there" : "not there"))
            .toList();
    PrintWriter out = out();
    TextTable.print(List.of("node", "reads", "state"), rows, out);
    out.println("format of all: " + standing.format());
    if (standing.next() > standing.format()) {
      out.println(
          "next: " + standing.next() + (standing.behind().isEmpty() ? ", by --finish" : ""));
    }
    out.flush();
    return 0;
  }

  private int finish(Upgrade upgrade, Store store) {
    Stamp stamp = new Stamp(new SecureRandom().nextLong() | 1, 1);
    for (int i = 0; i < MOST_TRIES; i++) {
      Standing standing = upgrade.standing(store).orThrow();
      if (!standing.behind().isEmpty()) {
        throw new IllegalStateException(behind(standing));
      }
      if (standing.next() == standing.format()) {
        out().println("format of all: " + standing.format() + ", the newest that they read");
        out().flush();
        return 0;
      }
      if (upgrade.finish(store, standing, stamp).orThrow()) {
        out().println("format of all: " + standing.next() + ", was " + standing.format());
        out().flush();
        return 0;
      }
    }
    throw new IllegalStateException("format: changed by others " + MOST_TRIES + " times meanwhile");
  }

  private static String behind(Standing standing) {
    return standing.behind().stream()
        .map(ClusterUpgrade::name)
        .collect(
            Collectors.joining(
                ", ",
                "format: stays "
                    + standing.format()
                    + ", since not all read "
                    + standing.next()
                    + ": ",
                ""));
  }

  private static String name(Reader reader) {
    return reader.nodeId()
        + " reads "
        + reader.reads()
        + (reader.there() ? "" : " (not there, and not forgotten yet)");
  }
}
