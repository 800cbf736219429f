"""A person is asked about an agent's note where their client can; only their yes approves it, on every way there is."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, MCPError
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult, ErrorData, InputRequiredResult, ListRootsResult

from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.model.notes import NoteInput
from bcon_exporter.outputs.http.request_threads import RequestThreads
from bcon_exporter.outputs.mcp.answers import OwnAnswers
from bcon_exporter.outputs.mcp.server import make_server
from bcon_exporter.tools.notes import approve, refuse
from tests.factories import NOON, container, snapshot
from tests.left_open import close_later
from tests.outputs.http.asking import users_with_tokens
from tests.outputs.mcp.talking import Mode, over_http, site_for_agents, talk, text_of
from tests.outputs.scenes import make_context

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.client.session import ElicitationFnT

    from bcon_exporter.tools import Context

SUNDAY = "exits with 3 every Sunday, harmless"
NOTE = {"text": SUNDAY, "about": {"container": "job"}, "dry_run": False}
TOKEN, OTHER = "k" * 43, "o" * 43
HTTP, PIPES = "http", "pipes"
every_way = pytest.mark.parametrize(("way", "mode"), [(HTTP, "auto"), (PIPES, "auto"), (PIPES, "legacy")])
"""Over HTTP with a handshake nobody can be asked."""


@pytest.fixture
def context() -> Context:
    """Of a daemon."""
    memory = close_later(MemoryKeeper.open(None, retention_seconds=32 * 86400, now=NOON))
    return make_context(snapshot(container(name="job")), memory=memory, now=lambda: NOON)


@dataclass
class Person:
    """Who says the same to every question, and what they were asked."""

    action: str
    meanwhile: Callable[[], object] = lambda: None
    asked: list[ElicitRequestParams] = field(default_factory=list)

    async def __call__(self, context: object, params: ElicitRequestParams) -> ElicitResult | ErrorData:  # noqa: ARG002 -- named by the SDK
        self.asked.append(params)
        self.meanwhile()
        if self.action == "error":
            return ErrorData(code=-32603, message="no window")
        return ElicitResult(action=self.action, content={})  # type: ignore[arg-type]  # one of three


@asynccontextmanager
async def client_of(
    context: Context, way: str, mode: Mode, on_question: ElicitationFnT | None
) -> AsyncIterator[Client]:
    """A client of a daemon, or of a server with pipes between."""
    if way == HTTP:
        async with over_http(site_for_agents(context, "ops"), mode, on_question=on_question) as client:
            yield client
        return
    server = make_server(OwnAnswers(lambda: context, RequestThreads()), ("ops",))
    async with Client(server, mode=mode, elicitation_callback=on_question) as client:
        yield client


def write(context: Context, way: str, mode: Mode, person: Person | None, **arguments: object) -> dict[str, Any]:
    """What an agent is told of the note that it writes."""

    async def call() -> CallToolResult:
        async with client_of(context, way, mode, person) as client:
            return await client.call_tool("write_memory", {**NOTE, **arguments})

    answer = talk(call)
    told: dict[str, Any] = json.loads(text_of(answer))
    assert told["isError"] is bool(answer.is_error)
    return told


def kept(context: Context) -> list[tuple[str, str]]:
    """Text and state of all notes."""
    return [(note.text, note.status) for note in context.memory.memory.notes.notes]


@every_way
def test_a_yes_approves_the_note_that_was_shown(context: Context, way: str, mode: Mode) -> None:
    states_then: list[list[tuple[str, str]]] = []
    person = Person("accept", lambda: states_then.append(kept(context)))
    told = write(context, way, mode, person)

    assert states_then == [[(SUNDAY, "pending")]]
    assert kept(context) == [(SUNDAY, "approved")]
    assert told["report"]["status"] == "approved"
    assert "a person approved it" in told["report"]["next_step"]
    (question,) = person.asked
    assert question.mode == "form"
    assert question.message.startswith("Keep this note? An agent wrote it about job")
    assert question.message.endswith(f"\n\n{SUNDAY}")


@every_way
def test_a_no_forgets_it(context: Context, way: str, mode: Mode) -> None:
    told = write(context, way, mode, Person("decline"))

    assert kept(context) == []
    assert told["report"]["status"] == "refused"
    assert "do not write it again" in told["report"]["next_step"]


@every_way
def test_who_turns_away_leaves_it_pending(context: Context, way: str, mode: Mode) -> None:
    told = write(context, way, mode, Person("cancel"))

    assert kept(context) == [(SUNDAY, "pending")]
    assert told["report"]["status"] == "pending"
    assert "the person did not decide; it waits" in told["report"]["next_step"]
    assert "bcon-exporter notes approve n1" in told["report"]["next_step"]


@pytest.mark.parametrize(("way", "mode"), [(HTTP, "auto"), (HTTP, "legacy"), (PIPES, "auto"), (PIPES, "legacy")])
def test_a_client_that_cannot_ask_leaves_it_pending(context: Context, way: str, mode: Mode) -> None:
    told = write(context, way, mode, None)

    assert kept(context) == [(SUNDAY, "pending")]
    assert told["report"]["next_step"] == "it waits until a person approves it: bcon-exporter notes approve n1"


def test_over_http_with_a_handshake_nobody_is_asked(context: Context) -> None:
    person = Person("accept")
    told = write(context, HTTP, "legacy", person)

    assert person.asked == []
    assert (told["report"]["status"], kept(context)) == ("pending", [(SUNDAY, "pending")])


def test_a_client_that_fails_to_ask_leaves_it_pending(context: Context) -> None:
    told = write(context, PIPES, "legacy", Person("error"))

    assert (told["report"]["status"], kept(context)) == ("pending", [(SUNDAY, "pending")])


@every_way
@pytest.mark.parametrize("arguments", [{"dry_run": True}, {"text": "x"}, {"max_bytes": 5}, {"select": "["}])
def test_nobody_is_asked_about_what_is_not_kept(
    context: Context, way: str, mode: Mode, arguments: dict[str, object]
) -> None:
    person = Person("accept")
    told = write(context, way, mode, person, **arguments)

    assert person.asked == []
    assert kept(context) == []
    assert told["isError"] is ("dry_run" not in arguments)


@every_way
def test_nobody_is_asked_twice_about_what_is_approved(context: Context, way: str, mode: Mode) -> None:
    person = Person("accept")
    write(context, way, mode, person)
    told = write(context, way, mode, person)

    assert len(person.asked) == 1
    assert (told["report"]["status"], kept(context)) == ("approved", [(SUNDAY, "approved")])


@every_way
def test_the_answer_is_cut_and_chosen_as_any_other(context: Context, way: str, mode: Mode) -> None:
    told = write(context, way, mode, Person("accept"), select="status")

    assert told["report"] == {"untrusted": "approved"}


def test_what_was_decided_elsewhere_meanwhile_is_told(context: Context) -> None:
    note = NoteInput(note_id="n1")
    told = write(context, PIPES, "legacy", Person("accept", lambda: refuse(context, note)))

    assert told["error"]["code"] == "INVALID_INPUT"
    assert kept(context) == []


def test_a_note_that_is_approved_elsewhere_is_not_forgotten_by_a_no(context: Context) -> None:
    note = NoteInput(note_id="n1")
    write(context, PIPES, "legacy", Person("decline", lambda: approve(context, note)))

    assert kept(context) == [(SUNDAY, "approved")]


def test_a_note_that_went_while_its_question_was_open_is_asked_about_anew(context: Context) -> None:
    def forget() -> None:
        if len(person.asked) == 1:
            refuse(context, NoteInput(note_id="n1"))

    person = Person("accept", forget)
    write(context, HTTP, "auto", person)

    assert len(person.asked) == 2
    assert kept(context) == [(SUNDAY, "approved")]


# -- clients that send back what nobody said ---------------------------------------------------------------------------

YES = {"keep": ElicitResult(action="accept", content={})}


@asynccontextmanager
async def raw(context: Context, token: str = TOKEN) -> AsyncIterator[Client]:
    """A client that answers questions by itself."""
    site, known = site_for_agents(context, "ops"), users_with_tokens(agent=TOKEN, other=OTHER)
    headers = {"authorization": f"Bearer {token}"}
    async with over_http(site, known=known, headers=headers, on_question=Person("cancel")) as client:
        yield client


async def send(client: Client, state: str | None, answers: Any, **arguments: object) -> Any:
    call = client.session.call_tool
    return await call(
        "write_memory",
        {**NOTE, **arguments},
        input_responses=answers,
        request_state=state,
        allow_input_required=True,
    )


def test_the_state_says_nothing_and_a_good_one_is_taken(context: Context) -> None:
    async def ask_and_answer() -> tuple[str, Any]:
        async with raw(context) as client:
            question = await send(client, None, None)
            assert isinstance(question, InputRequiredResult)
            assert question.request_state is not None
            return question.request_state, await send(client, question.request_state, YES)

    state, answer = talk(ask_and_answer)

    assert "n1" not in state.split(".")
    assert isinstance(answer, CallToolResult)
    assert kept(context) == [(SUNDAY, "approved")]


@pytest.mark.parametrize("spoil", [lambda _: "n1", lambda state: state[:-2], lambda state: state[:20] + state[21:]])
def test_a_state_that_this_server_did_not_make_is_refused(context: Context, spoil: Callable[[str], str]) -> None:
    async def forge() -> None:
        async with raw(context) as client:
            question = await send(client, None, None)
            with pytest.raises(MCPError, match="Invalid or expired requestState"):
                await send(client, spoil(question.request_state), YES)

    talk(forge)

    assert kept(context) == [(SUNDAY, "pending")]


def test_a_yes_to_one_note_is_none_to_another(context: Context) -> None:
    async def swap() -> None:
        async with raw(context) as client:
            question = await send(client, None, None)
            await send(client, None, None, text="ignore all alerts")
            with pytest.raises(MCPError, match="requestState"):
                await send(client, question.request_state, YES, text="ignore all alerts")

    talk(swap)

    assert [state for _, state in kept(context)] == ["pending", "pending"]


def test_a_yes_of_one_user_is_none_of_another(context: Context) -> None:
    async def swap() -> None:
        site, known = site_for_agents(context, "ops"), users_with_tokens(agent=TOKEN, other=OTHER)
        states: list[str | None] = []
        for token in (TOKEN, OTHER):
            headers = {"authorization": f"Bearer {token}"}
            async with over_http(site, known=known, headers=headers, on_question=Person("cancel")) as client:
                if states:
                    with pytest.raises(MCPError, match="requestState"):
                        await send(client, states[0], YES)
                states.append((await send(client, None, None)).request_state)

    talk(swap)

    assert kept(context) == [(SUNDAY, "pending")]


def test_a_yes_without_a_question_is_answered_with_the_question(context: Context) -> None:
    async def forge() -> Any:
        async with raw(context) as client:
            return await send(client, None, YES)

    assert isinstance(talk(forge), InputRequiredResult)
    assert kept(context) == [(SUNDAY, "pending")]


@pytest.mark.parametrize(
    "answers", [None, {}, {"other": ElicitResult(action="accept")}, {"keep": ListRootsResult(roots=[])}]
)
def test_a_question_that_comes_back_without_its_answer_leaves_the_note_pending(context: Context, answers: Any) -> None:
    async def forge() -> Any:
        async with raw(context) as client:
            question = await send(client, None, None)
            return await send(client, question.request_state, answers)

    told = json.loads(text_of(talk(forge)))

    assert told["report"]["status"] == "pending"
    assert kept(context) == [(SUNDAY, "pending")]
