"""What is seen of the engine's host: only what is certainly the engine's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bcon_exporter.engine.host_view import look_at_host, parse_sockets
from bcon_exporter.model.container_facts import EngineFacts, NetworkFacts

if TYPE_CHECKING:
    from pathlib import Path

TCP = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:46A1 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2 1
   2: 0100007F:8000 0100007F:46A1 01 00000000:00000000 00:00000000 00000000     0        0 3 1
   3: nonsense
   4: XXXXXXXX:ZZZZ 00000000:0000 0A
"""
TCP6 = """\
  sl  local_address                         remote_address                        st
   0: 00000000000000000000000000000000:46A2 00000000000000000000000000000000:0000 0A
   1: 00000000000000000000000001000000:46A3 00000000000000000000000000000000:0000 0A
   2: 0000000000000000FFFF00000100007F:46A4 00000000000000000000000000000000:0000 0A
"""
BRIDGE = NetworkFacts(id="1" * 64, name="bridge", driver="bridge")
LOCAL = "unix:///var/run/docker.sock"


def engine_at(folder: Path) -> EngineFacts:
    return EngineFacts(name="h", server_version="1", api_version="1.41", root_dir=str(folder))


def make_proc(folder: Path, device: str = "docker0") -> Path:
    net = folder / "net"
    net.mkdir(parents=True)
    (net / "dev").write_text(f"Inter-|\n face |\n    lo: 0\n{device}: 1 2\n")
    (net / "tcp").write_text(TCP)
    (net / "tcp6").write_text(TCP6)
    (net / "udp").write_text(TCP.replace(" 0A ", " 07 "))
    return folder


def test_only_listening_sockets_are_read_and_other_lines_left_out() -> None:
    assert [(one.address, one.port) for one in parse_sockets(TCP, "tcp", "0A")] == [
        ("127.0.0.1", 18081),
        ("0.0.0.0", 22),
    ]
    assert [(one.address, one.port) for one in parse_sockets(TCP6, "tcp", "0A")] == [
        ("::", 18082),
        ("::1", 18083),
        ("127.0.0.1", 18084),
    ]


def test_sockets_are_seen_where_a_bridge_of_the_engine_is_in_our_network(tmp_path: Path) -> None:
    proc = make_proc(tmp_path / "proc")
    seen = look_at_host(LOCAL, proc, engine_at(tmp_path), [BRIDGE], {})
    assert seen.sockets is not None
    assert {one.protocol for one in seen.sockets} == {"tcp", "udp"}
    own = BRIDGE.model_copy(update={"name": "shop_default"})
    assert look_at_host(LOCAL, proc, engine_at(tmp_path), [own], {}).sockets is None


@pytest.mark.parametrize("networks", [None, [], [BRIDGE]])
def test_sockets_of_another_network_are_not_seen(tmp_path: Path, networks: list[NetworkFacts] | None) -> None:
    proc = make_proc(tmp_path / "proc", "eth0")
    seen = look_at_host(LOCAL, proc, engine_at(tmp_path), networks, {})
    assert seen.sockets is None
    assert len(seen.unseen) == 1


def test_paths_are_seen_where_the_engines_own_folder_is(tmp_path: Path) -> None:
    paths = {"/shown/a": str(tmp_path), "/shown/b": str(tmp_path / "no"), "/shown/c": "a\0b"}
    seen = look_at_host(LOCAL, tmp_path, engine_at(tmp_path), [], paths)
    assert seen.paths == {"/shown/a": True, "/shown/b": False, "/shown/c": False}
    assert look_at_host(LOCAL, tmp_path, engine_at(tmp_path / "no"), [], paths).paths is None
    assert look_at_host(LOCAL, tmp_path, None, [], paths).paths is None


def test_nothing_is_seen_of_another_machine(tmp_path: Path) -> None:
    seen = look_at_host("tcp://far:2376", make_proc(tmp_path / "proc"), engine_at(tmp_path), [BRIDGE], {"/": "/"})
    assert (seen.sockets, seen.paths, len(seen.unseen)) == (None, None, 2)


def test_the_mount_below_a_path_is_found_though_it_is_not_there_yet(tmp_path: Path) -> None:
    proc = make_proc(tmp_path / "proc")
    (proc / "self").mkdir(exist_ok=True)
    (proc / "self" / "mountinfo").write_text(
        f"1 0 8:1 / / rw - ext4 x rw\n2 1 8:2 / {tmp_path}/d rw shared:2 - ext4 y rw\n"
    )
    (tmp_path / "link").symlink_to(tmp_path / "d")
    paths = {"a": str(tmp_path / "d" / "new"), "b": str(tmp_path / "link" / "x"), "c": str(tmp_path), "d": "odd\0"}
    found = look_at_host(LOCAL, proc, engine_at(tmp_path), [BRIDGE], paths).mounts
    assert {name: one.propagation for name, one in found.items()} == {"a": "shared", "b": "shared", "c": "private"}
