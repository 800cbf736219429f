"""Asks the daemon of this machine over HTTP, where one runs."""

import http.client
import json
import ssl
from typing import TYPE_CHECKING

from pydantic import ValidationError

from bcon_exporter.cli.parsing import PROGRAM
from bcon_exporter.clock import monotonic
from bcon_exporter.errors import SettingsError
from bcon_exporter.model.cleaning import clean_name
from bcon_exporter.model.facts import HostSnapshot
from bcon_exporter.model.lifecycle import ExitFacts, HostMemory, LifecycleFacts
from bcon_exporter.settings import Address, Settings
from bcon_exporter.tools.context import Past

if TYPE_CHECKING:
    from bcon_exporter.outputs.http.web_config import TlsServerConfig

_ASK_SECONDS = 3.0
_MEMORY_MAX_BYTES = 64 * 1024 * 1024
_OK = 200


def tell_silence(error: Exception) -> str:
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
    from bcon_exporter.outputs.http.web_config import load_web_config  # commands do without the web server's weight

    return load_web_config(settings.web.config.file).tls_server_config


def make_connection(address: Address, *, encrypted: bool) -> http.client.HTTPConnection:
    """Return a connection to the daemon on this machine, not yet open."""
    host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(address.host, address.host)  # noqa: S104 -- read, not bound
    if not encrypted:
        return http.client.HTTPConnection(host, address.port, timeout=_ASK_SECONDS)
    # Its certificate names the outside world, not loopback; nothing but a status is read here.
    context = ssl._create_unverified_context()  # noqa: S323, SLF001
    return http.client.HTTPSConnection(host, address.port, timeout=_ASK_SECONDS, context=context)


def recall(snapshot: HostSnapshot, settings: Settings, past: Past) -> HostSnapshot:
    """Return the snapshot with what the daemon of its engine remembers of the containers.

    Where none answers, `past` has what its state file told; where there is none either, the snapshot says how far back
    the engine's own events reach.
    """
    told = ask_memory(settings)
    engine_id = snapshot.engine.id if snapshot.engine is not None else None
    if isinstance(told, HostMemory) and engine_id is not None and told.engine_id == engine_id:
        pasts = told.pasts
        containers = (
            one.model_copy(update={"lifecycle": pasts[one.id]}) if one.id in pasts else one
            for one in snapshot.containers
        )
        return snapshot.model_copy(update={"containers": tuple(containers)})
    if past.status == "file":
        return snapshot
    why = told if isinstance(told, str) else f"the one at {_address_of(settings)} watches another engine"
    since = past.observed_since
    reach = "no events could be read" if since is None else f"events reach back to {since:%Y-%m-%d %H:%M} UTC"
    remark = f"judged without a daemon's memory ({why}; no state file): {reach}"
    return snapshot.model_copy(update={"unread": {**snapshot.unread, "memory": remark}})


def ask_memory(settings: Settings) -> HostMemory | str:
    """Return what the daemon at the configured address remembers, or why it does not tell."""
    address = _address_of(settings)
    try:
        connection = make_connection(address, encrypted=read_tls(settings) is not None)
    except SettingsError as error:
        return error.message
    try:
        connection.request("GET", "/api/v1/memory")
        answer = connection.getresponse()
        if answer.status != _OK:
            return f"the one at {address} answers with HTTP status {answer.status}"
        return _clean(HostMemory.model_validate(json.loads(_read(answer))["result"]))
    except (OSError, http.client.HTTPException) as error:
        return f"{address}: {tell_silence(error)}"
    except (ValidationError, ValueError, KeyError, TypeError, RecursionError):
        return f"what answers at {address} is no bcon-exporter of this version"
    finally:
        connection.close()


def _address_of(settings: Settings) -> Address:
    return settings.api.listen_address or settings.web.listen_address


def _read(answer: http.client.HTTPResponse) -> bytes:
    """Read an answer, in bounded time and size: whoever listens there may be anybody."""
    body, give_up_at = bytearray(), monotonic() + _ASK_SECONDS
    while chunk := answer.read1(65536):
        body += chunk
        if len(body) > _MEMORY_MAX_BYTES or monotonic() > give_up_at:
            raise TimeoutError
    return bytes(body)


def _clean(memory: HostMemory) -> HostMemory:
    """Clean the text in it: it was cleaned when it was read, but comes from outside."""
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
        }
    )
