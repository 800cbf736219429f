"""The face of Alertmanager: pushes the open incidents, and what is wrong with the exporter itself."""

from bcon_exporter.outputs.alertmanager.delivery import Alertmanager
from bcon_exporter.outputs.alertmanager.http_config import HttpAccess, load_http_access
from bcon_exporter.outputs.alertmanager.payload import Identity
from bcon_exporter.outputs.alertmanager.watch import AlertWatch, Pace

__all__ = ["AlertWatch", "Alertmanager", "HttpAccess", "Identity", "Pace", "load_http_access"]
