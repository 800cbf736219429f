"""Shell completion: the script that a shell reads once, and the answer to each Tab."""

from bcon_exporter.cli.commands import COMMANDS
from bcon_exporter.cli.exits import Exit
from bcon_exporter.cli.parsing import PROGRAM, Invocation, Parser, fill_parser
from bcon_exporter.cli.screen import write_out


def print_completion(call: Invocation) -> int:
    """Print the script that makes a shell complete our commands."""
    from argcomplete.shell_integration import shellcode

    write_out(shellcode([PROGRAM], True, call.arguments.shell) + "\n")  # noqa: FBT003 -- file names where nothing else fits
    return Exit.FINE


def answer_shell() -> None:
    """Print the words that may follow, and end the process."""
    import argcomplete

    # Flags are offered after a dash only: a container's name would drown among all settings.
    argcomplete.autocomplete(make_whole_parser(), always_complete_options=False, validator=_begins_with)


def make_whole_parser() -> Parser:
    """Return the parser of all commands; settings' names come from the table."""
    parser = Parser(
        prog=PROGRAM, description="Says what is wrong with the containers of a Docker host, why, and what to do."
    )
    parser.add_argument("--version", action="store_true", help="show the version")
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=Parser)
    for command in COMMANDS:
        subparser = commands.add_parser(command.name, help=command.description, description=command.description)
        fill_parser(subparser, command)
    return parser


def _begins_with(candidate: str, typed: str) -> bool:
    return candidate.startswith(typed)
