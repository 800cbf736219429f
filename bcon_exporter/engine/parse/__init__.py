"""Answers of the engine, as bytes or JSON, become facts. Pure and total: nothing an engine sends raises."""

from bcon_exporter.engine.parse.config import parse_config, parse_image
from bcon_exporter.engine.parse.container import (
    NOT_INSPECTED,
    Placement,
    has_changed,
    is_usable_id,
    parse_container,
    parse_placement,
    project_in,
    project_of,
    secrets_of,
    update_listed,
)
from bcon_exporter.engine.parse.engine import (
    parse_engine,
    parse_engine_start,
    parse_image_facts,
    parse_network,
    parse_volume,
)
from bcon_exporter.engine.parse.event import EventKey, event_key, parse_event, parse_event_time
from bcon_exporter.engine.parse.json_fields import (
    Element,
    ElementMemory,
    NotJsonError,
    decode_array,
    decode_json,
    decode_object,
)
from bcon_exporter.engine.parse.log_stream import (
    RawLogEntries,
    RawLogEntry,
    drop_cut_line,
    finish_entries,
    parse_log_stream,
    split_entries,
)
from bcon_exporter.engine.parse.stats import parse_stats
from bcon_exporter.engine.parse.stored_data import parse_stored_data

__all__ = [
    "NOT_INSPECTED",
    "Element",
    "ElementMemory",
    "EventKey",
    "NotJsonError",
    "Placement",
    "RawLogEntries",
    "RawLogEntry",
    "decode_array",
    "decode_json",
    "decode_object",
    "drop_cut_line",
    "event_key",
    "finish_entries",
    "has_changed",
    "is_usable_id",
    "parse_config",
    "parse_container",
    "parse_engine",
    "parse_engine_start",
    "parse_event",
    "parse_event_time",
    "parse_image",
    "parse_image_facts",
    "parse_log_stream",
    "parse_network",
    "parse_placement",
    "parse_stats",
    "parse_stored_data",
    "parse_volume",
    "project_in",
    "project_of",
    "secrets_of",
    "split_entries",
    "update_listed",
]
