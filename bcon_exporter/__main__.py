"""`python -m bcon_exporter` and the console script."""

import os
import sys

from bcon_exporter.signals_during_start import hold_signals, interrupt_again_if_lost


def main() -> None:
    """Run the command line and exit with its code."""
    if "_ARGCOMPLETE" in os.environ:  # noqa: TID251 -- the shell's question at each Tab, no setting
        from bcon_exporter.cli.completion_command import answer_shell

        answer_shell()
    interrupt_again_if_lost()
    if "serve" in sys.argv[1:]:  # or a container of that name: who parses the words gives the signals back
        hold_signals()
    from bcon_exporter import cli

    code = cli.main()
    sys.exit(code)


if __name__ == "__main__":
    main()
