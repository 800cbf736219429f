"""Where the engine is: by flag, by DOCKER_HOST, by the current docker context, or at the usual sockets.

The order is the docker command line's own, so that `docker ps` and we look at the same engine.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bcon_exporter.errors import SettingsError
from bcon_exporter.regular_files import UnreadableFileError, read_regular_file

ROOTFUL_SOCKET = Path("/var/run/docker.sock")
PODMAN_SOCKET = Path("/run/podman/podman.sock")


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """How a TCP connection is secured.

    Attributes:
        ca: Certificate authority of the engine; None for the system's own.
        cert: Our client certificate, with `key`; None when the engine asks for none.
        verify: Whether the engine's certificate is checked.
    """

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    verify: bool = True


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Address of one engine.

    Attributes:
        url: unix:///path or tcp://host:port.
        source: Which setting named it, for messages: "--docker.host", "BCON_DOCKER__HOST", "DOCKER_HOST",
            "context prod", ...
    """

    url: str
    tls: TlsFiles | None = None
    source: str = "--docker.host"

    @property
    def is_local(self) -> bool:
        """Whether the engine runs on this machine: then its files and its clock are ours."""
        return self.url.startswith("unix://")


def find_endpoint(
    host: str | None, environ: Mapping[str, str], *, home: Path, named_by: str = "--docker.host"
) -> Endpoint:
    """Find the engine to watch.

    Args:
        host: Value of the setting; None when it was not given.
        environ: The environment, for DOCKER_HOST, DOCKER_CONTEXT, DOCKER_CONFIG, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH
            and XDG_RUNTIME_DIR.
        home: The user's home directory.
        named_by: The flag, the variable, or the file and line that gave `host`.

    Raises:
        SettingsError: The address cannot be used (ssh://, npipe://, malformed), or the context does not exist.
    """
    config_dir = Path(environ.get("DOCKER_CONFIG") or home / ".docker")
    if host:
        return _parse_host(host, named_by, _find_tls(environ, config_dir))
    if environ.get("DOCKER_HOST"):
        return _parse_host(environ["DOCKER_HOST"], "DOCKER_HOST", _find_tls(environ, config_dir))
    context = environ.get("DOCKER_CONTEXT") or _read_current_context(config_dir)
    if context and context != "default":
        return _read_context(context, config_dir)
    return _find_socket(environ, home)


def _parse_host(host: str, source: str, tls: TlsFiles | None) -> Endpoint:
    """Normalise an address as the docker command line writes it."""
    scheme, separator, address = host.strip().partition("://")
    if not separator:
        if host.startswith("/"):
            return Endpoint(url=f"unix://{host}", source=source)
        msg = f"{source} is {host!r}: write it as unix:///path/docker.sock or tcp://host:port"
        raise SettingsError(msg, {"host": host})
    match scheme:
        case "unix" if address.startswith("/"):
            return Endpoint(url=f"unix://{address}", source=source)
        case "tcp" | "http" | "https":
            return _parse_tcp(host, address, source, tls or (TlsFiles() if scheme == "https" else None))
        case "ssh":
            msg = (
                f"{source} is {host!r}: ssh:// is not supported, since it runs commands on the other host; "
                "forward the socket instead (ssh -L /tmp/docker.sock:/var/run/docker.sock host) and use unix:///tmp/docker.sock"
            )
        case "npipe":
            msg = f"{source} is {host!r}: Windows pipes are not supported; run bcon-exporter on Linux beside the engine"
        case _:
            msg = f"{source} is {host!r}: only unix:///path and tcp://host:port are supported"
    raise SettingsError(msg, {"host": host})


def _parse_tcp(host: str, address: str, source: str, tls: TlsFiles | None) -> Endpoint:
    try:
        parts = urlsplit(f"//{address}")
        port = parts.port
    except ValueError:
        parts, port = urlsplit("//"), None
    if not parts.hostname or parts.username is not None or parts.path not in {"", "/"} or parts.query or parts.fragment:
        msg = f"{source} is no usable address: write it as tcp://host:port, without user, path or query"
        raise SettingsError(msg, {"host": host if "@" not in host else "tcp://…"})
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return Endpoint(url=f"tcp://{name}:{port or (2376 if tls else 2375)}", tls=tls, source=source)


