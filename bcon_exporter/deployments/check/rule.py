"""What a rule of `check` is: a value; and what it says."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bcon_exporter.deployments.check.rule_context import PlannedDeployment
from bcon_exporter.model.check_report import CheckCode, CheckSeverity, NotChecked

FAILS, RISK, ADVICE = CheckSeverity.FAILS, CheckSeverity.RISK, CheckSeverity.ADVICE


@dataclass(frozen=True)
class Found:
    """What a rule has found.

    Attributes:
        key: Dotted path of the key that it is about; the nearest one above it that stands in a file counts.
        item: Text that the scalar below the key has, or has in it, where the key is a list.
        file, line: Where it stands, in place of a key.
    """

    severity: CheckSeverity
    message: str
    service: str | None = None
    evidence: tuple[str, ...] = ()
    key: str = ""
    item: str = ""
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class CheckRule:
    """One code and the pure function that finds it.

    Attributes:
        meaning: One sentence, for lists of rules.
        source: Where what it relies on is known from.
    """

    code: CheckCode
    meaning: str
    source: str
    find: Callable[[PlannedDeployment], Iterable[Found | NotChecked]]
