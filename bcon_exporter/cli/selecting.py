"""--select: what a JMESPath expression chooses of an answer in JSON (docs/agents.md)."""

import json
from argparse import ArgumentParser, Namespace

from bcon_exporter.errors import SettingsError


def add_select(parser: ArgumentParser) -> None:
    """Add --select."""
    parser.add_argument(
        "--select", metavar="EXPRESSION", help="print what a JMESPath expression chooses of the result, as JSON"
    )


def prepare_select(given: Namespace, asked_format: str | None) -> None:
    """Check the expression before any work is done, and have JSON printed, or what agents read.

    Raises:
        InvalidInputError, SettingsError: It is no expression, or another format is asked for.
    """
    expression = getattr(given, "select", None)
    if expression is None:
        return
    from bcon_exporter.agents.select import check_expression  # few ask for it

    if asked_format not in (None, "json", "agent"):
        msg = f"--select and --format {asked_format} exclude each other: what is selected is JSON"
        raise SettingsError(msg, {"flag": "--select"})
    check_expression(expression)
    if asked_format is None:
        given.format = "json"


def choose(expression: str | None, text: str) -> str:
    """Return what an expression chooses of a result in its envelope, or of JSON without one; all of it for None.

    Raises:
        InvalidInputError: The expression does not fit, or asks for too much.
    """
    if expression is None:
        return text
    from bcon_exporter.agents.select import result_body, select  # as above

    whole = json.loads(text)
    if isinstance(whole, dict) and set(whole) == {"result"}:
        return result_body(select(expression, whole["result"], len(text))).decode() + "\n"
    return json.dumps(select(expression, whole, len(text)), ensure_ascii=False, separators=(",", ":")) + "\n"
