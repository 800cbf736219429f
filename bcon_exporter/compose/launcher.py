"""Sets limits on itself, then becomes the program named after them; `sandbox` runs it as a script.

Arguments: MEMORY_BYTES CPU_SECONDS PROGRAM [ARGUMENT ...]. Imports next to nothing, to start fast.
"""

import os
import resource
import sys

NOT_STARTED = 127
_OOM_SCORE = "500"


def main(arguments: list[str]) -> int:
    """Replace this process by the program; returns only when that fails."""
    memory_bytes, cpu_seconds, *command = arguments
    _offer_itself_to_the_oom_killer()
    wanted = {
        resource.RLIMIT_AS: int(memory_bytes),
        resource.RLIMIT_CPU: int(cpu_seconds),
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
    }
    for kind, value in wanted.items():
        _, hard = resource.getrlimit(kind)
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (allowed, allowed))
    try:
        os.execv(command[0], command)  # noqa: S606 — no shell, by design
    except OSError:
        return NOT_STARTED


def _offer_itself_to_the_oom_killer() -> None:
    """Where memory runs out, this program is to go, not the daemon that waits for it."""
    try:
        with open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123 -- imports next to nothing
            score.write(_OOM_SCORE)
    except OSError:  # not Linux, or it has a higher score already
        return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
