"""Deployments played on a real engine with the real Compose: what `check` and `verify` are measured by."""
