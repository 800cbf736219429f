"""The shipped deployment from end to end: image, Compose stacks, Prometheus, Alertmanager, a receiver."""
