"""One failure, one message: cascades, pairs and quiet things through the exporter, Prometheus and Alertmanager."""
