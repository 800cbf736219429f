"""Ways to run bcon-exporter, and the demonstration."""
