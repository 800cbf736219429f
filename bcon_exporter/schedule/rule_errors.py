"""Rules that raised in a scan: counted each time, logged the first time."""

import logging
from collections.abc import Iterable

from bcon_exporter.model.reports import DiagnosisReport, DriftReport
from bcon_exporter.tools import Context

_log = logging.getLogger(__name__)


def count_rule_errors(context: Context, reports: Iterable[DiagnosisReport] | Iterable[DriftReport]) -> None:
    """Count each rule once for each report in which it raised; log what and where when it does so first."""
    failed = [report for report in reports if report.rule_errors]
    new = context.scans.count_rule_errors(rule.value for report in failed for rule in report.rule_errors)
    faults = {rule: fault for report in failed for rule, fault in report.rule_faults.items() if rule in new}
    for fault in faults.values():
        _log.error("a rule failed because of a defect; please report this: %s", fault)
