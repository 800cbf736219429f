"""The names that other agents know, each with a meaning here. None of them changes anything on a host."""

from bcon_exporter.tools.config_text import READ_CONFIG
from bcon_exporter.tools.previews import RESTART_SERVICE
from bcon_exporter.tools.system import READ_LOGS, SYSTEM_STATUS
from bcon_exporter.tools.tasks import SCHEDULE_TASK
from bcon_exporter.tools.what_if import MODIFY_CONFIG

AGENT_TOOLS = (READ_LOGS, SYSTEM_STATUS, RESTART_SERVICE, READ_CONFIG, MODIFY_CONFIG, SCHEDULE_TASK)
