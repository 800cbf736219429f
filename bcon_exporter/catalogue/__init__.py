"""The signature catalogue: data files beside this module and the user's own, loaded into values."""

from bcon_exporter.catalogue.loader import load_catalogue

__all__ = ["load_catalogue"]
