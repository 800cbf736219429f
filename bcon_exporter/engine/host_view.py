"""What can be seen of the engine's host from here beside the engine: sockets, paths, emulators. Reads files of /proc.

Seen is only what is certainly the engine's: its network where one of its bridges is in ours, its files where its own
folder is here. Everything else stays unknown, with the reason.
"""

import ipaddress
import json
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

from bcon_exporter.engine.disk import find_mount_point, parse_propagations, read_mounts_table
from bcon_exporter.model.container_facts import EngineFacts, NetworkFacts
from bcon_exporter.model.deployment import HostFacts, ListeningSocket, PathMount
from bcon_exporter.regular_files import UnreadableFileError, read_regular_file
from bcon_exporter.secrets.masking import safe_text

_LISTENS: tuple[tuple[Literal["tcp", "udp"], str], ...] = (("tcp", "0A"), ("udp", "07"))
"""States in /proc/net of a socket that waits for somebody."""
_EMULATORS = Path("/proc/sys/fs/binfmt_misc")
_GPU_HOOKS = tuple(Path(folder) / "nvidia-container-runtime-hook" for folder in ("/usr/bin", "/usr/local/bin"))
_SETTINGS = Path("/etc/docker/daemon.json")
_CONTAINER_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))
_ID_DIGITS = 12
_WORD_DIGITS = 8
_NO_SOCKETS = "processes of the host"
_NO_FILES = "paths and devices of the host"


def look_at_host(
    url: str,
    proc_root: Path,
    engine: EngineFacts | None,
    networks: Iterable[NetworkFacts] | None,
    paths: Mapping[str, str],
) -> HostFacts:
    """Return what is seen of an engine's host.

    Args:
        url: The engine's address.
        proc_root: Where /proc is.
        engine: What it says of itself.
        networks: Its networks.
        paths: Path as it may be shown → the real one, to look whether something is there.
    """
    unseen: dict[str, str] = {}
    is_here = url.startswith("unix://")
    elsewhere = "the engine runs on another machine"
    sockets = None
    if not is_here:
        unseen[_NO_SOCKETS] = unseen[_NO_FILES] = elsewhere
        return HostFacts(unseen=unseen)
    if _sees_network(proc_root, networks or ()):
        sockets = _read_sockets(proc_root)
    if sockets is None:
        unseen[_NO_SOCKETS] = "none of the engine's bridges is seen from here, as within a container"
    if not _sees_files(engine):
        unseen[_NO_FILES] = "the engine's own folder is not seen from here, as within a container"
        return HostFacts(sockets=sockets, unseen=unseen)
    return HostFacts(
        sockets=sockets,
        paths={shown: there for shown, real in paths.items() if (there := _is_there(real)) is not None},
        mounts=_find_mounts(proc_root, paths),
        emulated=_read_emulated(),
        has_gpu_hook=any(map(os.path.exists, _GPU_HOOKS)),
        default_log_is_bounded=_bounds_logs(),
        unseen=unseen,
    )


def _sees_network(proc_root: Path, networks: Iterable[NetworkFacts]) -> bool:
    """Return whether a bridge of the engine is in our own network."""
    bridges = {
        "docker0" if network.name == "bridge" else f"br-{network.id[:_ID_DIGITS]}"
        for network in networks
        if network.driver == "bridge"
    }
    try:
        lines = (proc_root / "net" / "dev").read_text().splitlines()
    except OSError:
        return False
    return not bridges.isdisjoint(line.partition(":")[0].strip() for line in lines)


def _read_sockets(proc_root: Path) -> tuple[ListeningSocket, ...] | None:
    """Return the sockets that listen; None where they cannot be read."""
    found: dict[ListeningSocket, None] = {}
    for protocol, state in _LISTENS:
        for table in (protocol, f"{protocol}6"):
            try:
                text = (proc_root / "net" / table).read_text(errors="replace")
            except FileNotFoundError:  # no IPv6 here
                continue
            except OSError:
                return None
            found.update(dict.fromkeys(parse_sockets(text, protocol, state)))
    return tuple(found)


def parse_sockets(text: str, protocol: Literal["tcp", "udp"], state: str) -> Iterable[ListeningSocket]:
    """Yield the sockets of one table of /proc/net that are in a state, lines of another form left out.

    Source: proc(5), /proc/net/tcp: "sl local_address rem_address st ...", addresses as words of the host's byte order.
    """
    for line in text.splitlines()[1:]:
        words = line.split()
        if len(words) < 4 or words[3] != state:  # noqa: PLR2004 -- the columns of the table
            continue
        digits, _, port = words[1].partition(":")
        with suppress(ValueError):
            yield ListeningSocket(protocol=protocol, address=_parse_address(digits), port=int(port, 16))


def _parse_address(digits: str) -> str:
    words = [digits[at : at + _WORD_DIGITS] for at in range(0, len(digits), _WORD_DIGITS)]
    raw = b"".join(bytes.fromhex(word)[:: -1 if sys.byteorder == "little" else 1] for word in words)
    address = ipaddress.ip_address(raw)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def _sees_files(engine: EngineFacts | None) -> bool:
    """Return whether the engine's files are ours: its folder is here, and not as a mount within a container."""
    folder = engine.root_dir if engine is not None else None
    if not folder or not os.path.isdir(folder):  # noqa: PTH112 -- a hostile name makes pathlib raise
        return False
    return not (any(map(os.path.exists, _CONTAINER_MARKS)) and os.path.ismount(folder))


def _is_there(path: str) -> bool | None:
    """Return whether something is at a path; None where this user may not look."""
    try:
        os.stat(path)  # noqa: PTH116 -- a hostile name makes pathlib raise
    except PermissionError:
        return None
    except (OSError, ValueError):
        return False
    return True


def _find_mounts(proc_root: Path, paths: Mapping[str, str]) -> dict[str, PathMount]:
    """Return the mount that each path lies on, or would: links are followed as the engine does."""
    propagations = parse_propagations(read_mounts_table(proc_root))
    found: dict[str, PathMount] = {}
    for shown, real in paths.items():
        with suppress(OSError, ValueError):
            point = find_mount_point(os.path.realpath(real), propagations)
            if point is not None:
                found[shown] = PathMount(point=safe_text(point), propagation=propagations[point])
    return found


def _read_emulated() -> tuple[str, ...]:
    """Return the architectures that are emulated, by the names of their emulators: "aarch64", "arm"."""
    try:
        names = sorted(path.name for path in _EMULATORS.iterdir())
    except OSError:
        return ()
    return tuple(name.removeprefix("qemu-") for name in names if name.startswith("qemu-"))


def _bounds_logs() -> bool | None:
    """Return whether the engine's settings bound logs; None where they cannot be read."""
    try:
        settings = json.loads(read_regular_file(_SETTINGS))
    except UnreadableFileError:
        return None if os.path.lexists(_SETTINGS) else False
    except (ValueError, RecursionError):
        return None
    options = settings.get("log-opts") if isinstance(settings, dict) else None
    return isinstance(options, dict) and "max-size" in options
