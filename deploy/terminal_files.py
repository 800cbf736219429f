"""Writes what the terminal has ready made: the table of the settings' flags, the man page. Run by `make docs`."""

import json
from argparse import BooleanOptionalAction, _AppendAction
from pathlib import Path

from argparse_manpage.manpage import Manpage

from bcon_exporter import REPOSITORY_URL, __version__
from bcon_exporter.cli.completion_command import make_whole_parser
from bcon_exporter.cli.parsing import Parser
from bcon_exporter.cli.setting_flags import Flag, FlagTable
from bcon_exporter.settings import add_setting_flags

ROOT = Path(__file__).parent.parent
MAN_PAGE = ROOT / "deploy/bcon-exporter.1"
TABLE = ROOT / "bcon_exporter/cli/setting_flags.json"


def make_table() -> FlagTable:
    """Return every section of settings, and every flag in the order of the settings' own parser."""
    parser = Parser(add_help=False)
    add_setting_flags(parser)
    groups = [group for group in parser._action_groups if group._group_actions]  # noqa: SLF001 -- argparse has no list
    section_of = {action: str(group.title) for group in groups for action in group._group_actions}  # noqa: SLF001
    flags = [
        Flag(
            name=action.option_strings[0].removeprefix("--"),
            section=section,
            kind=_kind(action),
            metavar=None if action.metavar is None else str(action.metavar),
            help=str(action.help),
        )
        for action in parser._actions  # noqa: SLF001
        if (section := section_of.get(action)) is not None
    ]
    return FlagTable(sections={str(group.title): group.description for group in groups}, flags=flags)


def _kind(action: object) -> str:
    if isinstance(action, BooleanOptionalAction):
        return "switch"
    return "append" if isinstance(action, _AppendAction) else "store"


def render_table() -> str:
    """Return the table as the text of its file."""
    return json.dumps(make_table(), indent=1, ensure_ascii=False) + "\n"


def render_man_page() -> str:
    """Return the man page, in the words of the parser of all commands; without a date: every build has another."""
    facts = {
        "project_name": "bcon-exporter",
        "version": __version__,
        "description": "diagnose the containers of a Docker host and their drift from Compose files, read-only",
        "manual_title": "bcon-exporter",
        "date": " ",
        "url": REPOSITORY_URL,
    }
    parser = make_whole_parser()
    page = Manpage(parser, format="pretty", _data=facts)
    return str(page)


if __name__ == "__main__":
    TABLE.write_text(render_table())
    MAN_PAGE.write_text(render_man_page())
