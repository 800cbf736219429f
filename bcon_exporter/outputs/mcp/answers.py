"""What agents are answered: by the tools of this process, in the agent's view."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from bcon_exporter.agents.answer_rendering import AgentAnswer, ViewOptions, find_host_name, render_answer, split_options
from bcon_exporter.agents.kept_pages import KeptPages
from bcon_exporter.agents.time_limits import call_within
from bcon_exporter.errors import BconError, RateLimitedError
from bcon_exporter.model.base import Frozen
from bcon_exporter.model.notes import Decision, WrittenNote
from bcon_exporter.model.reports import DriftReport
from bcon_exporter.model.tool_inputs import ProjectName
from bcon_exporter.outputs.http.request_threads import RequestThreads
from bcon_exporter.outputs.http.tool_calls import ToolCalls
from bcon_exporter.tools import Context, Envelope, Tool, find_tool, run_tool
from bcon_exporter.tools.envelope import failure, success
from bcon_exporter.tools.host_views import HOST_DRIFT, DriftOfHostInput
from bcon_exporter.tools.notes import APPROVE_NOTE, REFUSE_NOTE, WRITE_MEMORY


class Answers(Protocol):
    """Who answers agents: this process, or the daemon that it asks."""

    async def call(self, tool: Tool[Any], arguments: Mapping[str, object]) -> AgentAnswer:
        """Return a tool's answer; never raises but for cancellation."""

    async def read(self, tool: str, arguments: Mapping[str, object]) -> Any:
        """Return a tool's plain result as JSON values; None where it failed."""

    async def compare_project(self, project: str, options: ViewOptions) -> AgentAnswer:
        """Return where a project's containers have left its Compose files."""

    async def write_note(self, arguments: Mapping[str, object]) -> WrittenNote:
        """Keep an agent's note, which waits for a person; the same one again is kept once.

        Raises:
            BconError: It is not kept.
        """

    async def decide_note(self, note_id: str, decision: Decision) -> None:
        """Do what a person said of a note; for a person's word alone.

        Raises:
            BconError: It was not done.
        """

    async def show_note(self, written: WrittenNote, options: ViewOptions) -> AgentAnswer:
        """Return what became of a note as an agent reads it."""


class ProjectInput(Frozen):
    """A Compose project by its name."""

    project_name: ProjectName


def _compare(context: Context, request: ProjectInput) -> DriftReport:
    findings = HOST_DRIFT.run(context, DriftOfHostInput(project_name=request.project_name))
    report: DriftReport = findings.reports[0]
    return report


PROJECT_DRIFT = Tool(
    "detect_drift", "Compare a running project with its files.", ProjectInput, DriftReport, _compare, rows="differences"
)
"""As `detect_drift`, but by the project's name; only a resource, so it stands in no list of tools."""


class OwnAnswers:
    """Answers from this process's own context.

    Args:
        context: The context in force.
        threads: In which tools run.
        ask_name: Where no scan has told the name of the host, ask the engine for it.
    """

    def __init__(self, context: Callable[[], Context], threads: RequestThreads, *, ask_name: bool = False) -> None:
        self._context = context
        self._threads = threads
        self._ask_name = ask_name
        self._calls = ToolCalls(context, threads)
        self._kept = KeptPages()

    async def call(self, tool: Tool[Any], arguments: Mapping[str, object]) -> AgentAnswer:
        """Run a tool, within its time, or go on in a list that was read before."""
        options, payload = ViewOptions(), dict[str, Any]()
        try:
            tool = tool.for_input(arguments)
            options, payload = split_options(arguments, tool)
            if (page := self._kept.find(tool, payload, options)) is not None:
                return page
            envelope = await self._run(tool, payload)
        except BconError as error:
            envelope = failure(error)
        return self._kept.keep(tool, payload, options, await self._render(tool, envelope, options))

    async def read(self, tool: str, arguments: Mapping[str, object]) -> Any:
        """Run a tool and return its result as JSON values."""
        try:
            envelope = await self._run(find_tool(tool), arguments)
        except BconError:
            return None
        return None if envelope.error is not None else envelope.data()["result"]

    async def compare_project(self, project: str, options: ViewOptions) -> AgentAnswer:
        """Compare a project with its files now."""
        try:
            envelope = await self._threads.run(
                lambda: run_tool(self._context(), PROJECT_DRIFT, {"project_name": project})
            )
        except BconError as error:
            envelope = failure(error)
        return await self._render(PROJECT_DRIFT, envelope, options)

    async def write_note(self, arguments: Mapping[str, object]) -> WrittenNote:
        """Have the tool keep a note."""
        written: WrittenNote = _value_of(await self._run(WRITE_MEMORY, arguments))
        return written

    async def decide_note(self, note_id: str, decision: Decision) -> None:
        """Approve or refuse a note, where it is kept."""
        tool = APPROVE_NOTE if decision == "approved" else REFUSE_NOTE
        _value_of(await self._threads.run(lambda: run_tool(self._context(), tool, {"note_id": note_id})))

    async def show_note(self, written: WrittenNote, options: ViewOptions) -> AgentAnswer:
        """Render a note."""
        return await self._render(WRITE_MEMORY, success(written), options)

    async def _run(self, tool: Tool[Any], payload: Mapping[str, object]) -> Envelope:
        """Return the answer of a tool, or that it takes longer than it may; the run itself ends by itself.

        Raises:
            RateLimitedError: Too many are being worked on.
        """
        return await call_within(tool, self._calls.call(tool.name, payload))

    async def _render(self, tool: Tool[Any], envelope: Envelope, options: ViewOptions) -> AgentAnswer:
        context = self._context()

        def render(answered: Envelope) -> AgentAnswer:
            host_name = find_host_name(context, ask=self._ask_name and answered.error is None)
            return render_answer(tool, answered, options, host_name, context.now())

        try:
            return await self._threads.run(lambda: render(envelope))
        except RateLimitedError as error:
            return render(failure(error))


def _value_of(envelope: Envelope) -> Any:
    """Return a tool's result.

    Raises:
        BconError: It failed.
    """
    if envelope.error is not None:
        raise envelope.error
    return envelope.value
