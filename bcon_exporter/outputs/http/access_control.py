"""Decides who may ask what, before any routing; every other request is refused."""

import ipaddress
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from bcon_exporter.callers import CALLER
from bcon_exporter.errors import BconError
from bcon_exporter.outputs.http.connections import Place, client_of
from bcon_exporter.outputs.http.rate_limits import RateLimits, TooManyRequestsError
from bcon_exporter.outputs.http.replies import SECURITY_HEADERS, Receive, Scope, Send, http_error, send_error
from bcon_exporter.outputs.http.request_body import BodyRefusedError, ClientGoneError, buffer_body
from bcon_exporter.outputs.http.users import Users, parse_basic, parse_bearer

_log = logging.getLogger(__name__)
_PIECE_BYTES = 32 * 1024
App = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN_PATHS = frozenset(("/", "/assets/page.css", "/metrics", "/-/healthy", "/-/ready"))
"""Served beyond loopback to anybody: they hold no report, so no log line."""
DOCUMENTS_PATH = "/docs/"
"""Below it are the project's own documents, which hold nothing of the host: served like the open paths."""
STREAM_PATH = "/live"
"""Answered for as long as the client listens."""
TAIL_PATH = "/tail/"
"""Below it are the logs of containers, answered in the same way."""
MCP_PATH = "/mcp"
"""What agents ask; never served beyond loopback without users, whatever else is."""
PROBE_PATHS = frozenset(("/-/healthy", "/-/ready"))
"""Answered without a password, in one word: an orchestrator's probe has none."""
SCRAPED_PATHS = PROBE_PATHS | {"/metrics"}
"""Asked again and again by machines: without a rate limit, and beyond loopback under any host name."""
HEADERS_MAX_BYTES = 16 * 1024
LOCAL_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))

_CHALLENGE = ((b"www-authenticate", b'Basic realm="bcon-exporter", charset="UTF-8"'),)
_TOKEN_CHALLENGE = ((b"www-authenticate", b'Bearer realm="bcon-exporter"'),)
_ANYBODY = ""
"""Who asks, where there are no users."""


@dataclass(frozen=True, slots=True)
class ListenerPolicy:
    """What one listener serves, and to whom.

    Attributes:
        loopback: Whether only this machine reaches it.
        allow_insecure: Whether everything is served to anybody (web.allow-insecure).
        host_names: Names that a request's Host header may carry, besides the local ones.
        route_prefix: What stands before every path: "" or "/containers".
    """

    loopback: bool
    allow_insecure: bool = False
    host_names: frozenset[str] = field(default_factory=frozenset)
    route_prefix: str = ""

    def strip_prefix(self, path: str) -> str | None:
        """Return the path below the prefix; None for one that is not below it."""
        if self.route_prefix and not path.startswith(f"{self.route_prefix}/"):
            return None
        return path[len(self.route_prefix) :]

    def knows_host(self, header: str) -> bool:
        """Return whether a Host header names this server; beyond loopback every IP address does."""
        name = host_of(header)
        return name in LOCAL_NAMES or name in self.host_names or (not self.loopback and _is_address(name))

    def takes_any_host(self, path: str, users: Users | None) -> bool:
        """Return whether a path is served under any host name.

        A web page could rebind its own name to this server's address and read the answers. So other names are refused:
        on loopback everywhere, elsewhere for reports. Prometheus may scrape under any name.
        """
        return not self.loopback and (path in SCRAPED_PATHS or not self.serves_all(users))

    def serves_all(self, users: Users | None) -> bool:
        """Return whether this listener serves reports."""
        return self.loopback or self.allow_insecure or bool(users)


def is_open(path: str) -> bool:
    """Return whether a path is served beyond loopback to anybody."""
    return path in OPEN_PATHS or path.startswith(DOCUMENTS_PATH)


