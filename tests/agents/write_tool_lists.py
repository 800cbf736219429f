"""Writes the lists of tools in every form anew: `python -m tests.agents.write_tool_lists`."""

import json

from bcon_exporter.agents.schemas import FORMATS, TOOLSETS, describe_tools
from tests.agents.test_schemas import LISTS


def write() -> None:
    """Write each form's list."""
    LISTS.mkdir(exist_ok=True)
    for form, strict in [*((form, False) for form in FORMATS), ("openai", True)]:
        described = describe_tools(form, TOOLSETS, strict=strict)
        name = f"{form}{'-strict' if strict else ''}.json"
        (LISTS / name).write_text(json.dumps(described, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    write()
