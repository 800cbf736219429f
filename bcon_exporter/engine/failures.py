"""Foreign failures become ours, once: what happened, and what to do about it.

Sockets, TLS, HTTP statuses, docker-py and requests all end here. Nothing above this package sees their exceptions.
"""

import errno
import json
import socket
import ssl
import sys
from collections.abc import Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING

from bcon_exporter.engine.find_socket import Endpoint
from bcon_exporter.errors import (
    BconError,
    ContainerNotFoundError,
    DeadlineExceededError,
    DockerConnectionError,
    InternalError,
    InvalidInputError,
    PermissionDeniedError,
)
from bcon_exporter.secrets.masking import safe_text

if TYPE_CHECKING:
    from bcon_exporter.engine.docker_errors import Kind

_CHAIN_LIMIT = 50
_UNREACHABLE = frozenset(("absent", "refused", "forbidden", "unresolved", "unreachable", "tls"))
_LOG_UNREADABLE = ("does not support reading", "logging driver", "log driver")


class VersionRefusedError(DockerConnectionError):
    """The engine no longer speaks the API version in use: it was replaced by another; negotiate again."""


class OverdueError(DeadlineExceededError):
    """This one request was not answered in the time that it alone may take."""


class NotQueriedError(DockerConnectionError):
    """A container was not asked about: it, or the endpoint, has just not answered."""


class UnreadableLogError(InvalidInputError):
    """The container's log driver keeps nothing that the engine could read back."""


