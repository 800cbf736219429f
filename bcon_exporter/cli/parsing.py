"""Parses a command line: the command, its arguments, the settings; names every typo."""

import os
import sys
from argparse import Action, ArgumentError, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pkgutil import resolve_name
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from bcon_exporter.cli.setting_flags import add_flags_of_table, list_switches
from bcon_exporter.errors import SettingsError
from bcon_exporter.model.name_suggestions import did_you_mean
from bcon_exporter.secrets.cleaning import clean_name
from bcon_exporter.stages import STABLE, Stage

if TYPE_CHECKING:
    from bcon_exporter.settings import Settings

PROGRAM = "bcon-exporter"
NO_SETTINGS: tuple[str, ...] = ()
ENGINE_SETTINGS = ("docker.host", "config.file")
ALL_SETTINGS = ("*",)
_MOVED = {"cost": "call get_cost_report"}
_HELP = "help"
_MEANT = {
    "containers": "list",
    "dashboard": "dashboards",
    "doctor": "diagnose",
    "events": "history",
    "inspect": "info",
    "ls": "list",
    "mute": "quiet",
    "ps": "list",
    "silence": "quiet",
    "status": "diagnose",
    "top": "stats",
    "unmute": "unquiet",
    "why": "diagnose",
}
"""Words that people try → the command that does it."""
_MORE_SETTINGS = "every setting of `bcon-exporter serve --help` may be given here too, as flag or BCON_… variable"


class Parser(ArgumentParser):
    """An argument parser that raises instead of exiting."""

    def error(self, message: str) -> NoReturn:
        """Raise the message as one of ours."""
        raise SettingsError(f"{message}; see {self.prog} --help", {})  # noqa: EM102 -- argparse's message

    def _check_value(self, action: Action, value: object) -> None:
        """Refuse what is none of the choices, and say which there are and which was meant."""
        if action.choices is not None and value not in action.choices:
            names = [str(choice) for choice in action.choices]
            shown = clean_name(str(value))[:64]
            raise ArgumentError(action, f"{shown!r} is none of {', '.join(names)}{did_you_mean(shown, names)}")


class Command(NamedTuple):
    """One subcommand.

    Attributes:
        group: Heading under which the overview lists it.
        add_arguments: Adds the command's own arguments.
        run: "module:function" in this package; the function does it and returns the exit code.
        settings: Those that `--help` lists; all are taken. With NO_SETTINGS none is read where none is given.
        stage: Stable where a command says nothing else.
    """

    name: str
    group: str
    summary: str
    add_arguments: Callable[[ArgumentParser], None]
    run: str
    settings: tuple[str, ...] = ENGINE_SETTINGS
    stage: Stage = STABLE

    @property
    def description(self) -> str:
        """What it does, with its stage unless it is stable."""
        return self.stage.add_to(self.summary)

    def start(self, call: "Invocation") -> int:
        """Do it and return the exit code; what it needs is imported now. A deprecated one says so first."""
        if self.stage.notice:
            sys.stderr.write(f"{PROGRAM}: {self.name} is {self.stage.notice}\n")
        function: Callable[[Invocation], int] = resolve_name(f"bcon_exporter.cli.{self.run}")
        return function(call)

    def shows_setting(self, dotted: str) -> bool:
        """Return whether `--help` lists a setting."""
        return self.settings == ALL_SETTINGS or dotted in self.settings


class Invocation:
    """What a command was asked for.

    Attributes:
        reload: Reads all settings anew, with the same flags.
        needs_settings: False where the command reads no setting and none was given.
    """

    def __init__(self, arguments: Namespace, reload: "Callable[[], Settings]", *, needs_settings: bool = True) -> None:
        self.arguments = arguments
        self.reload = reload
        self.needs_settings = needs_settings

    @cached_property
    def settings(self) -> "Settings":
        """All settings, as they were when they were first asked for."""
        return self.reload()


def find_command(argv: Sequence[str], commands: Iterable[Command]) -> tuple[Command | None, list[str]]:
    """Return the command and the other words; flags may stand before and after it.

    Raises:
        SettingsError: The first word is no command.
    """
    by_name = {command.name: command for command in commands}
    index = _find_word(argv)
    if index is None:  # a switch of the command itself stood before it and seemed to take it as its value
        index = next((place for place, word in enumerate(argv) if word in by_name), None)
    if index is None:
        return None, list(argv)
    if argv[index] == _HELP:
        return find_command([*argv[:index], *argv[index + 1 :], "--help"], by_name.values())
    if argv[index] in by_name:
        return by_name[argv[index]], [*argv[:index], *argv[index + 1 :]]
    shown = clean_name(argv[index])[:64]
    if shown in _MOVED:
        msg = f"there is no command {shown!r} any more; it is `{PROGRAM} {_MOVED[shown]}`"
        raise SettingsError(msg, {"command": shown})
    meant = f"; did you mean {_MEANT[shown]}?" if shown in _MEANT else did_you_mean(shown, by_name)
    msg = f"there is no command {shown!r}{meant or f'; see {PROGRAM} --help'}"
    raise SettingsError(msg, {"command": shown})