def _find_tls(environ: Mapping[str, str], config_dir: Path) -> TlsFiles | None:
    """Read DOCKER_TLS_VERIFY and DOCKER_CERT_PATH as the docker command line does."""
    verify = bool(environ.get("DOCKER_TLS_VERIFY"))
    if not verify and not environ.get("DOCKER_CERT_PATH"):
        return None
    folder = Path(environ.get("DOCKER_CERT_PATH") or config_dir)
    return replace(_read_tls_folder(folder), verify=verify)


def _read_tls_folder(folder: Path) -> TlsFiles:
    ca, cert, key = (
        path if path.exists() else None for path in (folder / f"{name}.pem" for name in ("ca", "cert", "key"))
    )
    return TlsFiles(ca=ca, cert=cert, key=key)


def _read_current_context(config_dir: Path) -> str | None:
    path = config_dir / "config.json"
    if not path.is_file():
        return None
    name = _read_json(path, "currentContext").get("currentContext")
    return name if isinstance(name, str) else None


def _read_context(name: str, config_dir: Path) -> Endpoint:
    """Read a stored docker context: contexts/meta/<sha256 of its name>/meta.json, and its TLS files."""
    digest = hashlib.sha256(name.encode()).hexdigest()
    path = config_dir / "contexts" / "meta" / digest / "meta.json"
    if not path.is_file():
        msg = f"docker context {name!r} does not exist in {config_dir}: see `docker context ls`, or set --docker.host"
        raise SettingsError(msg, {"context": name})
    endpoints = _read_json(path, f"context {name}").get("Endpoints")
    docker = endpoints.get("docker") if isinstance(endpoints, dict) else None
    host = docker.get("Host") if isinstance(docker, dict) else None
    if not isinstance(docker, dict) or not isinstance(host, str) or not host:
        msg = f"docker context {name!r} names no docker host: see `docker context inspect`, or set --docker.host"
        raise SettingsError(msg, {"context": name})
    folder = config_dir / "contexts" / "tls" / digest / "docker"
    tls = replace(_read_tls_folder(folder), verify=not docker.get("SkipTLSVerify")) if folder.is_dir() else None
    return _parse_host(host, f"context {name}", tls)


def _read_json(path: Path, what: str) -> dict[str, Any]:
    try:
        content = json.loads(read_regular_file(path))
    except UnreadableFileError as error:
        msg = f"{what}: {path} {error}: repair the file, or set --docker.host"
        raise SettingsError(msg, {"file": str(path)}) from None
    except (ValueError, RecursionError) as error:
        msg = f"cannot read {what} from {path} ({type(error).__name__}): repair the file, or set --docker.host"
        raise SettingsError(msg, {"file": str(path)}) from None
    return content if isinstance(content, dict) else {}


def _find_socket(environ: Mapping[str, str], home: Path) -> Endpoint:
    """Return the first usual socket that this user may use, else the first that exists, else the rootful one."""
    candidates = default_sockets(environ, home)
    sockets = [path for path in candidates if _is_socket(path)]
    usable = [path for path in sockets if os.access(path, os.R_OK | os.W_OK)]
    path = [*usable, *sockets, *candidates][0]
    return Endpoint(url=f"unix://{path}", source=f"default socket {path}")


def _is_socket(path: Path) -> bool:
    try:
        return path.is_socket()
    except OSError:  # a folder of another user's on the way
        return False


def default_sockets(environ: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Return where engines usually listen: Docker rootful and rootless, Docker Desktop, Podman rootful and rootless."""
    runtime = environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    return (
        ROOTFUL_SOCKET,
        Path(runtime) / "docker.sock",
        home / ".docker" / "run" / "docker.sock",
        home / ".docker" / "desktop" / "docker.sock",
        PODMAN_SOCKET,
        Path(runtime) / "podman" / "podman.sock",
    )
