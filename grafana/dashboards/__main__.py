"""Writes every dashboard as JSON beside this package: `make dashboards`."""

from pathlib import Path

from grafana.dashboards import DASHBOARDS

FOLDER = Path(__file__).parents[1]

for uid, build in DASHBOARDS.items():
    (FOLDER / f"{uid}.json").write_text(build())
