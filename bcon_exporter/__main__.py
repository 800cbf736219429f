"""`python -m bcon_exporter` and the console script."""

import sys

from bcon_exporter import cli


def main() -> None:
    """Run the command line and exit with its code."""
    sys.exit(cli.main())


if __name__ == "__main__":
    main()
