"""Images that stand in for those of a registry, made of what this machine or the tests' engine has: programs, and
the libraries they load.

No registry can be reached in CI. A base image is the Python that runs the tests, without its tests, without a shell;
a build image is the same with pip and a shell; HAProxy, Prometheus and Alertmanager are Debian's or Ubuntu's, where
the official images have them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tests.docker.engines import find_file
from tests.docker.image import archive, build, find_busybox
from tests.programs import need

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

BASE = "bcon-base:1"
BUILD = "bcon-build:1"
HAPROXY = "haproxy:3.0-bookworm"
PROMETHEUS = "prom/prometheus:v2.53.3"
ALERTMANAGER = "prom/alertmanager:v0.27.0"
PACKAGES = Path(sysconfig.get_path("purelib"))
NOT_NEEDED = {
    "__pycache__", "site-packages", "dist-packages", "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip",
    "lib2to3", "pydoc_data",
}  # fmt: skip
ACCOUNTS = {
    "etc/passwd": (
        b"root:x:0:0::/root:/bin/sh\nhaproxy:x:99:99::/:/bin/false\nnobody:x:65534:65534::/:/bin/false\n",
        0o644,
    ),
    "etc/group": (b"root:x:0:\nhaproxy:x:99:\nnogroup:x:65534:\n", 0o644),
    "etc/nsswitch.conf": (b"hosts: files dns\n", 0o644),
}
FOLDERS = ("tmp", "proc", "sys", "dev", "run")
MACHINE = Path("/")
Files = dict[str, tuple[bytes, int]]


def run(command: list[str]) -> str:
    """What a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def find_interpreter() -> Path:
    """The Python below the virtual environment."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def find_libraries(programs: Iterable[Path], root: Path = MACHINE) -> Files:
    """The shared libraries that ELF files below `root` load, by their place in the image, and the cache of them."""
    within = [f"/{program.relative_to(root)}" for program in programs]
    enter = ["chroot", str(root)] if root != MACHINE else []
    done = subprocess.run([*enter, "ldd", *within], capture_output=True, text=True, check=False)
    paths = set(re.findall(r"/(\S+) \(0x", done.stdout))
    return {path: (strip(root / path), 0o755) for path in (*paths, "etc/ld.so.cache")}


def strip(path: Path) -> bytes:
    """A file's content; an ELF file's without what only a debugger reads, where `strip` is installed."""
    content = path.read_bytes()
    if not content.startswith(b"\x7fELF") or not (program := shutil.which("strip")):
        return content
    with tempfile.NamedTemporaryFile() as copy:
        done = subprocess.run([program, "-g", "-o", copy.name, str(path)], capture_output=True, check=False)
        return Path(copy.name).read_bytes() if done.returncode == 0 else content


def walk(folder: Path) -> Iterable[Path]:
    """Every file below a folder but what no program needs."""
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in NOT_NEEDED and not name.startswith("config-")]
        yield from (Path(parent, name) for name in names if not name.startswith(("_tkinter", "_test")))


def read_python() -> Files:
    """The interpreter, its standard library, and what it and the locked wheels load."""
    library = Path(sysconfig.get_path("stdlib"))
    modules = [path for path in walk(library) if path.is_file()]
    extensions = [*(path for path in modules if path.suffix == ".so"), *PACKAGES.rglob("*.so")]
    files = {str(path).lstrip("/"): (strip(path), 0o644) for path in modules}
    files[str(find_interpreter()).lstrip("/")] = (strip(find_interpreter()), 0o755)
    return files | find_libraries([find_interpreter(), *extensions])


def build_base(host: str) -> None:
    """Build the base image: Python at its usual name and place, no shell."""
    assemble(host, BASE, read_python() | ACCOUNTS, {"usr/bin/python3": str(find_interpreter())})


def build_builder(host: str) -> None:
    """Build the build image on top of the base image: pip and a shell."""
    busybox = find_busybox()
    assert busybox is not None
    applets = run([str(busybox), "--list"]).split()
    place = run([str(find_interpreter()), "-c", "import site; print(site.getsitepackages()[0])"]).strip("/\n")
    files = {f"{place}/{path.relative_to(PACKAGES)}": (path.read_bytes(), 0o644) for path in walk(PACKAGES / "pip")}
    files["bin/busybox"] = (busybox.read_bytes(), 0o755)
    links = {f"bin/{applet}": "/bin/busybox" for applet in applets if applet != "busybox"}
    assemble(host, BUILD, files, links, base=BASE)


def build_haproxy(host: str) -> None:
    """Build HAProxy's image: as the official one has it, with bash."""
    programs = {"usr/local/sbin/haproxy": find("haproxy"), "bin/bash": find("bash")}
    command = '["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]'
    assemble(host, HAPROXY, read_programs(programs), {}, end=f"STOPSIGNAL SIGUSR1\nUSER haproxy\nCMD {command}\n")


def build_prometheus(host: str) -> None:
    """Build Prometheus' image, its data owned by nobody."""
    programs = {"bin/prometheus": find("prometheus"), "bin/promtool": find("promtool")}
    assemble(host, PROMETHEUS, read_programs(programs), {}, end=as_nobody("/bin/prometheus", "/prometheus"))


def build_alertmanager(host: str) -> None:
    """Build Alertmanager's image; Debian's program reads its templates from a folder."""
    programs = {"bin/alertmanager": find("prometheus-alertmanager"), "bin/amtool": find("amtool")}
    root = root_of(programs["bin/alertmanager"])
    found = walk(root / "usr/share/prometheus/alertmanager")
    templates = {str(path.relative_to(root)): (path.read_bytes(), 0o644) for path in found}
    end = as_nobody("/bin/alertmanager", "/alertmanager")
    assemble(host, ALERTMANAGER, read_programs(programs) | templates, {}, end=end)


def as_nobody(program: str, data: str) -> str:
    """The end of a Dockerfile: nobody runs a program and owns its data."""
    return f'COPY --chown=65534:65534 data {data}\nUSER nobody\nWORKDIR {data}\nENTRYPOINT ["{program}"]\n'


def find(program: str) -> Path:
    """The file itself of a program, of this machine or of the engine that the tests run on."""
    return find_file(Path(need(program)))


def root_of(program: Path) -> Path:
    """The userland that a program belongs to."""
    return next(folder for folder in program.parents if (folder / "etc/os-release").exists())


def read_programs(programs: Mapping[str, Path]) -> Files:
    """Programs by their place in the image, and what they load."""
    files = {place: (program.read_bytes(), 0o755) for place, program in programs.items()}
    (root,) = {root_of(program) for program in programs.values()}
    return files | find_libraries(programs.values(), root) | ACCOUNTS


def assemble(
    host: str,
    tag: str,
    files: Mapping[str, tuple[bytes, int]],
    links: Mapping[str, str],
    *,
    base: str = "scratch",
    end: str = "",
) -> None:
    """Build an image of files and links."""
    rootfs = archive(files, links, FOLDERS if base == "scratch" else ())
    text = f"FROM {base}\nADD rootfs.tar /\nENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/bin\n{end}"
    context = {"Dockerfile": (text.encode(), 0o644), "rootfs.tar": (rootfs, 0o644), "data/.keep": (b"", 0o644)}
    build(host, tag, context)
