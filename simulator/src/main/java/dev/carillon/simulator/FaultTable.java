package dev.carillon.simulator;

import dev.carillon.store.FaultyStore;
import dev.carillon.store.FaultyStore.Fault;
import dev.carillon.store.ForwardingStore.Operation;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** How often each store operation and each kind of request met each fault. */
final class FaultTable {

  /** The faults, and how often there was an occasion. */
  enum Column {
    ALL("all"),
    FAIL_BEFORE("fail before"),
    APPLY_THEN_TIMEOUT("apply, timeout"),
    TIMEOUT_THEN_APPLY("timeout, apply"),
    SLOW("slow"),
    FULL("full"),
    HANG("hang"),
    CRASH_NEVER("crash, never applied"),
    CRASH_LATE("crash, applied late"),
    CRASH_UNHEARD("crash, answer unheard"),
    CRASH("crash"),
    STOP("stop"),
    PAUSE("pause"),
    CLOCK_FORWARD("clock forward"),
    CLOCK_BACK("clock back"),
    CUT("cut off"),
    RESTORE("older copy");

    private final String text;

    Column(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      return text;
    }

    static Column of(Fault fault) {
      return switch (fault) {
        case NONE -> ALL;
        case FAIL_BEFORE -> FAIL_BEFORE;
        case APPLY_THEN_TIMEOUT -> APPLY_THEN_TIMEOUT;
        case TIMEOUT_THEN_APPLY -> TIMEOUT_THEN_APPLY;
        case SLOW -> SLOW;
        case FULL -> FULL;
      };
    }
  }

  private static final Set<Column> OF_USERS =
      EnumSet.complementOf(EnumSet.of(Column.CRASH_NEVER, Column.CRASH_LATE, Column.CRASH_UNHEARD));

  private static final Set<UserOperations.Kind> OF_WORKFLOWS =
      EnumSet.of(
          UserOperations.Kind.WORKFLOW, UserOperations.Kind.SIGNAL, UserOperations.Kind.CHECKPOINT);

  private final Map<Operation, Row> store = new EnumMap<>(Operation.class);
  private final Map<String, Long> calls = new TreeMap<>();
  private final Map<String, Long> reasons = new TreeMap<>();
  private final Map<UserOperations.Kind, Row> users = new EnumMap<>(UserOperations.Kind.class);

  /** A table of seeds of this kind. */
  FaultTable(Seed kind) {
    int nodes = kind.nodes();
    for (Operation operation : Operation.values()) {
      store.put(operation, new Row(possible(operation, nodes)));
    }
    for (UserOperations.Kind asked : UserOperations.Kind.values()) {
      boolean never = OF_WORKFLOWS.contains(asked) && !kind.workflows();
      users.put(asked, new Row(never ? Set.of() : possible(asked, nodes)));
    }
  }

  private static Set<Column> possible(Operation operation, int nodes) {
    Set<Column> possible = EnumSet.of(Column.HANG, Column.CRASH_NEVER, Column.CRASH_UNHEARD);
    if (nodes > 1) {
      possible.add(Column.CUT);
    }
    for (Fault fault : FaultyStore.possible(operation)) {
      possible.add(Column.of(fault));
    }
    if (!operation.isRead()) {
      possible.add(Column.CRASH_LATE);
    }
    return possible;
  }

  private static Set<Column> possible(UserOperations.Kind kind, int nodes) {
    Set<Column> possible = EnumSet.copyOf(OF_USERS);
    if (nodes == 1) {
      possible.remove(Column.CUT);
      possible.remove(Column.RESTORE);
    }
    if (kind == UserOperations.Kind.STOP) {
      possible.remove(Column.STOP);
    }
    return possible;
  }

  /** The counts of one operation. */
  static final class Row {
    private final Set<Column> possible;
    private final Map<Column, long[]> counts = new EnumMap<>(Column.class);

    Row(Set<Column> possible) {
      this.possible = possible;
      for (Column column : Column.values()) {
        counts.put(column, new long[1]);
      }
    }

