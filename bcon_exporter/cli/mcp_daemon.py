"""Answers an agent by asking a running daemon: its past, its causes, and no second scan."""

import http.client
import json
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from pydantic import ValidationError

from bcon_exporter.agents.answer_rendering import AgentAnswer, ViewOptions, render_answer, render_error
from bcon_exporter.agents.untrusted_text import find_odd_names_in, hide_odd_names
from bcon_exporter.bounded_http import BoundedConnection
from bcon_exporter.cli.daemon_client import (
    NOTES_PATH,
    VERB_OF,
    address_of,
    authorization,
    explain_no_answer,
    make_connection,
    path_of,
    read_tls,
)
from bcon_exporter.cli.parsing import Invocation
from bcon_exporter.clock import utc_now
from bcon_exporter.errors import (
    BconError,
    DockerConnectionError,
    InternalError,
    InvalidInputError,
    NotFoundError,
    PermissionDeniedError,
    SettingsError,
)
from bcon_exporter.model.notes import Decision, WrittenNote
from bcon_exporter.model.reports import DriftReport
from bcon_exporter.outputs.http.request_threads import RequestThreads
from bcon_exporter.outputs.mcp.answers import PROJECT_DRIFT
from bcon_exporter.secrets.cleaning import clean_name
from bcon_exporter.tools import Tool
from bcon_exporter.tools.envelope import success
from bcon_exporter.tools.notes import WRITE_MEMORY

_ANSWER_MAX_BYTES = 16 * 1024 * 1024
_CONNECT_SECONDS = 3.0
_LONGER_THAN_THE_TOOL_SECONDS = 2.0
_OK = 200
_FORBIDDEN = (401, 403)
_LOCAL = frozenset(("localhost", "127.0.0.1", "::1"))


@dataclass(frozen=True)
class DaemonAddress:
    """How a daemon is asked.

    Attributes:
        address: As people write it.
        connect: Makes a connection for one request that may take these seconds.
        prefix: What stands before every path.
        headers: Who asks.
    """

    address: str
    connect: Callable[[float], BoundedConnection]
    prefix: str
    headers: Mapping[str, str]

    def ask(self, method: str, path: str, payload: Mapping[str, object] | None, seconds: float) -> tuple[int, bytes]:
        """Return status and body of an answer.

        Raises:
            DockerConnectionError: There is none within the time.
        """
        body = None if payload is None else json.dumps(payload)
        headers = {"Content-Type": "application/json", **self.headers}
        try:
            with self.connect(seconds) as connection:
                connection.request(method, self.prefix + path, body, headers)
                answer = connection.getresponse()
                return answer.status, connection.read(answer, _ANSWER_MAX_BYTES)
        except (OSError, http.client.HTTPException, ValueError) as error:
            why = f"no answer within {seconds:g} s" if isinstance(error, TimeoutError) else explain_no_answer(error)
            msg = f"no daemon answers at {self.address}: {why}"
            raise DockerConnectionError(msg, {"address": self.address}) from None


def find_daemon(call: Invocation, url: str | None, say: Callable[[str], None]) -> DaemonAddress | None:
    """Return the daemon to ask.

    Args:
        call: Names the configured address, and who asks.
        url: The address that was asked for; None for the configured one, if a daemon answers there.
        say: Tells why none is asked.

    Raises:
        SettingsError: The address is none, or a file of secrets cannot be read.
    """
    if url is not None:
        return _daemon_at(url, authorization(call.arguments))
    settings = call.settings
    try:
        encrypted = read_tls(settings) is not None
    except SettingsError as error:
        say(f"no daemon is asked: {error.message}")
        return None
    address = address_of(settings)
    daemon = DaemonAddress(
        str(address),
        lambda seconds: make_connection(address, encrypted=encrypted, seconds=seconds),
        path_of(settings, ""),
        authorization(call.arguments),
    )
    problem = _find_problem(daemon)
    if problem is not None:
        say(f"the engine itself is asked, without a daemon's memory: {problem}")
        return None
    return daemon


def _daemon_at(url: str, headers: Mapping[str, str]) -> DaemonAddress:
    """Return the daemon at a web address.

    Raises:
        SettingsError: It is none.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = urlsplit(""), "", None
    if parts.scheme not in ("http", "https") or not host or parts.username or parts.query:
        msg = "--daemon must be auto, none, or an address such as http://127.0.0.1:19877"
        raise SettingsError(msg, {"flag": "--daemon"})

    def connect(seconds: float) -> BoundedConnection:
        if parts.scheme == "http":
            return BoundedConnection(host, port, seconds)
        context = ssl.create_default_context()
        if host in _LOCAL:  # its certificate does not name loopback
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return BoundedConnection(host, port, seconds, context)

    return DaemonAddress(f"{host}:{port}" if port else host, connect, parts.path.rstrip("/"), headers)


def _find_problem(daemon: DaemonAddress) -> str | None:
    """Return why a daemon cannot be asked; None where it can."""
    try:
        status, body = daemon.ask("POST", "/api/v1/tools/list_containers?view=agent", {"limit": 1}, _CONNECT_SECONDS)
    except BconError as error:
        return error.message
    if status in _FORBIDDEN:
        return f"the daemon at {daemon.address} refuses; give --token-file, or --user and --password-file"
    if _record_of(body) is None:
        return f"what answers at {daemon.address} is no bcon-exporter of this version"
    return None


def _record_of(body: bytes) -> dict[str, Any] | None:
    """Return an answer in the agent's view; None where it is something else."""
    try:
        record = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and "isError" in record else None


