"""Asks the daemon of this machine over HTTP, where one runs."""

import base64
import getpass
import http.client
import json
import ssl
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pydantic import ValidationError

from bcon_exporter.bounded_http import BoundedConnection
from bcon_exporter.cli.parsing import PROGRAM, Invocation
from bcon_exporter.errors import (
    BconError,
    DockerConnectionError,
    ErrorCode,
    InternalError,
    InvalidInputError,
    NotFoundError,
    PermissionDeniedError,
    SettingsError,
)
from bcon_exporter.model.container_facts import HostSnapshot
from bcon_exporter.model.disk import DiskReport, DiskUsageInput
from bcon_exporter.model.lifecycle import ExitFacts, HostMemory, LifecycleFacts
from bcon_exporter.model.notes import Decision
from bcon_exporter.regular_files import UnreadableFileError, read_regular_file
from bcon_exporter.secrets.cleaning import clean_name, strip_controls
from bcon_exporter.settings import Address, Settings

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from bcon_exporter.outputs.http.web_config import TlsServerConfig
    from bcon_exporter.tools.context import Context, Memories

NOTES_PATH = "/api/v1/notes"
VERB_OF: Mapping[Decision, str] = {"approved": "approve", "refused": "refuse"}
"""How the daemon's API calls a decision on a note."""
_ASK_SECONDS = 3.0
ANSWER_MAX_BYTES = 64 * 1024 * 1024
_PASSWORD_MAX_BYTES = 64 * 1024
_OK = 200
_FORBIDDEN = (401, 403)


def explain_no_answer(error: Exception) -> str:
    """Return why the daemon gave no answer."""
    match error:
        case ConnectionRefusedError():
            return f"nothing listens there; is `{PROGRAM} serve` running at this address?"
        case TimeoutError():
            return f"no answer within {_ASK_SECONDS:g} s"
        case OSError() if error.strerror:
            return f"no answer: {error.strerror.lower()}"
        case _:
            return f"no answer: {str(error) or type(error).__name__}"


def read_tls(settings: Settings) -> "TlsServerConfig | None":
    """Return how the daemon encrypts; None when it does not."""
    if settings.web.config.file is None:
        return None
    from bcon_exporter.outputs.http.web_config import load_web_config  # slow to import

    return load_web_config(settings.web.config.file).tls_server_config


def make_connection(address: Address, *, encrypted: bool, seconds: float = _ASK_SECONDS) -> BoundedConnection:
    """Return a connection to the daemon on this machine, not yet open; `seconds` is how long one request may take."""
    host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(address.host, address.host)  # noqa: S104 -- read, not bound
    # Its certificate does not name loopback.
    tls = ssl._create_unverified_context() if encrypted else None  # noqa: S323, SLF001
    return BoundedConnection(host, address.port, seconds, tls)


def ask_daemon(call: Invocation, method: str, path: str, payload: Mapping[str, object] | None = None) -> object:
    """Return the daemon's answer to a request, with the user's name and password where they are given.

    Raises:
        BconError: No daemon answers, or it refuses.
    """
    address = address_of(call.settings)
    connection = make_connection(address, encrypted=read_tls(call.settings) is not None)
    headers = {"Content-Type": "application/json", **authorization(call.arguments)}
    target = path_of(call.settings, path)
    try:
        with connection:
            connection.request(method, target, None if payload is None else json.dumps(payload), headers)
            answer = connection.getresponse()
            status, body = answer.status, json.loads(connection.read(answer, ANSWER_MAX_BYTES))
    except (OSError, http.client.HTTPException, ValueError) as error:
        msg = f"no daemon answers at {address}: {explain_no_answer(error)}"
        raise DockerConnectionError(msg, {"address": str(address)}) from None
    if status == _OK and isinstance(body, dict) and "result" in body:
        return body["result"]
    raise _refusal(status, body, str(address))


