"""Finds the command on a command line and reads its arguments and settings; every typo is named."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn

from bcon_exporter.errors import SettingsError
from bcon_exporter.model.cleaning import clean_name
from bcon_exporter.model.nearest import did_you_mean
from bcon_exporter.settings import Settings, add_setting_flags, list_settings, load_settings

PROGRAM = "bcon-exporter"
_COMMON_SETTINGS = ("docker.host", "config.file")
_MORE_SETTINGS = "every setting of `bcon-exporter serve --help` may be given here too, as flag or BCON_… variable"


class Parser(ArgumentParser):
    """An argument parser that raises instead of exiting."""

    def error(self, message: str) -> NoReturn:
        """Raise the message as one of ours."""
        raise SettingsError(f"{message}; see {self.prog} --help", {})  # noqa: EM102 -- argparse's message


@dataclass(frozen=True)
class Command:
    """One subcommand.

    Attributes:
        group: Heading under which the overview lists it.
        add_arguments: Adds the command's own arguments.
        run: Does it and returns the exit code.
        all_settings: `--help` lists every setting.
    """

    name: str
    group: str
    summary: str
    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[["Invocation"], int]
    all_settings: bool = False


@dataclass(frozen=True)
class Invocation:
    """What a command was asked for.

    Attributes:
        reload: Reads all settings anew, with the same flags.
    """

    arguments: Namespace
    settings: Settings
    reload: Callable[[], Settings]


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
    if argv[index] in by_name:
        return by_name[argv[index]], [*argv[:index], *argv[index + 1 :]]
    shown = clean_name(argv[index])[:64]
    msg = f"there is no command {shown!r}{did_you_mean(shown, by_name) or f'; see {PROGRAM} --help'}"
    raise SettingsError(msg, {"command": shown})


def find_format(argv: Sequence[str], commands: Iterable[Command]) -> str:
    """Return the format of a command line that may be wrong elsewhere: the last one asked for, or the command's own."""
    for flag, form in reversed(list(pairwise([*argv, ""]))):
        if flag == "--format":
            return form
        if flag.startswith("--format="):
            return flag.removeprefix("--format=")
    parser = Parser()
    try:
        command, _ = find_command(argv, commands)
    except SettingsError:
        command = None
    if command is not None:
        command.add_arguments(parser)
    return parser.get_default("format") or "table"


def _find_word(argv: Sequence[str]) -> int | None:
    """Return the place of the first word that is neither a flag nor a flag's value."""
    switches = {"-h", "--help", "--version"}
    switches |= {f"--{name}" for name, field in list_settings().items() if field.annotation is bool}
    is_value = False
    for index, word in enumerate(argv):
        if not is_value and not word.startswith("-"):
            return index
        is_value = not is_value and word not in switches and "=" not in word
    return None


def parse(command: Command, words: Sequence[str], environ: Any = None) -> Invocation:
    """Return what the command was asked for, with all settings.

    Raises:
        SettingsError: One line that names what is wrong.
    """
    parser = Parser(
        prog=f"{PROGRAM} {command.name}",
        description=command.summary,
        epilog=None if command.all_settings else _MORE_SETTINGS,
        allow_abbrev=False,
        formatter_class=RawDescriptionHelpFormatter,
    )
    command.add_arguments(parser)
    read = add_setting_flags(parser, lambda name: command.all_settings or name in _COMMON_SETTINGS)
    arguments, unknown = parser.parse_known_intermixed_args(list(words))
    if unknown:
        raise _unknown(unknown[0], parser)
    flags = read(arguments)
    return Invocation(arguments, load_settings(flags, environ), lambda: load_settings(flags, environ))


def _unknown(word: str, parser: ArgumentParser) -> SettingsError:
    flag = clean_name(word.partition("=")[0])[:64]
    if not flag.startswith("-"):
        return SettingsError(f"unexpected argument {flag!r}; see {parser.prog} --help", {"argument": flag})
    known = [option for action in parser._actions for option in action.option_strings]  # noqa: SLF001 -- no public list
    return SettingsError(f"unknown flag {flag}{did_you_mean(flag, known)}", {"flag": flag})