def translate(error: BaseException, endpoint: Endpoint, doing: str) -> BconError:
    """Turn whatever a request raised into an error of ours, with a hint that fits the case.

    Args:
        error: What was raised; its causes are looked into, since requests and docker-py wrap socket errors.
        endpoint: The engine that was asked.
        doing: What was being done, "listing containers".
    """
    causes = list(_chain(error))
    for translate_one in (_translate_status, _translate_socket, _translate_rest):
        for cause in causes:
            translated = translate_one(cause, endpoint, doing)
            if translated is not None:
                return translated
    return InternalError(f"{doing} failed unexpectedly ({type(error).__name__})", _facts(endpoint))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and everything it was raised from or carries, innermost first."""
    seen: dict[int, BaseException] = {}
    todo: list[BaseException] = [error]
    while todo and len(seen) < _CHAIN_LIMIT:
        current = todo.pop()
        if id(current) in seen:
            continue
        seen[id(current)] = current
        carried = (current.__cause__, current.__context__, getattr(current, "reason", None), *current.args)
        todo.extend(item for item in carried if isinstance(item, BaseException))
    yield from reversed(list(seen.values()))


def foreign_errors() -> tuple[type[Exception], ...]:
    """Return what a call of docker-py may raise; for an `except`, which evaluates it only when something was raised."""
    from bcon_exporter.engine.docker_errors import FOREIGN_ERRORS

    return FOREIGN_ERRORS


def _find_kind(error: BaseException) -> "Kind | None":
    """Tell the exceptions of docker-py and requests apart; libraries that are not loaded have raised none."""
    if "requests" not in sys.modules:
        return None
    from bcon_exporter.engine.docker_errors import find_kind

    return find_kind(error)


def _translate_socket(error: BaseException, endpoint: Endpoint, doing: str) -> BconError | None:
    where = f"{endpoint.url} ({endpoint.source})"
    match error:
        case ssl.SSLError():
            return DockerConnectionError(_tls_text(error, where), _facts(endpoint, "tls"))
        case FileNotFoundError() | NotADirectoryError():
            text = f"no Docker socket at {where}: is the engine running? Start it, or name another with --docker.host"
            return DockerConnectionError(text, _facts(endpoint, "absent"))
        case PermissionError():
            return PermissionDeniedError(_forbidden_text(where), _facts(endpoint, "forbidden"))
        case ConnectionRefusedError():
            text = f"{where} refuses connections: nothing listens there. Start the engine, or check the address"
            return DockerConnectionError(text, _facts(endpoint, "refused"))
        case _ if isinstance(error, TimeoutError | BlockingIOError) or _find_kind(error) == "timeout":
            return timeout_error(endpoint, doing)
        case ConnectionError() | EOFError():
            return closed_error(endpoint, doing)
        case OSError(errno=number) if number is not None:
            return _os_error(error, endpoint, where)
        case _:
            return None


def _tls_text(error: ssl.SSLError, where: str) -> str:
    reason = getattr(error, "verify_message", None) or getattr(error, "reason", None) or type(error).__name__
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"the certificate of {where} is not trusted: {reason}. Check ca.pem in DOCKER_CERT_PATH, and "
            "that the certificate carries this host's name"
        )
    return (
        f"TLS with {where} failed ({reason}): check the port (2376 with TLS, 2375 "
        "without), and cert.pem and key.pem in DOCKER_CERT_PATH"
    )


def _os_error(error: OSError, endpoint: Endpoint, where: str) -> BconError:
    if isinstance(error, socket.gaierror):
        text = f"the host name of {where} cannot be resolved: check the address and the name service"
        return DockerConnectionError(text, _facts(endpoint, "unresolved"))
    if error.errno in {errno.EMFILE, errno.ENFILE}:
        text = "no file descriptor is left for a connection to the engine: raise `ulimit -n` (systemd: LimitNOFILE=)"
        return DockerConnectionError(text, _facts(endpoint, "descriptors"))
    name = errno.errorcode.get(error.errno or 0, "unknown error")
    text = f"cannot reach {where}: {name}. Check address, route and firewall"
    return DockerConnectionError(text, _facts(endpoint, "unreachable"))


def _forbidden_text(where: str) -> str:
    return (
        f"this user may not use {where}: run as root, or add the user to the socket's group (`docker` as a rule) and "
        "log in again. Whoever can use the socket has root's power on the host, so a read-only socket proxy is safer"
    )


def _translate_status(error: BaseException, endpoint: Endpoint, doing: str) -> BconError | None:
    if isinstance(error, BconError):
        return error
    if _find_kind(error) != "status":
        return None
    from bcon_exporter.engine.docker_errors import read_status

    return status_error(*read_status(error), endpoint, doing)


def _translate_rest(error: BaseException, endpoint: Endpoint, doing: str) -> BconError | None:
    kind = _find_kind(error)
    if kind == "redirect":
        return garbage_error(endpoint, doing, "a redirect")
    if isinstance(error, ValueError | RecursionError):
        return garbage_error(endpoint, doing, "text that is no JSON")
    return garbage_error(endpoint, doing, "something else") if kind else None


def status_error(status: int, body: bytes, endpoint: Endpoint, doing: str) -> BconError:
    """Return the error that an HTTP status of the engine, or of a proxy before it, means."""
    said = engine_message(body)
    facts = {**_facts(endpoint), "status": status}
    match status:
        case 404:
            return ContainerNotFoundError(f"{doing}: the engine does not know it ({said})", facts)
        case 500 | 501 if any(text in said for text in _LOG_UNREADABLE):
            return UnreadableLogError(f"{doing}: the log cannot be read back ({said})", facts)
        case 401 | 403 | 405 | 501 if _is_of_a_proxy(status, body):
            text = (
                f"{doing} is forbidden by {endpoint.url} (HTTP {status}): a proxy before the engine blocks this "
                "request. Allow it there, GET only; docs/configuration.md lists the paths"
            )
            return PermissionDeniedError(text, {**facts, "hint": "proxy"})
        case 400 if "API version" in said or "client version" in said:
            return VersionRefusedError(f"the engine refuses our API version: {said}", facts)
        case 409:
            text = f"{doing}: the engine cannot do it while the container is in this state ({said}); see its state"
            return InvalidInputError(text, facts)
        case 504 | 408:
            return DeadlineExceededError(f"{doing}: the proxy before the engine gave up (HTTP {status})", facts)
        case 301 | 302 | 303 | 307 | 308:
            return garbage_error(endpoint, doing, "a redirect")
        case _:
            return DockerConnectionError(f"{doing}: the engine answered HTTP {status} ({said})", facts)


def _is_of_a_proxy(status: int, body: bytes) -> bool:
    """Return whether a refusal comes from something before the engine; the engine itself says 501 in JSON."""
    if status != HTTPStatus.NOT_IMPLEMENTED:
        return True
    try:
        content = json.loads(body[:65536])
    except (ValueError, RecursionError):
        return True
    return not isinstance(content, dict) or "message" not in content


def is_unreachable(error: BconError) -> bool:
    """Return whether an error tells of the engine as a whole, whatever it was asked for."""
    return error.details.get("hint") in _UNREACHABLE


def is_refused(error: BconError) -> bool:
    """Return whether something before the engine does not let the request pass, whatever container it asks for."""
    return error.details.get("hint") == "proxy"


def engine_message(body: bytes) -> str:
    """Return the engine's own sentence from an error answer, cleaned, masked and clipped."""
    try:
        content = json.loads(body[:65536])
    except (ValueError, RecursionError):
        content = body[:65536].decode(errors="replace")
    message = content.get("message") if isinstance(content, dict) else content
    return safe_text(str(message or "no reason given"), max_chars=300)