def authorization(arguments: Namespace) -> dict[str, str]:
    """Return the header for the user that a command line names; the password is read or asked for.

    Raises:
        SettingsError: The file of the password or of the token cannot be read.
    """
    if getattr(arguments, "token_file", None) is not None:
        return {"Authorization": f"Bearer {_read_token(arguments.token_file)}"}
    user = getattr(arguments, "user", None)
    if user is None:
        return {}
    file = arguments.password_file
    try:
        password = getpass.getpass() if file is None else read_regular_file(Path(file), _PASSWORD_MAX_BYTES).decode()
    except (UnreadableFileError, UnicodeDecodeError, EOFError) as error:
        reason = str(error) or "no password was given"
        msg = f"--password-file: {file} {reason}" if file is not None else "no password was given"
        raise SettingsError(msg, {"flag": "--password-file"}) from None
    pair = f"{user}:{password.strip()}".encode()
    return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}


def _read_token(file: str) -> str:
    try:
        return read_regular_file(Path(file), _PASSWORD_MAX_BYTES).decode("ascii").strip()
    except (UnreadableFileError, UnicodeDecodeError) as error:
        reason = "is not a token" if isinstance(error, UnicodeDecodeError) else error
        msg = f"--token-file: {file} {reason}"
        raise SettingsError(msg, {"flag": "--token-file"}) from None


def _refusal(status: int, body: object, address: str) -> BconError:
    """Return the error that the daemon has answered with."""
    error = body.get("error") if isinstance(body, dict) else None
    told = error if isinstance(error, dict) else {}
    message = clean_name(str(told.get("message", f"HTTP status {status}")))
    if status in _FORBIDDEN:
        msg = f"the daemon at {address} refuses: {message}; name yourself with --user"
        return PermissionDeniedError(msg, {"address": address})
    if told.get("code") == ErrorCode.INVALID_INPUT:
        return InvalidInputError(message, {"address": address})
    if told.get("code") == ErrorCode.NOT_FOUND:
        return NotFoundError(message, {"address": address})
    return InternalError(f"the daemon at {address} says: {message}", {"address": address})


def path_of(settings: Settings, path: str) -> str:
    """Return a path of the daemon, below its prefix."""
    return settings.web.route_prefix.rstrip("/") + path


def recall(snapshot: HostSnapshot, settings: Settings, memories: "Memories") -> HostSnapshot:
    """Return the snapshot with what the daemon of its engine remembers of the containers.

    Where no daemon answers, `memories` holds its state file. Where there is no state file either, the snapshot says how
    far back the engine's own events reach.
    """
    memory = ask_memory(settings)
    engine_id = snapshot.engine.id if snapshot.engine is not None else None
    if isinstance(memory, HostMemory) and engine_id is not None and memory.engine_id == engine_id:
        pasts = memory.pasts
        containers = (
            container.model_copy(update={"lifecycle": pasts[container.id]}) if container.id in pasts else container
            for container in snapshot.containers
        )
        return snapshot.model_copy(update={"containers": tuple(containers)})
    if memories.status == "file":
        return snapshot
    why = memory if isinstance(memory, str) else f"the one at {address_of(settings)} watches another engine"
    since = memories.observed_since
    reach = "no events could be read" if since is None else f"events reach back to {since:%Y-%m-%d %H:%M} UTC"
    remark = f"judged without a daemon's memory ({why}; no state file): {reach}"
    return snapshot.model_copy(update={"unread": {**snapshot.unread, "memory": remark}})


def ask_memory(settings: Settings) -> HostMemory | str:
    """Return the memory of the daemon at the configured address, or the reason why there is none."""
    address = address_of(settings)
    try:
        connection = make_connection(address, encrypted=read_tls(settings) is not None)
    except SettingsError as error:
        return error.message
    try:
        with connection:
            connection.request("GET", path_of(settings, "/api/v1/memory"))
            answer = connection.getresponse()
            if answer.status != _OK:
                return f"the one at {address} answers with HTTP status {answer.status}"
            body = connection.read(answer, ANSWER_MAX_BYTES)
        return _clean(HostMemory.model_validate(json.loads(body)["result"]))
    except (OSError, http.client.HTTPException) as error:
        return f"{address}: {explain_no_answer(error)}"
    except (ValidationError, ValueError, KeyError, TypeError, RecursionError):
        return f"what answers at {address} is no bcon-exporter of this version"


