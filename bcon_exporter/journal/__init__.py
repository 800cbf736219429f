"""The state file (SQLite): memory is loaded from it and saved to it, with the journal and the ledger of tool calls."""

from bcon_exporter.journal.entry_rows import EntryFilter
from bcon_exporter.journal.incident_rows import IncidentFilter
from bcon_exporter.journal.memory_persistence import MemoryKeeper
from bcon_exporter.journal.search_index import SearchIndex

__all__ = ["EntryFilter", "IncidentFilter", "MemoryKeeper", "SearchIndex"]
