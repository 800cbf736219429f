"""Where people are led from outside: an alert, a message and a metric cannot have relative links."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where people are led.

    Attributes:
        page: Where people reach this exporter, without a slash at the end; None where nobody said.
        runbooks: Where the runbooks lie, with a slash at the end; None where nobody said.
    """

    page: str | None = None
    runbooks: str | None = None

    def annotate_runbook(self, alert: str) -> dict[str, str]:
        """Return the annotation that leads to the runbook of an alert; none where nobody knows its place."""
        return {"runbook_url": f"{self.runbooks}{alert}.md"} if self.runbooks is not None else {}
