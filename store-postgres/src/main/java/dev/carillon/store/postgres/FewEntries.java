package dev.carillon.store.postgres;

import dev.carillon.store.Entry;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The statement that appends one entry to each of a few shards: the same steps as that of a group
 * of any size, with every value a parameter of its own. A large entry goes through an array, {@code
 * unnest} and a join by being copied a handful of times, which costs the server more than writing
 * it; and the plan of a statement without arrays costs the same for all values, so the server keeps
 * it and does not copy the entry into a new one each time.
 *
 * <p>What it looks for in the table of entries depends on parameters alone and is found through the
 * key, however empty the table was when the plan was made.
 */
final class FewEntries {

  /** More shards in a group go by arrays: so many texts are not worth keeping prepared. */
  static final int MAX = 8;

  private final Cluster cluster;
  private final List<Row> rows = new ArrayList<>();

  /** An entry and where it goes. */
  private record Row(String shard, long segment, long crc, Entry entry) {}

  FewEntries(Cluster cluster) {
    this.cluster = cluster;
  }

  void add(String shard, long segment, long crc, Entry entry) {
    rows.add(new Row(shard, segment, crc, entry));
  }

  /** As {@link AppendGroup}'s, which see; in the order of the shards, as the locks are taken. */
  static String text(String table, int count) {
    return IntStream.range(0, count)
            .mapToObj(i -> run(i).replace("TABLE", table))
            .collect(Collectors.joining("", locks(count), ""))
        + inserts(table, count);
  }

  private static String locks(int count) {
    return """
    with h as materialized (
      select shard, segment, epoch, base from $.heads where cluster = ? and shard in (%s)
      order by shard for share)"""
        .formatted("?" + ", ?".repeat(count - 1));
  }

  private static String run(int index) {
    return """
    ,
    r%d as materialized (
      select h.segment from h
      where h.shard = ? and h.segment = ? and h.epoch = ?
        and (h.base + 1 = ?
          or exists (select 1 from TABLE e where e.segment = ? and e.number = ?))
        and not exists (select 1 from TABLE e where e.segment = ? and e.number = ?)
        and exists (select 1 from $.clusters c where c.id = ? and c.incarnation = ?))"""
        .formatted(index);
  }

  private static String inserts(String table, int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> "\n  select segment, ?, ?, ?, ?, ? from r" + i)
        .collect(
            Collectors.joining(
                " union all",
                ",\ni as (insert into " + table + "(segment, number, epoch, batch, crc, data)",
                "\n  on conflict do nothing returning segment, number)\n"));
  }

  /** Sets all parameters; answers the next one. */
  int set(PreparedStatement insert) throws SQLException {
    int next = 1;
    insert.setInt(next++, cluster.id());
    for (Row row : rows) {
      insert.setString(next++, row.shard);
    }
    for (Row row : rows) {
      next = setRun(insert, next, row);
    }
    for (Row row : rows) {
      insert.setLong(next++, row.entry.number());
      insert.setLong(next++, row.entry.epoch());
      insert.setLong(next++, row.entry.batch());
      insert.setLong(next++, row.crc);
      Session.setUncopied(insert, next++, row.entry.data());
    }
    return next;
  }

  private int setRun(PreparedStatement insert, int from, Row row) throws SQLException {
    int next = from;
    insert.setString(next++, row.shard);
    insert.setLong(next++, row.segment);
    insert.setLong(next++, row.entry.epoch());
    insert.setLong(next++, row.entry.number());
    insert.setLong(next++, row.segment);
    insert.setLong(next++, row.entry.number() - 1);
    insert.setLong(next++, row.segment);
    insert.setLong(next++, row.entry.number());
    insert.setInt(next++, cluster.id());
    insert.setString(next++, cluster.identity().own());
    return next;
  }
}
