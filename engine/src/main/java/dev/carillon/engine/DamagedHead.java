package dev.carillon.engine;

import dev.carillon.store.Outcome;
import dev.carillon.store.ShardId;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds the shard whose damaged head hides a page of heads, so that a reader can name it and go on
 * behind it.
 */
public final class DamagedHead {
  private static final Pattern SHARD_NAME =
      Pattern.compile("\\b[0-9a-z]{" + ShardId.TEXT_LENGTH + "}\\b");

  private DamagedHead() {}

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
