"""Rules that raised in a scan: counted each time, logged the first time."""

import logging
from collections.abc import Iterable

from bcon_exporter.model.reports import DiagnosisReport, DriftReport
from bcon_exporter.tools import Context

_log = logging.getLogger(__name__)


def count_rule_errors(context: Context, reports: Iterable[DiagnosisReport] | Iterable[DriftReport]) -> None:
    """Count each rule once for each report in which it raised; log what and where when it does so first."""
    raised = [(report, rule) for report in reports for rule in report.rule_errors]
    new = context.scans.count_rule_errors(rule.value for _, rule in raised)
    logged = {
        fault
        for report, _ in raised
        for rule, fault in zip(report.rule_errors, report.rule_faults, strict=True)
        if rule in new
    }
    for fault in sorted(logged):
        _log.error("a rule failed because of a defect; please report this: %s", fault)
