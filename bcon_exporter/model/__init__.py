"""Typed facts, findings and reports: frozen values that round-trip through JSON, and pure functions on them."""
