package dev.carillon.engine.history;

import dev.carillon.store.Head;
import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import dev.carillon.store.Store;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds the shard whose damaged head hides a page of heads, so that a reader can name it and go on
 * behind it.
 */
public final class DamagedHead {
  private static final int HEADS_A_PAGE = 256;

  private static final Pattern SHARD_NAME =
      Pattern.compile("\\b[0-9a-z]{" + ShardId.TEXT_LENGTH + "}\\b");

  private DamagedHead() {}

  /**
   * Heads in the order of their ids.
   *
   * @param intact those that can be read
   * @param damaged the shards among them whose head cannot
   */
  public record Heads(List<Head> intact, List<ShardId> damaged) {}

  /** At least {@code enough} heads behind {@code start}; fewer where there are no others. */
  public static Outcome<Heads> around(Store store, @Nullable ShardId start, int enough) {
    Heads heads = new Heads(new ArrayList<>(), new ArrayList<>());
    ShardId after = start;
    int limit = HEADS_A_PAGE;
    while (true) {
      Outcome<List<Head>> listed = store.journals().listById(after, limit);
      ShardId damaged = of(listed, after);
      if (damaged != null && limit > 1) {
        limit = 1; // it hides its whole page: first come those before it
      } else if (damaged != null) {
        heads.damaged().add(damaged);
        after = damaged;
        limit = HEADS_A_PAGE;
      } else if (listed instanceof Outcome.Ok<List<Head>>(List<Head> found)) {
        heads.intact().addAll(found);
        if (found.size() < limit || heads.intact().size() >= enough) {
          return Outcome.ok(heads);
        }
        after = found.getLast().shard();
      } else {
        return listed.map(found -> heads);
      }
    }
  }

  /** All shards whose head is damaged. */
  public static Outcome<List<ShardId>> all(Store store) {
    List<ShardId> damaged = new ArrayList<>();
    ShardId after = null;
    while (true) {
      Outcome<Heads> outcome = around(store, after, HEADS_A_PAGE);
      if (!(outcome instanceof Outcome.Ok<Heads>(Heads heads))) {
        return outcome.map(found -> damaged);
      }
      damaged.addAll(heads.damaged());
      if (heads.intact().size() < HEADS_A_PAGE) {
        return Outcome.ok(damaged);
      }
      after = heads.intact().getLast().shard();
    }
  }

  /** The shard that a damaged listing by id names, if it lies behind {@code after}; else null. */
  public static @Nullable ShardId of(Outcome<?> listed, @Nullable ShardId after) {
    if (listed instanceof Outcome.Damaged<?>(String where)) {
      Matcher name = SHARD_NAME.matcher(where);
      if (name.find()) {
        ShardId shard = parse(name.group());
        return shard == null || (after != null && shard.compareTo(after) <= 0) ? null : shard;
      }
    }
    return null;
  }

  private static @Nullable ShardId parse(String text) {
    try {
      return ShardId.parse(text);
    } catch (IllegalArgumentException e) {
      return null; // the name itself is what is damaged
    }
  }
}
