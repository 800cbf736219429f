"""Every knob once: flags, BCON_* variables, a YAML file, defaults. The only reader of the environment."""

from bcon_exporter.model.durations import parse_duration
from bcon_exporter.settings.fields import Address, show_default
from bcon_exporter.settings.flags import add_setting_flags
from bcon_exporter.settings.load import current_environment, list_receivers, load_settings
from bcon_exporter.settings.model import Settings, list_settings
from bcon_exporter.settings.sources import env_name
from bcon_exporter.settings.warnings import find_warnings

__all__ = [
    "Address",
    "Settings",
    "add_setting_flags",
    "current_environment",
    "env_name",
    "find_warnings",
    "list_receivers",
    "list_settings",
    "load_settings",
    "parse_duration",
    "show_default",
]
