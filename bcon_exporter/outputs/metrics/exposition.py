"""Answers /metrics: the text of the last scans, rendered once a scan, and the exporter's own live state."""

import gzip
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Literal

from bcon_exporter import clock
from bcon_exporter.latest_scans import SCAN_NAMES, DiagnoseScan, DriftScan, LatestScans, ScanName, ScanStatus
from bcon_exporter.model.disk import DiskReport
from bcon_exporter.outputs.metrics.client_library import EOF, ClientLibrary
from bcon_exporter.outputs.metrics.container_samples import container_samples
from bcon_exporter.outputs.metrics.disk_samples import disk_samples
from bcon_exporter.outputs.metrics.host_samples import drift_samples, host_samples
from bcon_exporter.outputs.metrics.negotiation import CONTENT_TYPES
from bcon_exporter.outputs.metrics.own_samples import OwnState
from bcon_exporter.outputs.metrics.rendered import GzippedStart, Part, RenderedFamily, render
from bcon_exporter.outputs.metrics.series_labels import choose_subjects
from bcon_exporter.outputs.metrics.writing import Format, Samples, cap_series
from bcon_exporter.tools.disk import write_disk_report

if TYPE_CHECKING:
    from bcon_exporter.memory import DiskMemory

STALE_AFTER_INTERVALS = 3
Fresh = frozenset[ScanName]
"""Scans that are recent enough for their families to be shown."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Scrape:
    """One answer.

    Attributes:
        pieces: Its body: of thousands of containers 10 MB, which are not copied together.
    """

    pieces: tuple[bytes, ...]
    content_type: str
    encoding: Literal["gzip"] | None

    @property
    def body(self) -> bytes:
        """All of it."""
        return b"".join(self.pieces)


@dataclass(frozen=True)
class Generation:
    """The rendered text of the last scans; a scrape reads one generation, which never changes."""

    statuses: Mapping[ScanName, ScanStatus]
    client: Mapping[Format, bytes]
    parts: Mapping[ScanName, Part] = field(default_factory=dict)
    series_dropped: int = 0
    compressed: dict[tuple[Format, Fresh], GzippedStart] = field(default_factory=dict)

    def families(self, fmt: Format, fresh: Fresh) -> Iterator[RenderedFamily]:
        """Yield the families of the scans that are not too old."""
        for name in SCAN_NAMES:
            if name in fresh and name in self.parts:
                yield from self.parts[name].families(fmt)

    def texts(self, fmt: Format, fresh: Fresh) -> Iterator[bytes]:
        """Yield all that is stored, piece by piece: of thousands of containers it is 10 MB together."""
        yield from (piece for rendered in self.families(fmt, fresh) for piece in rendered.pieces)
        yield self.client[fmt]

    def compress(self, fmt: Format, fresh: Fresh) -> GzippedStart:
        """Return the same compressed; compressed once only."""
        start = self.compressed.get((fmt, fresh))
        if start is None:
            start = self.compressed[fmt, fresh] = GzippedStart(self.texts(fmt, fresh))
        return start

    def compress_as(self, before: "Generation") -> None:
        """Compress what scrapes asked of the generation before, so that the scan's thread does it and no scrape."""
        for fmt, fresh in tuple(before.compressed):
            self.compress(fmt, fresh)


@dataclass(frozen=True, slots=True)
class Moment:
    """What a scrape would show now."""

    statuses: Mapping[ScanName, ScanStatus]
    series_dropped: int
    fresh: Fresh


