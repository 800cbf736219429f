"""`python -m bcon_exporter` and the console script."""

import sys

from bcon_exporter.start_signals import hold_signals


def main() -> None:
    """Run the command line and exit with its code."""
    if "serve" in sys.argv[1:]:  # or a container of that name: who parses the words gives the signals back
        hold_signals()
    from bcon_exporter import cli  # takes half a second

    sys.exit(cli.main())


if __name__ == "__main__":
    main()
