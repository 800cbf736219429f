"""Asks a Prometheus what the dashboards ask, and draws the answers as a preview where no Grafana runs."""
