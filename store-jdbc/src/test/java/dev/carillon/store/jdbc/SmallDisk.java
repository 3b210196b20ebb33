package dev.carillon.store.jdbc;

import java.nio.file.Path;

/** A file system of a few megabytes, in memory. Needs the right to mount. */
final class SmallDisk implements AutoCloseable {

  private final Path folder;

  private SmallDisk(Path folder) {
    this.folder = folder;
  }

  static SmallDisk mount(Path folder, int bytes) {
    Shell.Result result =
        Shell.tryRun("mount", "-t", "tmpfs", "-o", "size=" + bytes, "tmpfs", folder.toString());
    if (result.status() != 0) {
      throw Shell.skip("cannot mount a small file system: " + result.output().strip());
    }
    return new SmallDisk(folder);
  }

  /** A file on it. */
  Path file(String name) {
    return folder.resolve(name);
  }

  /** Makes it read-only, or writable again. */
  void writable(boolean writable) {
    Shell.run("mount", "-o", writable ? "remount,rw" : "remount,ro", folder.toString());
  }

  /** Makes it larger or smaller. */
  void resize(int bytes) {
    Shell.run("mount", "-o", "remount,size=" + bytes, folder.toString());
  }

  @Override
  public void close() {
    Shell.run("umount", folder.toString());
  }
}
