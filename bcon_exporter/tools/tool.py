"""A tool as a value."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

from pydantic import TypeAdapter

from bcon_exporter.model.base import Frozen
from bcon_exporter.stages import STABLE, Stage
from bcon_exporter.tools.context import Context

I = TypeVar("I", bound=Frozen)  # noqa: E741 -- the input

Toolset = Literal["core", "ops", "agents", "flux", "scout"]
"""Which tools an agent is offered: the core unless more is asked for (`mcp.toolsets`)."""
Effect = Literal["read", "own_state"]
"""What a call changes: nothing, or what this program keeps of its own. Nothing here can change the host."""


@dataclass(frozen=True, eq=False)
class Tool(Generic[I]):
    """One tool, declared once: HTTP routes, commands and schemas are derived from it.

    Attributes:
        name: As docs/api.md names it; part of the URL.
        summary: One line for people and agents, without its stage.
        input_model: What it accepts; everything else is refused.
        output_type: Type of the result, a model or a tuple of models.
        run: The function; raises BconError kinds only.
        of_past: Answered from what a daemon remembers: a command without the daemon's state file has the daemon answer.
        works: True when it asks the engine: identical requests share a run and few run at once.
        toolset: Which of the sets it belongs to.
        effect: What it changes; the annotations that agents see come from it.
        timeout_seconds: After so long an agent is told that it takes too long.
        find_own_seconds: Returns how long its input asks it to take beside that, where nothing goes on between calls.
        choose: Of a tool with many operations: returns the one that an input asks for, as a tool of its own.
        also_named: Fields of its other operations, where null is the same as leaving them out.
        answer_format: In which agents get its answer where they do not say.
        rows: Field of the result that lists what was found, the most important first: an agent reads it in pages.
        stage: Stable where a tool says nothing else.
    """

    name: str
    summary: str
    input_model: type[I]
    output_type: Any
    run: Callable[[Context, I], Any]
    works: bool = True
    of_past: bool = False
    toolset: Toolset = "ops"
    effect: Effect = "read"
    timeout_seconds: float = 30.0
    find_own_seconds: Callable[[I], float] = lambda _: 0.0
    choose: "Callable[[Mapping[str, object]], Tool[Any]] | None" = None
    also_named: frozenset[str] = frozenset()
    answer_format: Literal["json", "markdown"] = "json"
    rows: str | None = None
    stage: Stage = STABLE

    @property
    def description(self) -> str:
        """What it does, and what to use instead where it is deprecated."""
        return self.stage.warn_in(self.summary)

    def for_input(self, payload: object) -> "Tool[Any]":
        """Return the tool that an input asks for: itself, or one of its operations.

        Raises:
            InvalidInputError: It has no such operation.
        """
        return self if self.choose is None or not isinstance(payload, Mapping) else self.choose(payload)

    def answer(self, context: Context, request: I) -> Any:
        """Return the result, from the daemon where it is about a past that this process has no file of."""
        told = None
        if self.of_past and context.ask_past is not None:
            told = context.ask_past(self.name, request.model_dump(mode="json", exclude_none=True), self.output)
        return self.run(context, request) if told is None else told

    @cached_property
    def output(self) -> TypeAdapter[Any]:
        """Writes the result as JSON, and its schema."""
        return TypeAdapter(self.output_type)

    @cached_property
    def _input_schema(self) -> dict[str, Any]:
        return self.input_model.model_json_schema()

    def input_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the input: the same object each time, which nobody changes."""
        return self._input_schema

    def output_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the result."""
        return self.output.json_schema(mode="serialization")
