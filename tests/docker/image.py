"""The image that tests and demonstration run: busybox FROM scratch, plus entry points that are broken on purpose.

Built through the engine's own API from an archive made here, since no registry can be reached in CI and the classic
builder needs no client plugin.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import docker

if TYPE_CHECKING:
    from collections.abc import Mapping

IMAGE = "bcon-test:1"

DOCKERFILE = """\
FROM scratch
ADD rootfs.tar /
ENV PATH=/bin
CMD ["sh"]
"""

BROKEN: Mapping[str, tuple[str, int]] = {
    "no-interpreter": ("#!/bin/no-such-interpreter\n", 0o755),
    "not-executable": ("#!/bin/sh\necho never\n", 0o644),
    "no-format": ("neither a script nor a program\n", 0o755),
    "wrong-machine": ("\x7fELF\x02\x01\x01" + "\0" * 9 + "\x02\0\xff\xff" + "\0" * 44, 0o755),
}
SCRIPTS: Mapping[str, str] = {
    "eat-memory": "exec tail /dev/zero",  # buffers one endless line until the kernel steps in
    "lose-child": "tail /dev/zero; echo child lost; exec serve",  # an OOM kill that the container survives
    "burn-cpu": "while :; do :; done",
    "serve": "trap 'exit 0' TERM INT; while :; do sleep 60 & wait $!; done",  # a well-behaved service
}


def find_busybox() -> Path | None:
    """The machine's statically linked busybox (Debian, Ubuntu: busybox-static), or None."""
    found = shutil.which("busybox") or shutil.which("busybox", path="/bin:/usr/bin:/sbin:/usr/sbin")
    if found is None:
        return None
    binary = Path(found).read_bytes()
    return Path(found) if b"/ld-linux" not in binary and b"/ld-musl" not in binary else None


def build_image(host: str, tag: str = IMAGE, environment: Mapping[str, str] | None = None) -> str:
    """Build the image in an engine and return its id; `environment` makes a variant with another id."""
    busybox = find_busybox()
    if busybox is None:
        message = "no statically linked busybox (Debian, Ubuntu: apt-get install busybox-static)"
        raise FileNotFoundError(message)
    lines = "".join(f"ENV {key}={value}\n" for key, value in (environment or {}).items())
    return build(
        host, tag, {"Dockerfile": (f"{DOCKERFILE}{lines}".encode(), 0o644), "rootfs.tar": (rootfs(busybox), 0o644)}
    )


def build(host: str, tag: str, context: Mapping[str, tuple[bytes, int]]) -> str:
    """Build an image from the files of a context, with their modes, and return its id."""
    client = docker.APIClient(base_url=host, version="auto", timeout=60)
    try:
        sent = io.BytesIO(archive(context))
        answers = list(client.build(fileobj=sent, custom_context=True, tag=tag, rm=True, decode=True))
        failed = next((answer["error"] for answer in answers if "error" in answer), None)
        if failed:
            raise AssertionError(failed)
        return str(client.inspect_image(tag)["Id"])  # type: ignore[no-untyped-call]  # not in types-docker
    finally:
        client.close()


def rootfs(busybox: Path, more: Mapping[str, bytes] | None = None, binary: bytes | None = None) -> bytes:
    """The archive of a file system with busybox, or a binary made of it, and with more programs by their paths."""
    files = {"bin/busybox": (binary or busybox.read_bytes(), 0o755)}
    files |= {f"bin/{name}": (text.encode("latin-1"), mode) for name, (text, mode) in BROKEN.items()}
    files |= {f"bin/{name}": (f"#!/bin/sh\n{text}\n".encode(), 0o755) for name, text in SCRIPTS.items()}
    files |= {path: (content, 0o755) for path, content in (more or {}).items()}
    files["etc/passwd"] = (b"root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n", 0o644)
    files["etc/group"] = (b"root:x:0:\nnogroup:x:65534:\n", 0o644)
    applets = subprocess.run([str(busybox), "--list"], capture_output=True, text=True, check=True).stdout.split()
    links = {f"bin/{applet}": "/bin/busybox" for applet in applets if f"bin/{applet}" not in files}
    return archive(files, links, folders=("tmp", "var", "var/log", "proc", "sys", "dev"))


def archive(
    files: Mapping[str, tuple[bytes, int]], links: Mapping[str, str] | None = None, folders: tuple[str, ...] = ()
) -> bytes:
    """A tar archive with fixed times and owners, so that the same content is the same layer."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for folder in folders:
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
            archive.addfile(entry)
        for name, (content, mode) in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode
            archive.addfile(entry, io.BytesIO(content))
        for name, target in (links or {}).items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            archive.addfile(entry)
    return buffer.getvalue()
