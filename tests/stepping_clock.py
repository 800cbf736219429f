"""A wall clock that tests can step, for programs started with it: a library of C before the one of the system."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long step(void) {
  char text[32] = {0};
  int fd = open(getenv("STEP_FILE"), O_RDONLY);
  if (fd < 0) return 0;
  ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  return size > 0 ? atol(text) : 0;
}
int clock_gettime(clockid_t id, struct timespec *at) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(id, at);
  if (id == CLOCK_REALTIME) at->tv_sec += step();
  return result;
}
"""


@dataclass(frozen=True)
class SteppingClock:
    """The file that says by how many seconds the clock has stepped, and what a program is to be started with."""

    file: Path
    environ: dict[str, str]

    def step(self, seconds: int) -> None:
        """Step to so many seconds beside the real time."""
        self.file.write_text(str(seconds))


def stepping_clock(folder: Path) -> SteppingClock:
    """Build the library, with a C compiler; the clock has not stepped yet."""
    source, library, file = folder / "shim.c", folder / "shim.so", folder / "step"
    source.write_text(SOURCE)
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(source), "-ldl"], check=True)
    clock = SteppingClock(file, {"LD_PRELOAD": str(library), "STEP_FILE": str(file)})
    clock.step(0)
    return clock
