"""The dashboards as code: one module a dashboard, and the building blocks that they share.

`python -m grafana.dashboards` (make dashboards) writes them as JSON, which is what is shipped.
"""

from grafana.dashboards.container import build as build_container
from grafana.dashboards.links import CONTAINER, OVERVIEW
from grafana.dashboards.overview import build as build_overview

DASHBOARDS = {OVERVIEW: build_overview, CONTAINER: build_container}
"""uid → what renders it; the file is named as the uid."""
