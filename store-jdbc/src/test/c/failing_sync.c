/* Makes fsync and fdatasync fail with EIO while the file named by FAIL_SYNC_WHILE exists. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int failing(void) {
  const char *path = getenv("FAIL_SYNC_WHILE");
  return path != NULL && access(path, F_OK) == 0;
}

static int pass(const char *name, int fd) {
  if (failing()) {
    errno = EIO;
    return -1;
  }
  int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  return next(fd);
}

int fsync(int fd) { return pass("fsync", fd); }

int fdatasync(int fd) { return pass("fdatasync", fd); }