    private long[] cell(Column column) {
      long[] cell = counts.get(column);
      if (cell == null) {
        throw new IllegalArgumentException("column: " + column);
      }
      return cell;
    }

    void count(Column column, long times) {
      cell(column)[0] += times;
    }

    long get(Column column) {
      return cell(column)[0];
    }

    boolean isPossible(Column column) {
      return possible.contains(column);
    }

    private void add(Row other) {
      for (Column column : Column.values()) {
        count(column, other.get(column));
      }
    }
  }

  private static <K> Row row(Map<K, Row> rows, K key) {
    Row row = rows.get(key);
    if (row == null) {
      throw new IllegalArgumentException("row: " + key);
    }
    return row;
  }

  void count(Operation operation, Column column) {
    row(store, operation).count(column, 1);
  }

  void count(UserOperations.Kind kind, Column column) {
    row(users, kind).count(column, 1);
  }

  /** Something that workflows do has happened once more. */
  void countCall(String what) {
    calls.merge(what, 1L, Long::sum);
  }

  /** How often workflows did what, in order of the words. */
  Map<String, Long> calls() {
    return calls;
  }

  /** A node has said once more why a job does not run, and it was so. */
  void countReason(String reason) {
    reasons.merge(reason, 1L, Long::sum);
  }

  /** How often nodes named which reason. */
  Map<String, Long> reasons() {
    return reasons;
  }

  /** Takes over what the fault wrapper has counted. */
  void count(FaultyStore wrapper) {
    for (Operation operation : Operation.values()) {
      for (Fault fault : Fault.values()) {
        long times = wrapper.count(operation, fault);
        row(store, operation).count(Column.ALL, times);
        if (fault != Fault.NONE) {
          row(store, operation).count(Column.of(fault), times);
        }
      }
    }
  }

  void add(FaultTable other) {
    other.store.forEach((operation, row) -> row(store, operation).add(row));
    other.calls.forEach((what, times) -> calls.merge(what, times, Long::sum));
    other.reasons.forEach((reason, times) -> reasons.merge(reason, times, Long::sum));
    other.users.forEach((kind, row) -> row(users, kind).add(row));
  }

  /** The rows by name: of the store's operations, then of the users'. */
  Map<String, Row> rows() {
    Map<String, Row> rows = new LinkedHashMap<>();
    store.forEach((operation, row) -> rows.put(operation.toString(), row));
    users.forEach((kind, row) -> rows.put(kind.toString(), row));
    return rows;
  }

  /** The cells in which nothing happened though it could have. */
  List<String> empty() {
    List<String> empty = new ArrayList<>();
    rows()
        .forEach(
            (name, row) -> {
              for (Column column : Column.values()) {
                if (row.isPossible(column) && row.get(column) == 0) {
                  empty.add(name + " × " + column);
                }
              }
            });
    return empty;
  }

  /** The table as lines of text. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    StringBuilder head = new StringBuilder("%-18s".formatted(""));
    for (Column column : Column.values()) {
      head.append("%10s".formatted(shortened(column)));
    }
    lines.add(head.toString());
    rows().forEach((name, row) -> lines.add(line(name, row)));
    return lines;
  }

  private static String shortened(Column column) {
    return switch (column) {
      case APPLY_THEN_TIMEOUT -> "app+tmo";
      case TIMEOUT_THEN_APPLY -> "tmo+app";
      case FAIL_BEFORE -> "fail";
      case CRASH_NEVER -> "cr+never";
      case CRASH_LATE -> "cr+late";
      case CRASH_UNHEARD -> "cr+unheard";
      case CLOCK_FORWARD -> "clock+";
      case CLOCK_BACK -> "clock-";
      case CUT -> "cut";
      default -> column.toString();
    };
  }

  private static String line(String name, Row row) {
    StringBuilder line = new StringBuilder("%-18s".formatted(name));
    for (Column column : Column.values()) {
      String cell = row.isPossible(column) ? Long.toString(row.get(column)) : "-";
      line.append("%10s".formatted(cell));
    }
    return line.toString();
  }
}