class Exposition:
    """Renders a scan once when it is finished, and answers scrapes from the bytes.

    Args:
        scans: Where they come from.
        series_cap: At most so many samples come from scans.
        label_names: Container labels that bcon_container_info carries.
        off: Collectors whose families are left out.
    """

    def __init__(
        self,
        scans: LatestScans,
        own: OwnState,
        *,
        series_cap: int,
        label_names: tuple[str, ...] = (),
        off: Collection[str] = (),
        monotonic: Callable[[], float] = clock.monotonic,
    ) -> None:
        self._scans = scans
        self._own = own
        self._label_names = label_names
        self._series_cap = series_cap
        self._off = frozenset(off)
        self._disk: tuple[DiskMemory, DiskReport] | None = None
        self._monotonic = monotonic
        self._rendered: dict[ScanName, DiagnoseScan | DriftScan] = {}
        self._publishing = Lock()
        self._client = ClientLibrary()
        self._generation = Generation(scans.statuses, self._client.read())

    def reload(self, label_names: tuple[str, ...], series_cap: int) -> None:
        """Use other container labels, and another cap, from the next scan on."""
        self._label_names, self._series_cap = label_names, series_cap

    def has_rendered(self, name: ScanName) -> bool:
        """Return whether there ever was a scan of this kind to show."""
        return name in self._generation.parts

    def publish(self, name: ScanName) -> None:
        """Render a finished scan; of a failed one only the status.

        Both scans end in threads of their own, so a lock keeps one from undoing the other.
        """
        with self._publishing:
            self._publish(name)

    def _publish(self, name: ScanName) -> None:
        before, statuses = self._generation, self._scans.statuses
        parts, dropped = dict(before.parts), before.series_dropped
        scan = self._scans.diagnosis if name == "diagnose" else self._scans.drift
        if scan is not None and scan is not self._rendered.get(name):
            if isinstance(scan, DiagnoseScan):
                parts[name], dropped = self._render_diagnosis(scan, parts.get("drift"))
            else:
                parts[name] = Part.of(tuple(self._wanted(drift_samples(scan))))
            self._log_dropped(before.series_dropped, dropped)
            self._rendered[name] = scan
        generation = Generation(statuses, self._client.read(), parts, dropped)
        generation.compress_as(before)
        self._generation = generation

    def _render_diagnosis(self, scan: DiagnoseScan, drift: Part | None) -> tuple[Part, int]:
        """Return the families of a diagnosis below the cap, and how many samples were left out."""
        subjects = choose_subjects(scan.snapshot, scan.report)
        samples = chain(
            host_samples(scan, subjects),
            container_samples(scan, subjects, self._label_names),
            disk_samples(scan, subjects, self._sum_up_disk(scan)),
        )
        shown, dropped = cap_series(self._wanted(samples), self._series_cap - (drift.series if drift else 0))
        return Part.of(shown), dropped

    def _sum_up_disk(self, scan: DiagnoseScan) -> DiskReport:
        """Return the sums of the disk, made anew when it was looked at: once in ten scans."""
        if self._disk is None or self._disk[0] is not scan.disk:
            self._disk = (scan.disk, write_disk_report(scan.disk, scan.finished_at, limit=0))
        return self._disk[1]

    def _wanted(self, samples: Iterable[Samples]) -> Iterator[Samples]:
        """Yield the families whose collector is not off."""
        return (item for item in samples if item.family.collector not in self._off)

    def _log_dropped(self, before: int, dropped: int) -> None:
        """Log when series begin to be left out, and when that ends."""
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
        fresh = frozenset(name for name in SCAN_NAMES if self._is_fresh(generation, name, now))
        own = self._own.samples(generation.statuses, generation.series_dropped)
        end = EOF if fmt == "openmetrics" else b""
        pieces: tuple[bytes, ...]
        if names:
            chosen = (each for each in generation.families(fmt, fresh) if each.family.is_among(names))
            stored = b"".join(piece for each in chosen for piece in each.pieces)
            live = render(tuple(item for item in own if item.family.is_among(names)), fmt)
            body = stored + live + self._client.text(fmt, names) + end
            pieces = (gzip.compress(body, compresslevel=1) if compress else body,)
        else:
            tail = render(own, fmt) + end
            pieces = (
                (generation.compress(fmt, fresh).end_with(tail),) if compress else (*generation.texts(fmt, fresh), tail)
            )
        return Scrape(pieces, CONTENT_TYPES[fmt], "gzip" if compress else None)

    def moment(self) -> "Moment":
        """Return what the next scrape would be made of; alerts are judged by the same samples."""
        generation, now = self._generation, self._monotonic()
        fresh = frozenset(name for name in SCAN_NAMES if self._is_fresh(generation, name, now))
        return Moment(generation.statuses, generation.series_dropped, fresh)

    def _is_fresh(self, generation: Generation, name: ScanName, now: float) -> bool:
        ended = generation.statuses[name].last_success_monotonic
        return ended is not None and now - ended <= STALE_AFTER_INTERVALS * self._own.interval_seconds(name)
