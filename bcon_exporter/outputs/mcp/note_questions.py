"""Asks the person at an agent's client about a note that the agent wrote. Only their explicit yes approves it.

Where nobody can be asked, or nobody answers, the note stays pending.
"""

import secrets
from collections.abc import Mapping
from typing import Any, Literal

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from bcon_exporter.agents.answer_rendering import AgentAnswer, split_options
from bcon_exporter.model.notes import Decision, WrittenNote
from bcon_exporter.model.quantities import show_time
from bcon_exporter.outputs.mcp.answers import Answers
from bcon_exporter.tools.notes import WRITE_MEMORY, tell_decision

Asked = ServerRequestContext[Any]

_KEY = "keep"
"""Of the one question in a result that requires input."""
_ANSWER_WITHIN_SECONDS = 600.0
_NO_FIELDS: dict[str, Any] = {"type": "object", "properties": {}}
"""A form without fields: yes and no are the person's accept and decline."""
_DECISION_OF: Mapping[Literal["accept", "decline", "cancel"], Decision | None] = {
    "accept": "approved",
    "decline": "refused",
    "cancel": None,
}


def seal_question() -> RequestStateBoundary:
    """Return what seals the state that a client hands back with an answer, with a key of this process.

    A state holds for ten minutes, and for the same user, tool and arguments; any other is an error of the protocol.
    """
    key = secrets.token_bytes(32)
    security = RequestStateSecurity(keys=[key], ttl=_ANSWER_WITHIN_SECONDS, bind_principal=_user_of)
    return RequestStateBoundary(security, default_audience="bcon-exporter")


def _user_of(asked: Asked) -> str | None:
    """Return whom the gate has let in by name."""
    user = asked.request.scope.get("bcon.user") if asked.request is not None else None
    return str(user) if user else None


def can_ask(asked: Asked) -> bool:
    """Return whether the client of this request can put a form before its person."""
    capabilities = asked.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    if elicitation is None or (elicitation.form is None and elicitation.url is not None):
        return False
    return _is_modern(asked) or asked.session.can_send_request


async def write_and_ask(
    answers: Answers, asked: Asked, params: types.CallToolRequestParams
) -> AgentAnswer | types.InputRequiredResult:
    """Keep a note as pending, ask the person, and do what they say.

    Without a handshake the question is the result, and the client calls again with the answer: the note is found again
    then, since the same one is kept once.

    Raises:
        BconError: The note is not kept, or what the person said could not be done.
    """
    options, arguments = split_options(params.arguments or {}, WRITE_MEMORY)
    written = await answers.write_note(arguments)
    if written.id is None or written.status != "pending":
        return await answers.show_note(written, options)
    if not _is_modern(asked):
        decision = await _ask_now(asked, _question(written))
    elif params.request_state != written.id:  # not asked yet, or about one that is gone
        return types.InputRequiredResult(
            input_requests={_KEY: types.ElicitRequest(params=_question(written))}, request_state=written.id
        )
    else:
        decision = _read_answer(params)
    if decision is not None:
        await answers.decide_note(written.id, decision)
    return await answers.show_note(tell_decision(written, decision), options)


def _is_modern(asked: Asked) -> bool:
    """Return whether the client speaks the protocol without a handshake: then the server cannot send requests."""
    return asked.protocol_version in MODERN_PROTOCOL_VERSIONS


def _question(written: WrittenNote) -> types.ElicitRequestFormParams:
    message = (
        f"Keep this note? An agent wrote it about {written.about.in_words()}, until {show_time(written.expires_at)}. "
        f"Accepting shows it beside findings and changes none; declining forgets it.\n\n{written.text}"
    )
    return types.ElicitRequestFormParams(message=message, requested_schema=_NO_FIELDS)


async def _ask_now(asked: Asked, question: types.ElicitRequestFormParams) -> Decision | None:
    """Return what the person says; None where they, or their client, do not."""
    try:
        said = await asked.session.send_request(
            types.ElicitRequest(params=question),
            types.ElicitResult,
            _ANSWER_WITHIN_SECONDS,
            ServerMessageMetadata(related_request_id=asked.request_id),
        )
    except (MCPError, ValidationError):
        return None
    return _DECISION_OF[said.action]


def _read_answer(params: types.CallToolRequestParams) -> Decision | None:
    said = (params.input_responses or {}).get(_KEY)
    return _DECISION_OF[said.action] if isinstance(said, types.ElicitResult) else None
