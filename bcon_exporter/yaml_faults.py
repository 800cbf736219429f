"""What PyYAML raises over a text that a person wrote."""

import yaml

YAML_FAULTS = (yaml.YAMLError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError)
"""Over impossible dates, numbers of 5,000 digits and forced types (`!!int ""`) it stumbles with Python's own errors."""


def tell_fault(error: Exception) -> str:
    """Return the rest of a sentence that begins with the file; the parser's own words quote it."""
    match error:
        case yaml.YAMLError():
            return "is not valid YAML"
        case RecursionError():
            return "is nested too deeply"
        case _:
            return "has a value that YAML cannot read"


def line_of_fault(error: Exception) -> int | None:
    """Return the line, from 1; None where the parser does not tell."""
    mark = getattr(error, "problem_mark", None)
    return None if mark is None else int(mark.line) + 1