def ask_disk(request: DiskUsageInput, settings: Settings) -> DiskReport | None:
    """Return what the daemon at the configured address says of the disk; None where none answers, or it does not tell.

    Text in it is cleaned once more: another program may have answered.
    """
    address = address_of(settings)
    try:
        connection = make_connection(address, encrypted=read_tls(settings) is not None)
    except SettingsError:
        return None
    try:
        with connection:
            connection.request("GET", path_of(settings, f"/api/v1/disk?limit={request.limit}"))
            answer = connection.getresponse()
            if answer.status != _OK:
                return None
            body = connection.read(answer, ANSWER_MAX_BYTES)
        return DiskReport.model_validate(_clean_texts(json.loads(body)["result"]))
    except (OSError, http.client.HTTPException, ValidationError, ValueError, KeyError, TypeError, RecursionError):
        return None


def ask_past(
    call: Invocation, context: "Context", tool: str, payload: Mapping[str, object], output: "TypeAdapter[Any]"
) -> Any:
    """Return what the daemon of the command's engine answers to a tool about the past.

    None where the state file that the command has read is to be asked: it is the daemon's own, or no daemon tells that
    it keeps another one. A file that somebody has left behind knows nothing of what the daemon has seen.

    Raises:
        DockerConnectionError: There is no file, and no daemon answers, it refuses, or it watches another engine: the
            past is not known.
        BconError: The daemon's own error.
    """
    has_file = context.memory.status == "file"
    try:
        memory = ask_memory(call.settings)
        if has_file and not (isinstance(memory, HostMemory) and _keeps_another_file(memory, context)):
            return None
        _refuse_other_engine(memory, call.settings, context)
        method, path, body = _request_of(tool, payload)
        answer = _clean_texts(ask_daemon(call, method, path, body), strip_controls)
        return output.validate_python(answer)
    except (DockerConnectionError, PermissionDeniedError) as error:
        if has_file:
            return None
        msg = f"not known: {error.message}, and there is no state file to read"
        raise DockerConnectionError(msg, error.details) from None
    except ValidationError:
        msg = f"not known: what answers at {address_of(call.settings)} is no bcon-exporter of this version"
        raise DockerConnectionError(msg) from None


def _request_of(tool: str, payload: Mapping[str, object]) -> tuple[str, str, Mapping[str, object] | None]:
    """Return method, path and body of a tool's request; the digest is a report, not a tool."""
    if tool == "digest":
        return "GET", f"/api/v1/digest?{urlencode(payload)}".rstrip("?"), None
    return "POST", f"/api/v1/tools/{tool}", payload


def _keeps_another_file(memory: HostMemory, context: "Context") -> bool:
    """Return whether a daemon tells that it keeps its memory elsewhere than in the file that the command has read."""
    return memory.state_file not in (None, context.memory.file_id)


def _refuse_other_engine(memory: HostMemory | str, settings: Settings, context: "Context") -> None:
    """Do nothing where the daemon watches the command's engine, or either cannot tell.

    Raises:
        DockerConnectionError: It is known to watch another one.
    """
    if not isinstance(memory, HostMemory) or memory.engine_id is None:
        return
    try:
        engine_id = context.host.engine().id
    except BconError:  # an engine that is down does not tell
        return
    if engine_id not in (None, memory.engine_id):
        msg = f"the daemon at {address_of(settings)} watches another engine"
        raise DockerConnectionError(msg)


def _clean_texts(value: object, clean: Callable[[str], str] = clean_name) -> object:
    match value:
        case str():
            return clean(value)
        case list():
            return [_clean_texts(element, clean) for element in value]
        case dict():
            return {clean_name(str(key)): _clean_texts(element, clean) for key, element in value.items()}
        case _:
            return value


def address_of(settings: Settings) -> Address:
    """Return where the daemon serves its reports."""
    return settings.api.listen_address or settings.web.listen_address


def _clean(memory: HostMemory) -> HostMemory:
    """Clean the text in it once more: another program may have answered."""
    return memory.model_copy(update={"pasts": {key: _clean_past(past) for key, past in memory.pasts.items()}})


def _clean_past(past: LifecycleFacts) -> LifecycleFacts:
    def clean(text: str | None) -> str | None:
        return clean_name(text) if text else text

    def clean_exit(end: ExitFacts) -> ExitFacts:
        return end.model_copy(update={"image": clean_name(end.image), "last_lines": ()})

    return past.model_copy(
        update={
            "exits": tuple(map(clean_exit, past.exits)),
            "previous_image": clean(past.previous_image),
            "previous_image_id": clean(past.previous_image_id),
            "previous_image_version": clean(past.previous_image_version),
        }
    )
