"""The shape of an alert."""

from dataclasses import dataclass
from enum import StrEnum

from bcon_exporter import RUNBOOKS_URL
from bcon_exporter.alerting.expressions import Expr, OnlyPrometheus

MINUTE, HOUR, DAY = 60, 3600, 86400


class AlertSeverity(StrEnum):
    """How urgently somebody should be told: at once, today, now and then; "none" is for the dead man's switch."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"
    NONE = "none"


class Scope(StrEnum):
    """What an alert is about: bcon-exporter itself, one container, or one service of a Compose project."""

    EXPORTER = "exporter"
    CONTAINER = "container"
    SERVICE = "service"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRule:
    """One alert.

    Attributes:
        expr: When it is true.
        wait_seconds: It fires when that has been true for so long without a break (`for`).
        keep_seconds: It goes on firing for so long after it was true last (`keep_firing_for`).
        summary, description: Texts; `{name}` stands for a label.
        opt_in: Stands in the rule file as a comment; never pushed.
    """

    name: str
    scope: Scope
    severity: AlertSeverity
    expr: Expr
    wait_seconds: int = 0
    keep_seconds: int = 0
    summary: str
    description: str
    opt_in: bool = False

    def runbook_url(self, runbooks_url: str = RUNBOOKS_URL) -> str:
        """Return where people read what it means and what to do, below the place where the runbooks lie."""
        return f"{runbooks_url}{self.name}.md"

    @property
    def only_prometheus(self) -> bool:
        """True for what the exporter cannot say of itself: that it is not there, or is not heard."""
        return isinstance(self.expr, OnlyPrometheus)
