"""JMESPath whose cost is bounded, whatever an expression says.

JMESPath has no loops, and yet 512 characters may ask for more than there is memory: each `| [@, @]` doubles what
stands before it. So steps are counted, and what is made is weighed: a value that stands in two places counts twice, as
it would be written. What a comparison or a function then does is bounded by the weight of what it is given.
"""

import json
from collections.abc import Mapping
from typing import Any

from jmespath import functions, visitor

LEAST_LIMIT = 1024 * 1024
"""What is made may weigh so many characters, or twice the value that is chosen from where that is more."""
LEAST_STEPS = 100_000
_CHARACTERS_A_STEP = 256
"""What C does with so many characters takes as long as one step."""
_MEMBERS_A_STEP = 4
_ARGUMENTS_OF_JOIN = 2
_MAKERS = frozenset(
    {
        *("flatten", "projection", "value_projection", "filter_projection", "slice"),
        *("multi_select_list", "multi_select_dict", "function_expression"),
    }
)
"""Kinds of nodes that make values. The others only find them."""


class TooCostlyError(Exception):
    """An expression asks for too much; the text says of what."""


class _Functions(functions.Functions):  # type: ignore[misc]  # the library has no types
    """JMESPath's functions. The text of an expression reference would be an address in memory."""

    @functions.signature({"types": ["array", "boolean", "null", "number", "object", "string"]})  # type: ignore[untyped-decorator]
    def _func_to_string(self, value: Any) -> str:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class BoundedInterpreter(visitor.TreeInterpreter):  # type: ignore[misc]  # as above
    """Evaluates a parsed expression, by `visit`; for one evaluation only.

    Args:
        size: Characters of the value that is chosen from.
    """

    def __init__(self, size: int) -> None:
        super().__init__(visitor.Options(custom_functions=_Functions()))
        self._limit = max(LEAST_LIMIT, 2 * size)
        self._steps_left = LEAST_STEPS + self._limit // 16
        self._text = 0
        self._weights: dict[int, tuple[Any, int]] = {}

    def visit(self, node: Mapping[str, Any], *arguments: Any, **named: Any) -> Any:
        """Return what a node of the expression makes of a value.

        Raises:
            TooCostlyError: It is too much.
        """
        self._spend(1)
        made = super().visit(node, *arguments, **named)
        if node["type"] in _MAKERS:
            self._check(self._weigh(made))
        return made

    def visit_comparator(self, node: Mapping[str, Any], value: Any) -> Any:
        """Compare two values, at the cost of their weight."""
        return super().visit_comparator(self._with_values(node, value), value)

    def visit_function_expression(self, node: Mapping[str, Any], value: Any) -> Any:
        """Call a function, at the cost of its arguments' weight; all text that functions make counts together."""
        ready = self._with_values(node, value)
        if node["value"] == "join":
            self._check_join([child["value"] for child in ready["children"]])
        made = super().visit_function_expression(ready, value)
        if isinstance(made, str):
            self._text += len(made)
            self._check(self._text)
        return made

    def _check_join(self, arguments: list[Any]) -> None:
        if len(arguments) == _ARGUMENTS_OF_JOIN and isinstance(arguments[0], str) and isinstance(arguments[1], list):
            self._check(len(arguments[0]) * len(arguments[1]))

    def _with_values(self, node: Mapping[str, Any], value: Any) -> dict[str, Any]:
        """Return a node with values in place of the expressions that stand for them."""
        values = [self.visit(child, value) for child in node["children"]]
        self._spend(sum(map(self._weigh, values)) // _CHARACTERS_A_STEP)
        return {**node, "children": [{"type": "literal", "value": one, "children": []} for one in values]}

    def _spend(self, steps: int) -> None:
        self._steps_left -= steps
        if self._steps_left < 0:
            msg = "takes too long; choose a part of the report first"
            raise TooCostlyError(msg)

    def _check(self, weight: int) -> None:
        if weight > self._limit:
            msg = f"makes more than {self._limit // 1024} KiB; choose less"
            raise TooCostlyError(msg)

    def _weigh(self, value: Any) -> int:
        """Return how many characters a value has as JSON, about; each list and object is gone through once."""
        match value:
            case str():
                return len(value) + 2
            case int():
                return 5 + value.bit_length() // 3
            case list() | dict():
                known = self._weights.get(id(value))
                if known is None:
                    known = self._weights[id(value)] = value, self._weigh_members(value)
                return known[1]  # the value is kept, so that no other one gets its id
            case _:
                return 5

    def _weigh_members(self, value: list[Any] | dict[str, Any]) -> int:
        self._spend(len(value) // _MEMBERS_A_STEP)
        weight = 2 + 2 * len(value) + sum(map(self._weigh, value))
        return weight + sum(map(self._weigh, value.values())) if isinstance(value, dict) else weight
