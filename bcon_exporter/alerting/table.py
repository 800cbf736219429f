"""Every alert, declared once: the rule file, the push, the runbooks and their tests read this table.

The exporter says whether a symptom **is** there; an alert says when that is worth a message. Long waits are counted
from the exporter's own first-seen times, since one gap restarts a long `for`.
"""

from bcon_exporter.alerting.on_containers import ON_CONTAINERS
from bcon_exporter.alerting.on_exporter import ON_THE_EXPORTER
from bcon_exporter.alerting.on_services import ON_SERVICES
from bcon_exporter.alerting.rule import AlertRule

GROUPS: dict[str, tuple[AlertRule, ...]] = {
    "bcon-exporter itself": ON_THE_EXPORTER,
    "containers": ON_CONTAINERS,
    "Compose services": ON_SERVICES,
}
"""The alerts as the rule file groups them."""
ALERTS: tuple[AlertRule, ...] = tuple(rule for rules in GROUPS.values() for rule in rules)
