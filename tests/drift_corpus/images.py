"""The corpus's images: busybox FROM scratch in six variants with defaults of their own, under the names of real ones.

Which image stands for which program is read from images/names.yaml. Built through the engine's own API, as CI reaches
no registry and the classic builder needs no plugin.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import yaml

import docker
from tests.docker.image import archive, build, find_busybox

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).with_name("images")
APPLETS = ("sh", "sleep", "true", "false", "cat", "echo", "test")
ENTRIES = ("bin/entry", "bin/docker-entrypoint.sh", "docker-entrypoint.sh", "init", "sbin/tini", "cron.sh")
OTHER = "corpus/other"
"""An image that no project names: a tag is moved to it."""


def read_names() -> Mapping[str, tuple[str, ...]]:
    """Variant → the image references that it stands for."""
    return {variant: tuple(names) for variant, names in yaml.safe_load((FOLDER / "names.yaml").read_text()).items()}


def build_images(host: str) -> None:
    """Build every variant in an engine and give it its names."""
    rootfs = _rootfs()
    client = docker.APIClient(base_url=host, version="auto", timeout=60)
    try:
        for variant, names in read_names().items():
            _build(client, host, variant, rootfs, names)
        _build(client, host, "bare", rootfs, (OTHER,), more="LABEL other=image\n")
    finally:
        client.close()


def _build(
    client: docker.APIClient, host: str, variant: str, rootfs: bytes, names: tuple[str, ...], *, more: str = ""
) -> None:
    dockerfile = (FOLDER / f"{variant}.Dockerfile").read_text() + more
    tag = f"corpus/{variant}" if not more else names[0]
    build(host, tag, {"Dockerfile": (dockerfile.encode(), 0o644), "rootfs.tar": (rootfs, 0o644)})
    for name in names:
        repository, _, version = name.rpartition(":")
        client.tag(tag, repository or name, version if repository else "latest", force=True)


def _rootfs() -> bytes:
    busybox = find_busybox()
    if busybox is None:
        message = "no statically linked busybox (Debian, Ubuntu: apt-get install busybox-static)"
        raise FileNotFoundError(message)
    entry = (FOLDER / "entry.sh").read_bytes()
    files = {"bin/busybox": (busybox.read_bytes(), 0o755), **dict.fromkeys(ENTRIES, (entry, 493))}
    files["etc/passwd"] = (b"root:x:0:0:root:/:/bin/sh\nwww-data:x:33:33:www:/:/bin/sh\n", 0o644)
    files["etc/group"] = (b"root:x:0:\nwww-data:x:33:\nvideo:x:44:\n", 0o644)
    return archive(files, {f"bin/{applet}": "/bin/busybox" for applet in APPLETS})
