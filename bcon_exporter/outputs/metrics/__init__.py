"""The face of Prometheus: the last scans as text, rendered once a scan, beside the exporter's own live state."""

from bcon_exporter.outputs.metrics.exposition import Exposition, Scrape
from bcon_exporter.outputs.metrics.families import FAMILIES, Family
from bcon_exporter.outputs.metrics.own_samples import OwnState

__all__ = ["FAMILIES", "Exposition", "Family", "OwnState", "Scrape"]
