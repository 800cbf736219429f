"""Writes the table as a Prometheus rule file."""

import json
import re  # noqa: TID251 - sees our own rules
from collections.abc import Iterator

from bcon_exporter import RUNBOOKS_URL
from bcon_exporter.alerting.promql import render_promql
from bcon_exporter.alerting.recordings import RECORDINGS
from bcon_exporter.alerting.rule import AlertRule, Scope
from bcon_exporter.alerting.table import GROUPS

_HEADER = """\
# Alert rules of bcon-exporter, for Prometheus 2.42 or newer. No rule names a scrape job: the metrics' own names
# identify the exporter. Written by `make rules` from the table in bcon_exporter/alerting: edit that, not this file.
groups:
# One group: its rules are evaluated in order, so that every alert sees what was recorded in the same moment.
- name: bcon
  rules:
"""
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_CAUSE = (
    "{{ with printf `bcon_container_cause_info{job=%q,instance=%q,container=%q,project=%q,service=%q}`"
    " $labels.job $labels.instance $labels.container $labels.project $labels.service | query }}"
    "{{ with first . }}Likely cause: {{ .Labels.cause }}{{ if .Labels.peer }} ({{ .Labels.peer }}){{ end }}.{{ end }}"
    "{{ else }}No cause known.{{ end }}"
)


def render_rule_file(runbooks_url: str = RUNBOOKS_URL) -> str:
    """Return the whole YAML file; `runbooks_url` is where the runbooks lie, with a slash at the end."""
    lines = [_HEADER.rstrip("\n")]
    for recording in RECORDINGS:
        lines += [f"  # {text}" for text in recording.why.split("\n")]
        lines += [f"  - record: {recording.name}", *_expression(render_promql(recording.expr))]
    for group, rules in GROUPS.items():
        lines.append(f"  # --- {group} ---")
        for rule in rules:
            lines += _opt_in(rule, runbooks_url) if rule.opt_in else _alert(rule, runbooks_url)
    return "\n".join(lines) + "\n"


def _opt_in(rule: AlertRule, runbooks_url: str) -> Iterator[str]:
    yield "  # Where every container is to come from a Compose file:"
    for line in _alert(rule, runbooks_url):
        yield f"  # {line[2:]}"


def _alert(rule: AlertRule, runbooks_url: str) -> Iterator[str]:
    yield f"  - alert: {rule.name}"
    yield from _expression(render_promql(rule.expr))
    if rule.wait_seconds:
        yield f"    for: {_duration(rule.wait_seconds)}"
    if rule.keep_seconds:
        yield f"    keep_firing_for: {_duration(rule.keep_seconds)}"
    yield f"    labels: {{severity: {rule.severity}}}"
    yield "    annotations:"
    yield f"      summary: {_quoted(_template(rule.summary))}"
    more = f" {_CAUSE}" if rule.scope is Scope.CONTAINER else ""
    yield f"      description: {_quoted(_template(rule.description) + more)}"
    yield f"      runbook_url: {_plain(rule.runbook_url(runbooks_url))}"


def _expression(promql: str) -> list[str]:
    lines = promql.split("\n")
    if len(lines) == 1:
        plain = not re.search(r"[:#{}\[\]]", promql)
        return [f"    expr: {promql if plain else _quoted(promql)}"]
    return ["    expr: |", *(f"      {line}" for line in lines)]


def _template(text: str) -> str:
    """Return a text of the table as Prometheus' template."""
    return _PLACEHOLDER.sub(r"{{ $labels.\1 }}", text)


def _quoted(text: str) -> str:
    """Return a YAML string; in single quotes where it holds double ones."""
    if '"' in text and "'" not in text:
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False)


def _plain(url: str) -> str:
    """Return an address as YAML, quoted where it would mean something else."""
    return url if re.fullmatch(r"https?://[A-Za-z0-9./_~:-]+", url) else _quoted(url)


def _duration(seconds: int) -> str:
    return f"{seconds // 3600}h" if seconds % 3600 == 0 else f"{seconds // 60}m"