def timeout_error(endpoint: Endpoint, doing: str) -> DeadlineExceededError:
    """Return the error of an engine that does not answer in time."""
    text = (
        f"{doing}: the engine at {endpoint.url} did not answer in time. It hangs or is overloaded: see its log "
        "(`journalctl -u docker`) and whether containerd runs"
    )
    return DeadlineExceededError(text, _facts(endpoint, "hung"))


def busy_error(endpoint: Endpoint) -> DeadlineExceededError:
    """Return the error of a scan that could not begin in time: one of ours was not done with the engine."""
    text = f"another scan of {endpoint.url} still runs, and only one runs at a time: try again when it has ended"
    return DeadlineExceededError(text, _facts(endpoint, "busy"))


def overdue_error(endpoint: Endpoint, doing: str) -> OverdueError:
    """Return the error of one request that was not answered in its own time."""
    late = timeout_error(endpoint, doing)
    return OverdueError(late.message, late.details)


def silence_reason(doing: str) -> str:
    """Say why one container is not asked about for a while."""
    return f"{doing}: the engine did not answer in time for this container alone, so it is asked more rarely"


def closed_error(endpoint: Endpoint, doing: str) -> DockerConnectionError:
    """Return the error of a connection that ended before the answer was whole."""
    text = f"{doing}: {endpoint.url} closed the connection before its answer was whole; the engine may be restarting"
    return DockerConnectionError(text, _facts(endpoint, "closed"))


def garbage_error(endpoint: Endpoint, doing: str, what: str) -> DockerConnectionError:
    """Return the error of something that does not answer as an engine does."""
    text = f"{doing}: {endpoint.url} answered with {what}, not as a Docker Engine does: check the address"
    return DockerConnectionError(text, _facts(endpoint, "no engine"))


def too_long_error(endpoint: Endpoint, what: str) -> DockerConnectionError:
    """Return the error of a list that would take too much memory."""
    text = f"listing containers: {endpoint.url} lists {what}. Remove dead containers, or watch a smaller host"
    return DockerConnectionError(text, _facts(endpoint, "too long"))


def too_old_error(endpoint: Endpoint) -> DockerConnectionError:
    """Return the error of something that names no API version we speak."""
    text = f"{endpoint.url} offers no API version from 1.24 on: it is too old, or no Docker Engine"
    return DockerConnectionError(text, _facts(endpoint, "no engine"))


def _facts(endpoint: Endpoint, hint: str | None = None) -> dict[str, object]:
    facts: dict[str, object] = {"endpoint": endpoint.url, "source": endpoint.source}
    return facts if hint is None else {**facts, "hint": hint}
