"""Selectors and joins: every selector names job and instance, so that a dashboard shows the hosts that were chosen.

No recording rule is used: the dashboards show what is seen, and a gap where nothing is seen. Carrying the last value
over an outage is what the alerts do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

ON_HOST = "on (job, instance)"
ON_SERVICE = "on (job, instance, project, service)"
ON_CONTAINER = "on (job, instance, container, project, service)"
BY_CONTAINER = "by (job, instance, container, project, service)"
IN_RANGE = "[$__range] @ end()"
"""The whole time range of the dashboard, the same at every step: what is chosen by it does not change on the way."""
KNOWN_FOR = "[1h]"
"""A host that was seen within this time is one of ours; the alert rules use the same."""


def of_host(metric: str, **labels: str) -> str:
    """Select a metric of the chosen hosts."""
    matchers = ['job=~"$job"', 'instance=~"$instance"', *(f'{name}="{value}"' for name, value in labels.items())]
    return f"{metric}{{{', '.join(matchers)}}}"


def of_project(metric: str, **labels: str) -> str:
    """Select a metric of the chosen projects; `All` includes containers outside Compose, whose project is empty."""
    return of_host(metric, **labels).removesuffix("}") + ', project=~"$project"}'


def of_container(metric: str, **labels: str) -> str:
    """Select a metric of the chosen container."""
    return of_project(metric, container="$container", **labels)


def top(count: int, shown: str, ranked: str) -> str:
    """Show the series that rank highest: with a ranking by `IN_RANGE` the same ones at every step."""
    return f"{shown} and topk({count}, {ranked})"


def known_hosts() -> str:
    """1 for every host that has been seen lately."""
    return f"group by (job, instance) (last_over_time({of_host('bcon_build_info')}{KNOWN_FOR}))"


def sight() -> str:
    """How far each host is seen: 0 not scraped, 1 engine unreachable, 2 no good scan, 3 seen.

    Everything is brought down to job and instance first: a scrape configuration may add further labels.
    """
    up = f"max by (job, instance) ({of_host('bcon_up')})"
    success = f"min by (job, instance) ({of_host('bcon_scan_success')})"
    return f"(({known_hosts()} - 1 unless {up}) or (1 + {up} + {up} * {success}) or (1 + {up}))"


def only_ours(selector: str) -> str:
    """Keep what comes from bcon-exporter: with `All` as job, process_* would be everybody's."""
    return f"{selector} and {ON_HOST} {of_host('bcon_build_info')}"


class Select(Protocol):
    """Selects a metric of what a dashboard is about: `of_project` or `of_container`."""

    def __call__(self, metric: str, **labels: str) -> str:
        """The selector."""


def symptoms_since(select: Select) -> str:
    """Since when each symptom is present, in milliseconds, with the labels `cause` and `peer` of its container.

    A container without a known cause is kept: a join with bcon_container_cause_info alone would lose its symptoms.
    """
    since, cause = select("bcon_container_symptom_start_timestamp_seconds"), select("bcon_container_cause_info")
    every = f"group {BY_CONTAINER} ({select('bcon_container_status')})"
    joined = f"{since} * {ON_CONTAINER} group_left (cause, peer) ({cause} or {ON_CONTAINER} {every})"
    return f"1000 * ({joined})"


def with_alert(expr: str, label: str, values: Iterable[str]) -> str:
    """Copy a label to `alert` where it has one of the values: those that an alert, and so a runbook, exists for."""
    return f'label_replace({expr}, "alert", "$1", "{label}", "({"|".join(values)})")'
