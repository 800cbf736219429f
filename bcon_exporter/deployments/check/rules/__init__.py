"""All rules of `check`, in the order in which their findings are shown."""

from bcon_exporter.deployments.check.rule import CheckRule
from bcon_exporter.deployments.check.rules.address_pools_used_up import ADDRESS_POOLS_USED_UP
from bcon_exporter.deployments.check.rules.bind_missing import BIND_MISSING
from bcon_exporter.deployments.check.rules.compose_error import COMPOSE_ERROR
from bcon_exporter.deployments.check.rules.config_missing import CONFIG_MISSING
from bcon_exporter.deployments.check.rules.dependency_never_ready import DEPENDENCY_NEVER_READY
from bcon_exporter.deployments.check.rules.device_missing import DEVICE_MISSING
from bcon_exporter.deployments.check.rules.env_file_missing import ENV_FILE_MISSING
from bcon_exporter.deployments.check.rules.hook_image_missing import HOOK_IMAGE_MISSING
from bcon_exporter.deployments.check.rules.image_missing import IMAGE_MISSING
from bcon_exporter.deployments.check.rules.image_platform import IMAGE_PLATFORM
from bcon_exporter.deployments.check.rules.latest_tag import LATEST_TAG
from bcon_exporter.deployments.check.rules.limit_below_use import LIMIT_BELOW_USE
from bcon_exporter.deployments.check.rules.log_unbounded import LOG_UNBOUNDED
from bcon_exporter.deployments.check.rules.memory_over_host import MEMORY_OVER_HOST
from bcon_exporter.deployments.check.rules.mount_not_shared import MOUNT_NOT_SHARED
from bcon_exporter.deployments.check.rules.name_taken import NAME_TAKEN
from bcon_exporter.deployments.check.rules.network_missing import NETWORK_MISSING
from bcon_exporter.deployments.check.rules.no_restart_policy import NO_RESTART_POLICY
from bcon_exporter.deployments.check.rules.port_taken import PORT_TAKEN
from bcon_exporter.deployments.check.rules.port_twice import PORT_TWICE
from bcon_exporter.deployments.check.rules.provider_missing import PROVIDER_MISSING
from bcon_exporter.deployments.check.rules.recreates import RECREATES
from bcon_exporter.deployments.check.rules.runtime_missing import RUNTIME_MISSING
from bcon_exporter.deployments.check.rules.secret_in_environment import SECRET_IN_ENVIRONMENT
from bcon_exporter.deployments.check.rules.secret_missing import SECRET_MISSING
from bcon_exporter.deployments.check.rules.subnet_taken import SUBNET_TAKEN
from bcon_exporter.deployments.check.rules.volume_missing import VOLUME_MISSING

CHECK_RULES: tuple[CheckRule, ...] = (
    COMPOSE_ERROR,
    PORT_TAKEN,
    PORT_TWICE,
    NAME_TAKEN,
    NETWORK_MISSING,
    VOLUME_MISSING,
    SUBNET_TAKEN,
    BIND_MISSING,
    ENV_FILE_MISSING,
    SECRET_MISSING,
    CONFIG_MISSING,
    IMAGE_MISSING,
    IMAGE_PLATFORM,
    HOOK_IMAGE_MISSING,
    ADDRESS_POOLS_USED_UP,
    MOUNT_NOT_SHARED,
    PROVIDER_MISSING,
    DEVICE_MISSING,
    RUNTIME_MISSING,
    MEMORY_OVER_HOST,
    LIMIT_BELOW_USE,
    DEPENDENCY_NEVER_READY,
    RECREATES,
    LOG_UNBOUNDED,
    NO_RESTART_POLICY,
    LATEST_TAG,
    SECRET_IN_ENVIRONMENT,
)
