"""Benchmarks: what a scan costs on real containers, beside the ways that others go."""