def find_format(argv: Sequence[str], commands: Iterable[Command]) -> str:
    """Return the format of a command line that may be wrong elsewhere: the last one asked for, or the command's own."""
    asked = read_format(argv)
    if asked is not None:
        return asked
    if any(word == "--select" or word.startswith("--select=") for word in argv):
        return "json"
    parser = Parser()
    try:
        command, _ = find_command(argv, commands)
    except SettingsError:
        command = None
    if command is not None:
        command.add_arguments(parser)
    return parser.get_default("format") or "table"


def read_format(argv: Sequence[str]) -> str | None:
    """Return the format that a command line asks for, the last one of several; None where it asks for none."""
    for flag, form in reversed(list(pairwise([*argv, ""]))):
        if flag == "--format":
            return form
        if flag.startswith("--format="):
            return flag.removeprefix("--format=")
    return None


def _find_word(argv: Sequence[str]) -> int | None:
    """Return the place of the first word that is neither a flag nor a flag's value."""
    switches = {"-h", "--help", "--version", *list_switches()}
    is_value = False
    for index, word in enumerate(argv):
        if not is_value and not word.startswith("-"):
            return index
        is_value = not is_value and word not in switches and "=" not in word
    return None


def parse(command: Command, words: Sequence[str], environ: Mapping[str, str] | None = None) -> Invocation:
    """Return what the command was asked for, with all settings.

    `--help` prints and ends the process.

    Raises:
        SettingsError: One line that names what is wrong.
    """
    if not command.settings or "-h" in words or "--help" in words:
        parser = make_parser(command)
        arguments, unknown = parser.parse_known_intermixed_args(list(words))
        if not unknown and not any("." in name for name in vars(arguments)) and not _has_setting(environ):
            return Invocation(arguments, lambda: _load({}, environ), needs_settings=bool(command.settings))
    return _parse_with_settings(command, words, environ)


def make_parser(command: Command) -> Parser:
    """Return a command's parser, with every setting as a flag; its settings' names stand in a table."""
    parser = _make_bare_parser(command)
    add_flags_of_table(parser, command.shows_setting)
    return parser


def fill_parser(parser: ArgumentParser, command: Command) -> None:
    """Give a parser a command's arguments and the flags of the settings."""
    command.add_arguments(parser)
    add_flags_of_table(parser, command.shows_setting)


def _make_bare_parser(command: Command) -> Parser:
    parser = Parser(
        prog=f"{PROGRAM} {command.name}",
        description=command.description,
        epilog=None if command.settings in (NO_SETTINGS, ALL_SETTINGS) else _MORE_SETTINGS,
        allow_abbrev=False,
        formatter_class=RawDescriptionHelpFormatter,
    )
    command.add_arguments(parser)
    return parser


def _has_setting(environ: Mapping[str, str] | None) -> bool:
    names = os.environ if environ is None else environ  # noqa: TID251 -- whether the settings are to be read at all
    return any(name.startswith("BCON_") for name in names)


def _parse_with_settings(command: Command, words: Sequence[str], environ: Mapping[str, str] | None) -> Invocation:
    from bcon_exporter.settings import add_setting_flags  # takes 0.2 s: only for commands that need settings

    parser = _make_bare_parser(command)
    read = add_setting_flags(parser, command.shows_setting)
    arguments, unknown = parser.parse_known_intermixed_args(list(words))
    if unknown:
        raise _unknown(unknown[0], parser)
    flags = read(arguments)
    return Invocation(arguments, lambda: _load(flags, environ))


def _load(flags: Mapping[str, object], environ: Mapping[str, str] | None) -> "Settings":
    from bcon_exporter.settings import load_settings  # as above

    return load_settings(flags, environ)


def _unknown(word: str, parser: ArgumentParser) -> SettingsError:
    flag = clean_name(word.partition("=")[0])[:64]
    if not flag.startswith("-"):
        return SettingsError(f"unexpected argument {flag!r}; see {parser.prog} --help", {"argument": flag})
    flags = [option for action in parser._actions for option in action.option_strings]  # noqa: SLF001 -- no public list
    return SettingsError(f"unknown flag {flag}{did_you_mean(flag, flags)}", {"flag": flag})
