"""Would this come up on this host, and what would it do to what runs? Pure; a rule is a value in a file of its name."""

from bcon_exporter.deployments.check.judge import check_deployment
from bcon_exporter.deployments.check.plan import make_plan
from bcon_exporter.deployments.check.rules import CHECK_RULES

__all__ = ["CHECK_RULES", "check_deployment", "make_plan"]
