"""The flags of the settings, from a table: loading the settings takes 0.2 s, too long for help and completion.

`make docs` writes setting_flags.json from the settings; a test compares the two.
"""

import json
from argparse import SUPPRESS, ArgumentParser, BooleanOptionalAction, _ArgumentGroup
from collections.abc import Callable
from functools import cache
from pkgutil import get_data
from typing import TypedDict


class Flag(TypedDict):
    """The flag of one setting; a switch has no metavar."""

    name: str
    section: str
    kind: str
    metavar: str | None
    help: str


class FlagTable(TypedDict):
    """The headings under which `--help` lists settings, with their summaries, and the flags in order."""

    sections: dict[str, str | None]
    flags: list[Flag]


@cache
def read_table() -> FlagTable:
    """Return the sections and flags."""
    table: FlagTable = json.loads(get_data(__name__, "setting_flags.json") or "{}")
    return table


def list_switches() -> tuple[str, ...]:
    """Return the flags that take no value."""
    return tuple(f"--{flag['name']}" for flag in read_table()["flags"] if flag["kind"] == "switch")


def add_flags_of_table(parser: ArgumentParser, shown: Callable[[str], bool]) -> None:
    """Give the parser a flag for each setting, as `bcon_exporter.settings.add_setting_flags` does.

    Args:
        parser: Of a command.
        shown: Tells for a dotted name whether `--help` lists it.
    """
    table = read_table()
    headed = {flag["section"] for flag in table["flags"] if shown(flag["name"])}
    groups = {
        title: parser.add_argument_group(*((title, summary) if title in headed else ()))
        for title, summary in table["sections"].items()
    }
    for flag in table["flags"]:
        _add(groups[flag["section"]], flag, flag["help"] if shown(flag["name"]) else SUPPRESS)


def _add(group: _ArgumentGroup, flag: Flag, text: str) -> None:
    option, dest = f"--{flag['name']}", flag["name"].replace("-", "_")
    if flag["kind"] == "switch":
        group.add_argument(option, dest=dest, action=BooleanOptionalAction, default=SUPPRESS, help=text)
        return
    group.add_argument(option, dest=dest, action=flag["kind"], metavar=flag["metavar"], default=SUPPRESS, help=text)
