"""Where a dashboard leads: to the other dashboard, to what the exporter itself says, to documents and runbooks."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from grafana_foundation_sdk.builders.dashboard import DashboardLink
from grafana_foundation_sdk.models.dashboard import DashboardLinkType

from bcon_exporter import DOCS_URL

OVERVIEW, CONTAINER = "bcon-overview", "bcon-container"
"""The dashboards' uids, which links are made of."""
EXPORTER_URL = "${scheme}://${__data.fields.Host}"
"""A host's exporter: the instance label is its address, unless the scrape configuration says otherwise."""
_RULES = Path(__file__).parents[2] / "alerts" / "bcon.rules.yml"
_KEPT = "${datasource:queryparam}&${job:queryparam}&${scheme:queryparam}&${__url_time_range}"


def link(title: str, url: str, *, new_tab: bool = True) -> DashboardLink:
    """One link of a field or a panel."""
    return DashboardLink(title).type(DashboardLinkType.LINK).url(url).target_blank(new_tab)


def to_container(instance: str, container: str) -> DashboardLink:
    """Open the dashboard of a container; a name is unique on its host, so the project is left open."""
    url = f"/d/{CONTAINER}?var-instance={instance}&var-project=$__all&var-container={container}&{_KEPT}"
    return link("Open this container", url, new_tab=False)


TO_SERIES = to_container("${__field.labels.instance}", "${__field.labels.container}")
TO_ROW = to_container("${__data.fields.Host}", "${__data.fields.Container}")
TO_PEER = to_container("${__data.fields.Host}", "${__value.raw}").title("Open it, if it is a container of this host")
TO_HOST = link(
    "Show only this host", f"/d/{OVERVIEW}?var-instance=${{__value.raw}}&var-project=$__all&{_KEPT}", new_tab=False
)
REPORT = link(
    "The exporter's report (JSON)", f"{EXPORTER_URL}/api/v1/containers/${{__data.fields.Container}}/diagnosis"
)
DRIFT_REPORT = link("The exporter's report (JSON)", f"{EXPORTER_URL}/api/v1/drift/${{__value.raw}}")
ABOUT_SYMPTOM = link("What this symptom means", f"{DOCS_URL}symptoms.md#${{__value.raw}}")
ABOUT_DRIFT = link("What this type of drift means", f"{DOCS_URL}drift.md#${{__value.raw}}")
RUNBOOK = link("Runbook: meaning, impact, diagnosis, mitigation", f"{DOCS_URL}runbooks/${{__value.text}}.md")


def runbook(alert: str) -> DashboardLink:
    """The runbook of one alert, as a link of a panel."""
    return link(f"Runbook: {alert}", f"{DOCS_URL}runbooks/{alert}.md")


def _alert_of(recording: str, label: str) -> dict[str, str]:
    """Label value → the first alert on it, which is the most urgent."""
    alerts: dict[str, str] = {}
    for rule in yaml.safe_load(_RULES.read_text())["groups"][0]["rules"]:
        value = re.search(rf'{recording}\{{{label}="(\w+)"\}}', rule["expr"])
        if value and "alert" in rule:
            alerts.setdefault(value[1], rule["alert"])
    return alerts


ALERT_OF_SYMPTOM = _alert_of("container:bcon_symptom:unmuted", "symptom")
ALERT_OF_DRIFT = _alert_of("service:bcon_drift_items:unmuted", "drift")
