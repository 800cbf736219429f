"""How busy the machine is: load, memory, pressure and time since its start, as /proc tells.

Containers see the machine's there, unless something puts its own files in their place; so the sum of memory must be the
one that the engine tells, or nothing is believed.
"""

from pathlib import Path

from bcon_exporter.model.container_facts import EngineFacts
from bcon_exporter.model.system_status import HostLoad

_CONTAINER_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))
_SAME_RATIO = 0.01
_KINDS = ("cpu", "memory", "io")
_LONGEST_FILE = 64 * 1024


def read_host_load(url: str, proc_root: Path, engine: EngineFacts) -> HostLoad | str:
    """Return what the kernel tells of the engine's machine, or why that cannot be seen from here."""
    if not url.startswith("unix://"):
        return "the engine runs on another machine"
    memory = parse_meminfo(_read(proc_root / "meminfo"))
    total = memory.get("MemTotal")
    if total is None:
        return "/proc cannot be read here"
    if engine.memory_bytes and abs(total - engine.memory_bytes) > _SAME_RATIO * engine.memory_bytes:
        return "the memory that is seen from here is not that of the engine's machine"
    loads = [_number(word) for word in _read(proc_root / "loadavg").split()[:3]]
    loads += [None] * (3 - len(loads))
    pressure = {kind: parse_pressure(_read(proc_root / "pressure" / kind)) for kind in _KINDS}
    return HostLoad(
        uptime_seconds=_number(_read(proc_root / "uptime").partition(" ")[0]),
        load_1m=loads[0],
        load_5m=loads[1],
        load_15m=loads[2],
        memory_total_bytes=total,
        memory_available_bytes=memory.get("MemAvailable"),
        swap_total_bytes=memory.get("SwapTotal"),
        swap_free_bytes=memory.get("SwapFree"),
        pressure={kind: ratio for kind, ratio in pressure.items() if ratio is not None},
    )


def is_in_container() -> bool:
    """Return whether this process runs in a container."""
    return any(mark.exists() for mark in _CONTAINER_MARKS)


def parse_meminfo(text: str) -> dict[str, int]:
    """Return name → bytes of /proc/meminfo (proc(5)), lines of another form left out."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if len(words) == 2 and words[1] == "kB" and words[0].isdecimal():  # noqa: PLR2004 -- number and unit
            found[name] = int(words[0]) * 1024
    return found


def parse_pressure(text: str) -> float | None:
    """Return the share of the last 60 s in which something waited; None where the kernel does not tell.

    Source: Documentation/accounting/psi.rst, "some avg10=0.00 avg60=0.00 avg300=0.00 total=0".
    """
    for line in text.splitlines():
        if line.startswith("some "):
            words = dict(word.partition("=")[::2] for word in line.split()[1:])
            percent = _number(words.get("avg60", ""))
            return None if percent is None else round(percent / 100, 4)
    return None


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_LONGEST_FILE).decode(errors="replace")
    except OSError:
        return ""


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