class DaemonAnswers:
    """Answers from a daemon, which renders them itself."""

    def __init__(self, daemon: DaemonAddress, threads: RequestThreads) -> None:
        self._daemon = daemon
        self._threads = threads

    async def call(self, tool: Tool[Any], arguments: Mapping[str, object]) -> AgentAnswer:
        """Have the daemon run a tool."""
        try:
            return await self._threads.run(lambda: self._call(tool, arguments))
        except BconError as error:
            return _refused(tool, error)

    def _call(self, tool: Tool[Any], arguments: Mapping[str, object]) -> AgentAnswer:
        seconds = tool.timeout_seconds + _LONGER_THAN_THE_TOOL_SECONDS
        status, body = self._daemon.ask("POST", f"/api/v1/tools/{tool.name}?view=agent", arguments, seconds)
        text = body.decode(errors="replace")
        if arguments.get("response_format") == "markdown" and status == _OK:
            return AgentAnswer(body=text, is_error=False, media_type="text/markdown")
        if _record_of(body) is None:
            raise self._refusal(status, body)
        return AgentAnswer(body=text, is_error=status != _OK, media_type="application/json")

    async def read(self, tool: str, arguments: Mapping[str, object]) -> Any:
        """Have the daemon run a tool, and return its plain result."""
        try:
            return await self._threads.run(lambda: self._read("POST", f"/api/v1/tools/{tool}", arguments))
        except BconError:
            return None

    async def write_note(self, arguments: Mapping[str, object]) -> WrittenNote:
        """Have the daemon keep a note."""
        result = await self._threads.run(lambda: self._read("POST", f"/api/v1/tools/{WRITE_MEMORY.name}", arguments))
        try:
            return WrittenNote.model_validate(result)
        except ValidationError:
            raise self._other_version() from None

    async def decide_note(self, note_id: str, decision: Decision) -> None:
        """Have the daemon approve or refuse a note."""
        path = f"{NOTES_PATH}/{quote(note_id, safe='')}/{VERB_OF[decision]}"
        await self._threads.run(lambda: self._read("POST", path, {}))

    async def show_note(self, written: WrittenNote, options: ViewOptions) -> AgentAnswer:
        """Render a note here: the daemon knows nothing of the question."""
        return render_answer(WRITE_MEMORY, success(written), options, "", utc_now())

    async def compare_project(self, project: str, options: ViewOptions) -> AgentAnswer:
        """Return what the daemon's last scan says of a project's drift."""
        try:
            report = await self._threads.run(lambda: self._read_drift(project))
        except BconError as error:
            return _refused(PROJECT_DRIFT, error, options)
        return render_answer(PROJECT_DRIFT, success(report), options, "", report.timestamp)

    def _read_drift(self, project: str) -> DriftReport:
        result = self._read("GET", f"/api/v1/drift/{quote(project, safe='')}", None)
        try:
            fields = DriftReport.model_fields.items()
            there = {name: result[name] for name, field in fields if field.is_required() or name in result}
            return DriftReport.model_validate(there)
        except (ValidationError, KeyError, TypeError):
            raise self._other_version() from None

    def _read(self, method: str, path: str, payload: Mapping[str, object] | None) -> Any:
        status, body = self._daemon.ask(method, path, payload, PROJECT_DRIFT.timeout_seconds)
        try:
            return json.loads(body)["result"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._refusal(status, body) from None

    def _other_version(self) -> InternalError:
        return InternalError(f"the daemon at {self._daemon.address} is of another version")

    def _refusal(self, status: int, body: bytes) -> BconError:
        """Return the error that an answer means which is no report."""
        details: dict[str, object] = {}
        try:
            error = json.loads(body)["error"]
            details = dict(error.get("details") or {})
            message = str(hide_odd_names(str(error["message"]), find_odd_names_in(details)))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            message = f"HTTP status {status}"
        said = f"the daemon at {self._daemon.address} says: {clean_name(message)}"
        match status:
            case 401 | 403:
                return PermissionDeniedError(said, details)
            case 404:
                return NotFoundError(said, details)
            case 400 | 422:
                return InvalidInputError(said, details)
            case _:
                return InternalError(said, details)


def _refused(tool: Tool[Any], error: BconError, options: ViewOptions | None = None) -> AgentAnswer:
    return render_error(tool.name, error, options or ViewOptions(), "", utc_now())
