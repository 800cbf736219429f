"""What an alert says: its summary, and the diagnosis behind it, short enough for a chat message."""

import re  # noqa: TID251 - sees texts of our own rules
from collections.abc import Iterable, Mapping
from functools import cached_property

from bcon_exporter import RUNBOOKS_URL
from bcon_exporter.alerting import ALERTS, AlertRule, Labels, Scope, Tracked
from bcon_exporter.drift.wording import WOULD
from bcon_exporter.model.findings import LikelyCause, ServiceDrift
from bcon_exporter.model.masking import safe_text
from bcon_exporter.outputs.alertmanager.samples import container_of
from bcon_exporter.outputs.metrics.subjects import Subject
from bcon_exporter.outputs.metrics.writing import plain_label
from bcon_exporter.store import DriftScan, Store

LOG_LINES = 3
LOG_LINE_CHARS = 240
TEXT_CHARS = 500
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_RULES = {(rule.name, str(rule.severity)): rule for rule in ALERTS}
_DRIFT_TYPES_SHOWN = 3


class Wording:
    """The texts of alerts over the last scans.

    Args:
        instance: How texts name this host.
        subjects: The containers that the last diagnosis has something to tell of.
        runbooks_url: Where the runbooks lie.
    """

    def __init__(
        self, store: Store, instance: str, subjects: Mapping[Labels, Subject], runbooks_url: str = RUNBOOKS_URL
    ) -> None:
        self._instance = instance
        self._store = store
        self._subjects = subjects
        self._runbooks_url = runbooks_url

    @cached_property
    def _drifts(self) -> dict[Labels, list[ServiceDrift]]:
        return _differences(self._store.drift)

    def annotate(self, alert: Tracked) -> Tracked:
        """Return the alert with its texts; of what cannot be seen now with those it had."""
        rule = _RULES.get((alert.rule, alert.severity))
        if rule is None or not self._knows(rule, alert.labels):
            return alert if alert.annotations or rule is None else self._with_texts(alert, rule, {})
        return self._with_texts(alert, rule, self._findings(rule, alert.labels))

    def _knows(self, rule: AlertRule, labels: Labels) -> bool:
        match rule.scope:
            case Scope.CONTAINER:
                return container_of(labels) in self._subjects
            case Scope.SERVICE:
                return labels in self._drifts
            case Scope.EXPORTER:
                return True

    def _with_texts(self, alert: Tracked, rule: AlertRule, findings: Mapping[str, str]) -> Tracked:
        known = {**dict(alert.labels), "instance": self._instance}
        texts = {"summary": _fill(rule.summary, known), "description": _fill(rule.description, known), **findings}
        clean = {name: safe_text(text, max_chars=TEXT_CHARS) for name, text in texts.items() if name != "log"}
        log = {"log": findings["log"]} if findings.get("log") else {}
        return alert.model_copy(
            update={"annotations": {**clean, **log, "runbook_url": rule.runbook_url(self._runbooks_url)}}
        )

    def _findings(self, rule: AlertRule, labels: Labels) -> dict[str, str]:
        match rule.scope:
            case Scope.CONTAINER:
                return _diagnosis(rule, self._subjects[container_of(labels)], dict(labels).get("symptom"))
            case Scope.SERVICE:
                return _comparison(rule, self._drifts[labels])
            case Scope.EXPORTER:
                error = self._store.status("diagnose").error
                return {"cause": error.message} if rule.name == "BconDockerUnreachable" and error is not None else {}


def _differences(scan: DriftScan | None) -> dict[Labels, list[ServiceDrift]]:
    found: dict[Labels, list[ServiceDrift]] = {}
    for report in scan.reports if scan is not None else ():
        for each in report.differences:
            values = (
                ("drift", each.drift_type.value),
                ("project", report.project_name),
                ("service", each.service_name),
            )
            found.setdefault(tuple((name, plain_label(value)) for name, value in values), []).append(each)
    return found


def _fill(text: str, known: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: known.get(match[1], ""), text)


def _diagnosis(rule: AlertRule, subject: Subject, symptom: str | None) -> dict[str, str]:
    """Return what the diagnosis says of the symptom: its sentence, top cause, first suggestion, log lines."""
    report = subject.report
    seen = next((each for each in report.symptoms if each.type == symptom), None)
    cause = _top_cause(report.likely_causes, symptom)
    lines = cause.evidence if cause is not None and cause.evidence else _last_words(subject)
    return {
        "description": f"{rule.description} {seen.description}" if seen is not None else rule.description,
        **({"cause": _tell_cause(cause)} if cause is not None else {}),
        **({"suggestion": report.suggestions[0].action} if report.suggestions else {}),
        "log": _excerpt(lines),
    }


def _top_cause(causes: tuple[LikelyCause, ...], symptom: str | None) -> LikelyCause | None:
    """Return the likeliest cause of this symptom, else of any: an alert is about one of perhaps several."""
    ranked = sorted(causes, key=lambda cause: (symptom not in cause.related_symptoms, -cause.confidence))
    return ranked[0] if ranked else None


def _tell_cause(cause: LikelyCause) -> str:
    return f"{cause.description} [{cause.id}, confidence {cause.confidence:.0%}]"


def _last_words(subject: Subject) -> tuple[str, ...]:
    facts = subject.facts
    if facts.logs is not None and facts.logs.lines:
        return tuple(line.text for line in facts.logs.lines)
    ends = facts.lifecycle.exits if facts.lifecycle is not None else ()
    return ends[-1].last_lines if ends else ()


def _excerpt(lines: Iterable[str]) -> str:
    """Return the last lines, masked once more: they leave the host."""
    last = [line for line in lines if line.strip()][-LOG_LINES:]
    return "\n".join(" ".join(safe_text(line, max_chars=LOG_LINE_CHARS).split("\n")) for line in last)


def _comparison(rule: AlertRule, differences: list[ServiceDrift]) -> dict[str, str]:
    told = " ".join(each.message for each in differences[:_DRIFT_TYPES_SHOWN])
    more = len(differences) - _DRIFT_TYPES_SHOWN
    rest = f" And {more} more." if more > 0 else ""
    would = next((WOULD[each.compose_would] for each in differences if each.compose_would is not None), None)
    return {
        "description": f"{rule.description} {told}{rest}",
        **({"suggestion": f"Bring the files and the host together: {would}."} if would is not None else {}),
    }
