"""Bounds the number of series: a host with thousands of containers must not drown its Prometheus."""

from bcon_exporter.outputs.metrics.writing import Samples


def cap_series(samples: tuple[Samples, ...], cap: int) -> tuple[tuple[Samples, ...], int]:
    """Return the families that fit, and how many samples were left out.

    Whole families go, in their declared order, informational ones first; those that tell what is wrong never go.
    """
    total = sum(each.series for each in samples)
    left_out: set[str] = set()
    dropped = 0
    for each in sorted((each for each in samples if each.family.drop_order), key=lambda each: each.family.drop_order):
        if total - dropped <= cap:
            break
        left_out.add(each.family.name)
        dropped += each.series
    return tuple(each for each in samples if each.family.name not in left_out), dropped
