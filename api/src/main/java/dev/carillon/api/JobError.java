package dev.carillon.api;

import dev.carillon.api.internal.Check;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What an attempt failed with, as plain text that can be stored: the evidence kept in a job's
 * history and in dead letters.
 *
 * <p>Longer text is cut and unpaired surrogates are replaced, so that every error can be stored and
 * reads back equal.
 *
 * @param type the class name of the throwable, at most {@link #TYPE_MAX_CHARS}
 * @param message its message, empty if it has none, at most {@link #MESSAGE_MAX_CHARS}
 * @param stack the innermost frames of it and its causes, at most {@link #STACK_MAX_CHARS}; may be
 *     empty
 * @param node the id of the node that made the attempt, at most {@link #NODE_MAX_CHARS}; empty
 *     where it is not known
 */
public record JobError(String type, String message, String stack, String node) {

  /** The longest type kept, in characters. */
  public static final int TYPE_MAX_CHARS = 300;

  /** The longest message kept, in characters. */
  public static final int MESSAGE_MAX_CHARS = 2_000;

  /** The longest stack trace kept, in characters. */
  public static final int STACK_MAX_CHARS = 8_000;

  /** The longest node id kept, in characters. */
  public static final int NODE_MAX_CHARS = 200;

  private static final int CAUSES_MAX = 16;
  private static final int FRAMES_MIN = 4;
  private static final int FRAMES_MAX = 64;
  private static final int LINE_MAX_CHARS = 300;

  /** Cuts each part to its length. */
  public JobError {
    type = Check.cut(Objects.requireNonNull(type, "type"), TYPE_MAX_CHARS);
    message = Check.cut(Objects.requireNonNull(message, "message"), MESSAGE_MAX_CHARS);
    stack = Check.cut(Objects.requireNonNull(stack, "stack"), STACK_MAX_CHARS);
    node = Check.cut(Objects.requireNonNull(node, "node"), NODE_MAX_CHARS);
  }

  /**
   * An error on no known node.
   *
   * @param type the class name of the throwable
   * @param message its message, empty if it has none
   * @param stack the innermost frames of it and its causes; may be empty
   */
  public JobError(String type, String message, String stack) {
    this(type, message, stack, "");
  }

  /**
   * The same, on a node.
   *
   * @param node the id of the node that made the attempt
   * @return a copy
   */
  public JobError on(String node) {
    return new JobError(type, message, stack, node);
  }

  /**
   * The error of a throwable. Never fails and always ends, even if the throwable's own methods
   * throw or its causes form a cycle.
   *
   * @param thrown what the attempt threw
   * @return its error
   */
  public static JobError of(Throwable thrown) {
    Objects.requireNonNull(thrown, "thrown");
    return new JobError(thrown.getClass().getName(), message(thrown), stack(thrown));
  }

  private static String message(Throwable thrown) {
    String message = attempt(thrown::getMessage);
    return message == null ? "" : message;
  }

  /** The frames are shared out among the causes, or a deep outer stack would hide the root. */
  private static String stack(Throwable thrown) {
    List<Throwable> chain = chain(thrown);
    int framesEach = Math.max(FRAMES_MIN, FRAMES_MAX / chain.size());
    var out = new StringBuilder();
    for (Throwable link : chain) {
      out.append(out.isEmpty() ? "" : "Caused by: ");
      describe(link, framesEach, out);
    }
    return out.toString();
  }

  private static List<Throwable> chain(Throwable thrown) {
    Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    var chain = new ArrayList<Throwable>();
    Throwable next = thrown;
    while (next != null && chain.size() < CAUSES_MAX && seen.add(next)) {
      chain.add(next);
      next = attempt(next::getCause);
    }
    return chain;
  }

  private static void describe(Throwable thrown, int maxFrames, StringBuilder out) {
    out.append(thrown.getClass().getName());
    String message = message(thrown);
    if (!message.isEmpty()) {
      out.append(": ").append(Check.cut(message, LINE_MAX_CHARS));
    }
    out.append('\n');
    StackTraceElement[] frames = attempt(thrown::getStackTrace);
    if (frames == null) {
      return;
    }
    for (int i = 0; i < Math.min(frames.length, maxFrames); i++) {
      out.append("\tat ").append(frames[i]).append('\n');
    }
    if (frames.length > maxFrames) {
      out.append("\t... ").append(frames.length - maxFrames).append(" more\n");
    }
  }

  /** Calls a method of a throwable, which is user code; null if it throws. */
  private static <T> @Nullable T attempt(Supplier<@Nullable T> call) {
    try {
      return call.get();
    } catch (Throwable hostile) {
      return null;
    }
  }
}
