"""What /metrics answers: stored text of one generation and the live state beside it, as one bytes object."""

import gzip
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Literal

from bcon_exporter import clock
from bcon_exporter.outputs.metrics.blocks import Block, Checksum, Part, join_gzip, join_plain, render
from bcon_exporter.outputs.metrics.cap import cap_series
from bcon_exporter.outputs.metrics.client_library import EOF, ClientLibrary
from bcon_exporter.outputs.metrics.container_samples import container_samples
from bcon_exporter.outputs.metrics.host_samples import drift_samples, host_samples
from bcon_exporter.outputs.metrics.negotiation import CONTENT_TYPES
from bcon_exporter.outputs.metrics.own import OwnState
from bcon_exporter.outputs.metrics.subjects import choose_subjects
from bcon_exporter.outputs.metrics.writing import Format, Samples
from bcon_exporter.store import SCAN_NAMES, DiagnoseScan, DriftScan, ScanName, ScanStatus, Store

STALE_AFTER_INTERVALS = 3
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Scrape:
    """One answer."""

    body: bytes
    content_type: str
    encoding: Literal["gzip"] | None


@dataclass(frozen=True)
class Generation:
    """What the last scans left, all of one moment; a scrape reads one of these and nothing newer."""

    statuses: Mapping[ScanName, ScanStatus]
    client: Mapping[Format, Block]
    parts: Mapping[ScanName, Part] = field(default_factory=dict)
    series_dropped: int = 0

    def blocks(self, fmt: Format, fresh: Collection[ScanName]) -> tuple[Block, ...]:
        """Return the stored text without the parts that are too old."""
        scans = tuple(
            block
            for name in SCAN_NAMES
            if name in fresh and name in self.parts
            for block in self.parts[name].blocks(fmt)
        )
        return (*scans, self.client[fmt])

    @cached_property
    def checksums(self) -> dict[Format, Checksum]:
        """Checksums of the whole stored text; read once a generation, in the thread of the scan."""
        return {fmt: Checksum.of(self.blocks(fmt, SCAN_NAMES)) for fmt in CONTENT_TYPES}

    def checksum(self, fmt: Format, fresh: Collection[ScanName]) -> Checksum:
        """Return the checksum of what `blocks` returns."""
        if all(name in fresh for name in self.parts):
            return self.checksums[fmt]
        return Checksum.of(self.blocks(fmt, fresh))


@dataclass(frozen=True, slots=True)
class Moment:
    """What a scrape would show now.

    Attributes:
        fresh: Scans whose families are not withheld.
    """

    statuses: Mapping[ScanName, ScanStatus]
    series_dropped: int
    fresh: frozenset[ScanName]


class Exposition:
    """Renders a scan once when it is finished, and answers scrapes from the bytes.

    Args:
        store: Where the scans come from.
        series_cap: At most so many samples come from scans.
        label_names: Container labels that bcon_container_info carries.
    """

    def __init__(
        self,
        store: Store,
        own: OwnState,
        *,
        series_cap: int,
        label_names: tuple[str, ...] = (),
        monotonic: Callable[[], float] = clock.monotonic,
    ) -> None:
        self._store = store
        self._own = own
        self._label_names = label_names
        self._series_cap = series_cap
        self._monotonic = monotonic
        self._rendered: dict[ScanName, DiagnoseScan | DriftScan] = {}
        self._publishing = Lock()
        self._client = ClientLibrary()
        self._generation = Generation(store.statuses, self._client.read())

    def reload(self, label_names: tuple[str, ...], series_cap: int) -> None:
        """Use other container labels, and another cap, from the next scan on."""
        self._label_names, self._series_cap = label_names, series_cap

    def has_rendered(self, name: ScanName) -> bool:
        """Return whether there ever was a scan of this kind to show."""
        return name in self._generation.parts

    def publish(self, name: ScanName) -> None:
        """Render what a finished scan left; after a failed one only its status changes.

        The two scans end in threads of their own: one after the other, or the later would undo the earlier.
        """
        with self._publishing:
            self._publish(name)

    def _publish(self, name: ScanName) -> None:
        before, statuses = self._generation, self._store.statuses
        parts, dropped = dict(before.parts), before.series_dropped
        scan = self._store.diagnosis if name == "diagnose" else self._store.drift
        if scan is not None and scan is not self._rendered.get(name):
            if isinstance(scan, DiagnoseScan):
                samples, dropped = self._diagnose_samples(scan, parts.get("drift"))
            else:
                samples = drift_samples(scan)
            parts[name] = Part.of(samples)
            self._say_dropped(before.series_dropped, dropped)
            self._rendered[name] = scan
        generation = Generation(statuses, self._client.read(), parts, dropped)
        _ = generation.checksums  # read the text here, not in the first scrape
        self._generation = generation

    def _diagnose_samples(self, scan: DiagnoseScan, drift: Part | None) -> tuple[tuple[Samples, ...], int]:
        subjects = choose_subjects(scan.snapshot, scan.report)
        samples = (*host_samples(scan, subjects), *container_samples(scan, subjects, self._label_names))
        return cap_series(samples, self._series_cap - (drift.series if drift else 0))

    def _say_dropped(self, before: int, dropped: int) -> None:
        """Log it once, not at each scan."""
        if dropped and not before:
            _log.warning(
                "%d series are left out of /metrics: the cap is %d (metrics.series-cap); watch fewer containers "
                "(filter.*) or raise it",
                dropped,
                self._series_cap,
            )
        elif before and not dropped:
            _log.info("no series are left out of /metrics any more")

    def answer(self, fmt: Format, *, compress: bool, names: Collection[str] = ()) -> Scrape:
        """Return the answer to one scrape, with these families only (`?name[]=`), or all when `names` is empty."""
        generation, now = self._generation, self._monotonic()
        fresh = tuple(name for name in SCAN_NAMES if self._is_fresh(generation, name, now))
        own = self._own.samples(generation.statuses, generation.series_dropped)
        end = EOF if fmt == "openmetrics" else b""
        if names:
            stored = b"".join(block.choose(names) for block in generation.blocks(fmt, fresh))
            live = render(tuple(each for each in own if each.family.is_among(names)), fmt)
            body = stored + live + self._client.text(fmt, names) + end
            body = gzip.compress(body, compresslevel=1) if compress else body
        else:
            tail = render(own, fmt) + end
            blocks = generation.blocks(fmt, fresh)
            body = join_gzip(blocks, generation.checksum(fmt, fresh), tail) if compress else join_plain(blocks, tail)
        return Scrape(body, CONTENT_TYPES[fmt], "gzip" if compress else None)

    def moment(self) -> "Moment":
        """Return what the next answer is made of, for who judges the same samples otherwise."""
        generation, now = self._generation, self._monotonic()
        fresh = frozenset(name for name in SCAN_NAMES if self._is_fresh(generation, name, now))
        return Moment(generation.statuses, generation.series_dropped, fresh)

    def _is_fresh(self, generation: Generation, name: ScanName, now: float) -> bool:
        ended = generation.statuses[name].last_success_monotonic
        return ended is not None and now - ended <= STALE_AFTER_INTERVALS * self._own.interval_seconds(name)
