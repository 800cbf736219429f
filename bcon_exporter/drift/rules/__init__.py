"""All drift rules, in the order in which differences are decided and shown."""

from bcon_exporter.drift.rule import DriftRule
from bcon_exporter.drift.rules.config_mismatch import CONFIG_MISMATCH
from bcon_exporter.drift.rules.extra_container import EXTRA_CONTAINER
from bcon_exporter.drift.rules.image_mismatch import IMAGE_MISMATCH
from bcon_exporter.drift.rules.missing_service import MISSING_SERVICE
from bcon_exporter.drift.rules.not_running import NOT_RUNNING
from bcon_exporter.drift.rules.replica_mismatch import REPLICA_MISMATCH

DRIFT_RULES: tuple[DriftRule, ...] = (
    EXTRA_CONTAINER,
    MISSING_SERVICE,
    NOT_RUNNING,
    REPLICA_MISMATCH,
    IMAGE_MISMATCH,
    CONFIG_MISMATCH,
)
