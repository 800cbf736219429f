"""What is told of a rule that raised: a defect of ours, for whoever reports or mends it."""

from collections.abc import Iterable, Mapping
from pathlib import PurePath


def describe_fault(rule: str, error: BaseException) -> str:
    """Return "RULE (TypeError at file.py:12)"; nothing of the error's own words, which may hold a secret."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f" at {PurePath(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
    return f"{rule} ({type(error).__name__}{place})"


def list_faults(rules: Iterable[str], faults: Mapping[str, str]) -> str:
    """Return one sentence about rules that raised, each with its fault where that is known."""
    return f"Rules that failed: {', '.join(faults.get(rule, rule) for rule in rules)}; please report this."