def host_of(header: str) -> str:
    """Return the name in a Host header, without port and brackets, in lower case; "" if the port is no number."""
    text = header.strip().lower()
    if text.startswith("["):
        name, _, rest = text[1:].partition("]")
        return name if not rest or (rest[0] == ":" and rest[1:].isdigit()) else ""
    name, colon, port = text.partition(":")
    return name.rstrip(".") if not colon or port.isdigit() else ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Refusal(Exception):  # noqa: N818 -- an answer, not a failure
    """The answer to a request that is refused."""

    def __init__(self, status: int, error: BconError, headers: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        super().__init__(error.message)
        self.status, self.error, self.headers = status, error, headers


class Gate:
    """Checks host name, origin, exposure, user, rate and body size, then asks the site and adds security headers.

    Args:
        policy: Returns the listener's policy by the settings in force.
        users: Returns the users in force; None when there are none.
        limits: The rate limits of all listeners.
    """

    def __init__(
        self,
        app: App,
        policy: Callable[[], ListenerPolicy],
        users: Callable[[], Users | None],
        limits: RateLimits,
    ) -> None:
        self._app = app
        self._policy = policy
        self._users = users
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; every error becomes an answer here."""
        if scope["type"] != "http":
            return
        answer = _Answer(send, scope.get("state", {}).get("place"))
        try:
            await self._answer(scope, receive, answer)
        except Refusal as refusal:
            await send_error(answer, refusal.error, refusal.status, refusal.headers)
        except BodyRefusedError as refusal:
            await send_error(answer, refusal.error, refusal.status, [(b"connection", b"close")])
        except ClientGoneError:
            return
        except TooManyRequestsError as error:
            await answer.send_error_once(error, [(b"retry-after", b"%d" % error.retry_after_seconds)])
        except BconError as error:
            await answer.send_error_once(error)
        except Exception as error:  # noqa: BLE001 -- the request boundary: the client gets an envelope, the log the rest
            _log.exception("a request to %s failed because of a defect", scope["path"][:200], exc_info=error)
            await answer.send_error_once(http_error(500, "the request failed because of a defect; see the log"))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the site answer, or refuse."""
        if sum(len(name) + len(value) for name, value in scope["headers"]) > HEADERS_MAX_BYTES:
            raise Refusal(431, http_error(431, f"the headers are larger than {HEADERS_MAX_BYTES // 1024} KiB"))
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        policy, users = self._policy(), self._users()
        path = policy.strip_prefix(scope["path"])
        if path is None:
            raise _not_below(policy.route_prefix, scope["path"])
        full = policy.serves_all(users)
        if not full and not is_open(path):
            raise Refusal(403, http_error(403, _NOT_SERVED_HERE))
        if not policy.takes_any_host(path, users) and not policy.knows_host(headers.get("host", "")):
            raise Refusal(421, http_error(403, _OTHER_HOST))
        _check_origin(headers)
        if path == MCP_PATH and not policy.loopback and not users:
            raise Refusal(403, http_error(403, _NOT_FOR_ANYBODY))
        client = client_of((scope.get("client") or ("",))[0])
        user: str | None = _ANYBODY
        if users:
            user = await self._find_user(users, headers.get("authorization", ""), path, client)
            if user is None and path not in PROBE_PATHS:
                raise _unknown(users)
        method = "GET" if scope["method"] == "HEAD" else scope["method"]  # the server drops the body of a HEAD itself
        inner = {
            **scope,
            "method": method,
            "path": path,
            "bcon.bare": not full or user is None,
            "bcon.user": user,
            "bcon.is_head": scope["method"] == "HEAD",
            "bcon.still_admitted": lambda: self._users() is users and self._policy() == policy,
        }
        if path in SCRAPED_PATHS:
            await self._app(inner, await buffer_body(scope, receive), send)
        else:
            key = f"user {user}" if user else client  # differs from every address
            await self._answer_limited(inner, receive, send, key, is_user=bool(user))

    async def _answer_limited(self, scope: Scope, receive: Receive, send: Send, client: str, *, is_user: bool) -> None:
        CALLER.set(client)
        self._limits.requests.count(client, is_user=is_user)
        is_stream = scope["path"] == STREAM_PATH or scope["path"].startswith(TAIL_PATH)
        places = self._limits.streams if is_stream else self._limits.requests
        async with places.running(client):
            await self._app(scope, await buffer_body(scope, receive), send)

    async def _find_user(self, users: Users, header: str, path: str, client: str) -> str | None:
        """Return the name of who asks; None for somebody unknown."""
        token = parse_bearer(header)
        if token is not None:
            name = users.name_of_token(token)
            if name is None and path not in PROBE_PATHS:
                self._limits.passwords.count_wrong(client)
            return name
        credentials = parse_basic(header)
        if credentials is None:
            return None
        if users.remembers(credentials):
            return credentials.name
        if path in PROBE_PATHS:
            return None
        return credentials.name if await self._limits.passwords.check(users, credentials, client) else None


def _not_below(prefix: str, path: str) -> Refusal:
    """Return the answer to a path that is not below web.route-prefix."""
    if path in ("/", prefix):
        return Refusal(308, http_error(308, f"the pages are at {prefix}/"), ((b"location", f"{prefix}/".encode()),))
    return Refusal(404, http_error(404, f"there is no such address; all are below {prefix}/ (web.route-prefix)"))


def _unknown(users: Users) -> Refusal:
    """Return the answer to somebody who is no user."""
    if not users.have_tokens:
        return Refusal(401, http_error(401, "user name and password are needed"), _CHALLENGE)
    message = "user name and password, or a bearer token, are needed"
    return Refusal(401, http_error(401, message), _CHALLENGE + _TOKEN_CHALLENGE)


_OTHER_HOST = "the Host header names another server; add the name to web.allowed-hosts if it is this one's"
_NOT_SERVED_HERE = (
    "reports hold log lines, so beyond loopback they need users: set web.config.file with basic_auth_users, "
    "or use api.listen-address on loopback, or accept the risk with web.allow-insecure"
)
_NOT_FOR_ANYBODY = (
    "agents are served beyond loopback to users only: set web.config.file with bearer_tokens or basic_auth_users"
)


def _check_origin(headers: dict[str, str]) -> None:
    """Refuse what a browser sends on behalf of another site; other clients send neither header."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    foreign = origin is not None and origin.partition("://")[2].lower() != headers.get("host", "").lower()
    across = site in ("cross-site", "same-site") and headers.get("sec-fetch-mode") != "navigate"
    if foreign or across:
        raise Refusal(403, http_error(403, "requests on behalf of another web site are not served"))


class _Answer:
    """Adds the security headers to an answer, sends it in pieces, and remembers whether it has begun.

    A large answer sent whole would be copied into the connection's buffer while its client reads.
    """

    def __init__(self, send: Send, place: Place | None) -> None:
        self._send = send
        self._place = place
        self._begun = False

    async def __call__(self, message: Scope) -> None:
        if message["type"] == "http.response.start":
            self._begun = True
            names = {name for name, _ in message["headers"]}
            extra = [(name, value) for name, value in SECURITY_HEADERS if name not in names]
            message = {**message, "headers": [*message["headers"], *extra]}
        elif len(body := message.get("body", b"")) > _PIECE_BYTES:
            await self._send_pieces(body)
            message = {**message, "body": b""}
        await self._send(message)

    async def _send_pieces(self, body: bytes) -> None:
        if self._place is not None:
            self._place.hold(len(body))
        for begin in range(0, len(body), _PIECE_BYTES):
            piece = body[begin : begin + _PIECE_BYTES]
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})

    async def send_error_once(self, error: BconError, headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
        """Send an error unless the answer has begun."""
        if not self._begun:
            await send_error(self, error, headers=headers)
