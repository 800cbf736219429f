"""Sets limits on itself, then becomes the program named after them; `limited_process` runs it as a script.

Arguments: MEMORY_BYTES CPU_SECONDS FILE_BYTES [READABLE_PATH ...] -- PROGRAM [ARGUMENT ...]. With readable paths the
program is confined by Landlock, where the kernel has it: it opens files below these paths only, writes none, and makes
no TCP connection. Imports next to nothing, to start fast.
"""

import os
import resource
import signal
import sys

NOT_STARTED = 127
_OOM_SCORE = "500"

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
_SET_PARENT_DEATH_SIGNAL, _SET_NO_NEW_PRIVILEGES = 1, 38
_EXECUTE, _READ_FILE, _READ_DIRECTORY = 1 << 0, 1 << 2, 1 << 3
_RIGHTS_BY_VERSION = ((1, 13), (2, 14), (3, 15), (5, 16))
"""Since which version of Landlock how many rights over files exist; see linux/landlock.h."""
_NETWORK_VERSION, _SCOPE_VERSION = 4, 6
_PROGRAMS_NEED = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/dev/null")
"""A dynamically linked program reads these before it starts."""


def main(arguments: list[str]) -> int:
    """Replace this process by the program; returns only when that fails."""
    end = arguments.index("--")
    memory_bytes, cpu_seconds, file_bytes, *readable = arguments[:end]
    command = arguments[end + 1 :]
    _offer_itself_to_the_oom_killer()
    if readable:
        confine((*readable, command[0], *_PROGRAMS_NEED))
    limits = {
        resource.RLIMIT_AS: int(memory_bytes),
        resource.RLIMIT_CPU: int(cpu_seconds),
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: int(file_bytes),
    }
    for kind, value in limits.items():
        _, hard = resource.getrlimit(kind)
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (allowed, allowed))
    try:
        os.execv(command[0], command)  # noqa: S606 — no shell, by design
    except OSError:
        return NOT_STARTED


def landlock_version() -> int:
    """Return the version of Landlock that this kernel offers to this process; 0 where there is none."""
    try:
        return max(0, _system_call(_CREATE_RULESET, None, 0, 1))
    except (ImportError, MemoryError):  # a Python without ctypes, or not let to make its trampolines
        return 0


def confine(readable: tuple[str, ...]) -> bool:
    """Let this process, and the program it becomes, open only files below the paths; False without Landlock.

    The process also ends when the daemon's thread that waits for it ends.
    """
    version = landlock_version()
    if version == 0:
        return False
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    rights = (1 << max(count for since, count in _RIGHTS_BY_VERSION if since <= version)) - 1
    attributes = [rights]
    if version >= _NETWORK_VERSION:
        attributes.append(0b11)  # bind, connect
    if version >= _SCOPE_VERSION:
        attributes.append(0b11)  # abstract sockets, signals
    ruleset = (ctypes.c_uint64 * len(attributes))(*attributes)
    rules = _system_call(_CREATE_RULESET, ruleset, ctypes.sizeof(ruleset), 0)
    if rules < 0:
        return False
    for path in readable:
        _allow(rules, path)
    libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return _system_call(_RESTRICT_SELF, rules, 0) == 0


def _allow(rules: int, path: str) -> None:
    import ctypes

    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # not there: nothing below it can be read
        return
    rights = _READ_FILE | _EXECUTE | (_READ_DIRECTORY if os.path.isdir(path) else 0)  # noqa: PTH112 -- as above
    rule = rights.to_bytes(8, sys.byteorder) + beneath.to_bytes(4, sys.byteorder)
    _system_call(_ADD_RULE, rules, _PATH_BENEATH, ctypes.create_string_buffer(rule, len(rule)), 0)
    os.close(beneath)


def _system_call(number: int, *arguments: object) -> int:
    import ctypes  # 5 ms: only what is confined pays for it

    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    return int(
        call(number, *(ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments))
    )


def _offer_itself_to_the_oom_killer() -> None:
    """Raise the OOM score, so that the kernel kills this program and not the daemon that waits for it."""
    try:
        with open("/proc/self/oom_score_adj", "w") as score:  # noqa: PTH123 -- imports next to nothing
            score.write(_OOM_SCORE)
    except OSError:  # not Linux, or it has a higher score already
        return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
