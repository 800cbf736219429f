"""A good input for every operation of Flux and Scout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bcon_exporter.model.operations import read_fields
from bcon_exporter.tools.operation_table import HELP
from bcon_exporter.tools.operations import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bcon_exporter.model.operations import Operation
    from bcon_exporter.tools import Tool


ONE_OPERATION: Mapping[str, Mapping[str, Any]] = {
    "flux": {"action": "container", "subaction": "list"},
    "scout": {"action": "nodes"},
}
"""Tool of many operations → one that any host answers."""


def payload_for(tool: Tool[Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the inputs that a tool takes; of a tool of many operations one of them."""
    chosen = ONE_OPERATION.get(tool.name)
    return dict(chosen) if chosen else {name: inputs[name] for name in inputs if name in tool.input_model.model_fields}


def action_of(operation: Operation) -> dict[str, Any]:
    """The words that name an operation."""
    action, _, subaction = operation.key.partition(":")
    return {"action": action, **({"subaction": subaction} if subaction else {})}


def good_inputs(
    tool: str, *, container: str = "api", project: str = "shop", file: str = "/srv/compose.yaml", image: str = "app:1"
) -> Iterator[tuple[Operation, dict[str, Any]]]:
    """Yield each operation with what it must be given, and what makes it answer most."""
    known: dict[str, Any] = {
        "host": "localhost",
        "container_id": container,
        "project": project,
        "query": container,
        "command": "cat /etc/hosts",
        "image": image,
        "prune_target": "all",
        "context": "/srv",
        "tag": image,
        "target": f"localhost:{file}",
        "targets": [f"localhost:{file}"],
        "pattern": "*",
        "source": file,
        "destination": "/tmp/x",
    }
    for operation in (HELP, *TABLES[tool]):
        fields = {spec.name: spec.default for spec in read_fields(operation.fields)}
        payload = {name: known[name] for name, default in fields.items() if default is ...}
        more: dict[str, Any] = {"remove_volumes": True} if "remove_volumes" in fields else {}
        more |= {"content": "a: 1\n"} if operation.key == "delta" else {}
        yield operation, {**action_of(operation), **payload, **more}
