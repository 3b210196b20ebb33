package dev.carillon.store.jdbc;

import dev.carillon.store.Store;
import dev.carillon.store.StoreOpener;
import dev.carillon.store.StoreTck;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;

/** The SQLite store passes the conformance suite. */
class SqliteStoreTckTest extends StoreTck {

  private static final String FILE = "store.db";
  private static final int WAL_HEADER_BYTES = 32;
  private static final int FRAME_HEADER_BYTES = 24;

  private final List<SmallDisk> disks = new ArrayList<>();

  /** Also used by the processes that are killed. */
  public static final class Opener implements StoreOpener {
    @Override
    public Store open(Path folder) {
      return SqliteStore.open(
          folder.resolve(FILE), SqliteOptions.builder().reserveBytes(64 << 10).build());
    }
  }

  @Override
  protected StoreOpener opener() {
    return new Opener();
  }

  @Override
  protected Store another(Store store) {
    return SqliteStore.openReadOnly(((SqliteStore) store).file());
  }

  /** Cuts the write-ahead log after each write to it: half of a frame's header, header, page. */
  @Override
  protected Stream<Path> cuts(Store store, Path folder, Runnable work) {
    SqliteStore sqlite = (SqliteStore) store;
    Path before = folder.resolveSibling("before.db");
    Path log = folder.resolveSibling("after.log");
    sqlite.emptyLog();
    Shell.run("cp", sqlite.file().toString(), before.toString());
    work.run();
    Shell.run("cp", Sidecar.WAL.of(sqlite.file()).toString(), log.toString());
    byte[] frames = bytes(log);
    int pageBytes = SqliteOptions.DEFAULT.pageBytes();
    List<Integer> lengths = new ArrayList<>(List.of(0, WAL_HEADER_BYTES));
    for (int at = WAL_HEADER_BYTES;
        at + FRAME_HEADER_BYTES + pageBytes <= frames.length;
        at += FRAME_HEADER_BYTES + pageBytes) {
      lengths.add(at + FRAME_HEADER_BYTES / 2);
      lengths.add(at + FRAME_HEADER_BYTES);
      lengths.add(at + FRAME_HEADER_BYTES + pageBytes);
    }
    return lengths.stream().map(length -> cut(folder, before, Arrays.copyOf(frames, length)));
  }

  private static Path cut(Path folder, Path database, byte[] log) {
    try {
      Path cut = Files.createDirectories(folder.resolveSibling("cut-" + log.length));
      Files.copy(database, cut.resolve(FILE));
      Files.write(cut.resolve(FILE + "-wal"), log);
      return cut;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] bytes(Path path) {
    try {
      return Files.readAllBytes(path);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  protected void flipBit(Path folder, Random random) {
    try (RandomAccessFile file = new RandomAccessFile(folder.resolve(FILE).toFile(), "rw")) {
      long at = random.nextLong(file.length());
      file.seek(at);
      int flipped = file.read() ^ 1 << random.nextInt(8);
      file.seek(at);
      file.write(flipped);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  protected Store openSmall(Path folder) {
    disks.add(SmallDisk.mount(folder, 12 << 20));
    return SqliteStore.open(
        folder.resolve(FILE), SqliteOptions.builder().reserveBytes(2 << 20).build());
  }

  @Override
  protected void failingSync() {
    FailingSync.run();
  }

  @Override
  protected void fixtures() {
    Fixture.checkAll(bench().folder());
  }

  @AfterEach
  void unmountDisks() {
    disks.forEach(SmallDisk::close);
  }
}
