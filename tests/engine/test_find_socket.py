"""The engine is found as the docker command line finds it; what cannot be used is refused with a way out."""

import hashlib
import json
import socket
from pathlib import Path

import pytest

from bcon_exporter.engine.find_socket import TlsFiles, default_sockets, find_endpoint
from bcon_exporter.errors import SettingsError
from tests.table_rows import table


def write_context(home: Path, name: str, docker: dict[str, object], *, tls: bool = False) -> None:
    digest = hashlib.sha256(name.encode()).hexdigest()
    meta = home / ".docker" / "contexts" / "meta" / digest
    meta.mkdir(parents=True)
    (meta / "meta.json").write_text(json.dumps({"Name": name, "Metadata": {}, "Endpoints": {"docker": docker}}))
    if tls:
        folder = home / ".docker" / "contexts" / "tls" / digest / "docker"
        folder.mkdir(parents=True)
        for file in ("ca", "cert", "key"):
            (folder / f"{file}.pem").write_text("x")


def test_the_flag_wins_over_everything(tmp_path: Path) -> None:
    environ = {"DOCKER_HOST": "tcp://other:1", "DOCKER_CONTEXT": "prod"}
    found = find_endpoint("unix:///a.sock", environ, home=tmp_path)
    assert (found.url, found.source, found.tls) == ("unix:///a.sock", "--docker.host", None)


def test_engine_wins_over_the_context(tmp_path: Path) -> None:
    found = find_endpoint(None, {"DOCKER_HOST": "tcp://box", "DOCKER_CONTEXT": "prod"}, home=tmp_path)
    assert (found.url, found.source) == ("tcp://box:2375", "DOCKER_HOST")


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("/run/x.sock", "unix:///run/x.sock"),
        ("unix:///run/x.sock", "unix:///run/x.sock"),
        ("tcp://box:99", "tcp://box:99"),
        ("http://box", "tcp://box:2375"),
        ("https://box", "tcp://box:2376"),
        ("tcp://[::1]:99", "tcp://[::1]:99"),
        ("tcp://box:99/", "tcp://box:99"),
    ],
)
def test_addresses_are_normalised(given: str, url: str, tmp_path: Path) -> None:
    assert find_endpoint(given, {}, home=tmp_path).url == url


@table(
    ("given", "says"),
    [
        ("ssh://me@box", "forward the socket"),
        ("npipe:////./pipe/docker_engine", "Windows"),
        ("fd://", "only unix"),
        ("unix://relative", "only unix"),
        ("box:2375", "write it as"),
        ("tcp://", "write it as"),
        ("tcp://box:0x1", "write it as"),
        ("tcp://user:secret@box:1", "without user"),
        ("tcp://box:1/path", "without user, path"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_way_out(given: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=says) as error:
        find_endpoint(given, {}, home=tmp_path)
    assert "secret" not in f"{error.value.message} {error.value.details}"


def test_tls_comes_from_the_environment_as_for_docker(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("x")
    found = find_endpoint("tcp://box", {"DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": str(tmp_path)}, home=tmp_path)
    assert found.url == "tcp://box:2376"
    assert found.tls == TlsFiles(ca=tmp_path / "ca.pem", verify=True)
    unverified = find_endpoint("tcp://box", {"DOCKER_CERT_PATH": str(tmp_path)}, home=tmp_path)
    assert unverified.tls == TlsFiles(ca=tmp_path / "ca.pem", verify=False)


def test_the_current_context_names_the_engine(tmp_path: Path) -> None:
    write_context(tmp_path, "prod", {"Host": "tcp://prod:2376", "SkipTLSVerify": False}, tls=True)
    (tmp_path / ".docker" / "config.json").write_text('{"currentContext": "prod"}')
    found = find_endpoint(None, {}, home=tmp_path)
    assert (found.url, found.source) == ("tcp://prod:2376", "context prod")
    assert found.tls is not None
    assert found.tls.verify
    assert found.tls.key is not None


def test_the_context_of_the_environment_wins_and_default_means_the_usual_socket(tmp_path: Path) -> None:
    write_context(tmp_path, "a", {"Host": "unix:///a.sock"})
    (tmp_path / ".docker" / "config.json").write_text('{"currentContext": "gone"}')
    assert find_endpoint(None, {"DOCKER_CONTEXT": "a"}, home=tmp_path).url == "unix:///a.sock"
    assert find_endpoint(None, {"DOCKER_CONTEXT": "default"}, home=tmp_path).source.startswith("default socket")


@pytest.mark.parametrize("meta", ["{}", "[]", "not json", '{"Endpoints": {"docker": {}}}', "[" * 100_000])
def test_a_broken_context_is_told_by_its_name(meta: str, tmp_path: Path) -> None:
    write_context(tmp_path, "odd", {})
    next((tmp_path / ".docker" / "contexts" / "meta").rglob("meta.json")).write_text(meta)
    with pytest.raises(SettingsError, match="odd"):
        find_endpoint(None, {"DOCKER_CONTEXT": "odd"}, home=tmp_path)


def test_a_context_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="does not exist"):
        find_endpoint(None, {"DOCKER_CONTEXT": "gone"}, home=tmp_path)


def test_a_rootless_socket_is_found_where_there_is_no_other(tmp_path: Path) -> None:
    environ = {"XDG_RUNTIME_DIR": str(tmp_path)}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "docker.sock"))
        found = find_endpoint(None, environ, home=tmp_path)
    usual = [path for path in default_sockets(environ, tmp_path) if path.exists()]
    assert found.url == f"unix://{usual[0]}"


def test_the_usual_sockets_hold_rootful_rootless_and_podman(tmp_path: Path) -> None:
    found = [str(path) for path in default_sockets({"XDG_RUNTIME_DIR": "/run/user/7"}, tmp_path)]
    assert found[0] == "/var/run/docker.sock"
    for path in ("/run/user/7/docker.sock", f"{tmp_path}/.docker/run/docker.sock", "/run/podman/podman.sock",
                 "/run/user/7/podman/podman.sock"):  # fmt: skip
        assert path in found
