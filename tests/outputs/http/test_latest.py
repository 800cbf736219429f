"""The last reports: rendered once a scan, however many ask, and each with the age of its own scan."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import PrivateAttr

from bcon_exporter.errors import RateLimitedError
from bcon_exporter.model.reports import DiagnoseAllReport
from bcon_exporter.outputs.http.latest_reports import LatestReports
from bcon_exporter.outputs.http.request_threads import RequestThreads
from tests.factories import container, snapshot
from tests.outputs.scenes import Clock, make_context, scan_of
from tests.waiting import wait_until

if TYPE_CHECKING:
    from bcon_exporter.latest_scans import DiagnoseScan


class SlowReport(DiagnoseAllReport):
    """A report that takes as long to render as a test wants, and counts how often that is done."""

    _renders: int = PrivateAttr(0)
    _may_end: threading.Event = PrivateAttr(default_factory=threading.Event)

    def model_dump_json(self, **options: Any) -> str:
        """Wait, then render."""
        self._renders += 1
        assert self._may_end.wait(20)
        return super().model_dump_json(**options)


def slow_scan(ended: float, name: str) -> tuple[DiagnoseScan, SlowReport]:
    """A finished scan of one container."""
    scan = scan_of(snapshot(container(name=name)), ended=ended)
    report = SlowReport(**dict(scan.report))
    return replace(scan, report=report), report


async def begun(report: SlowReport) -> None:
    """Wait until it is being rendered."""
    await asyncio.to_thread(wait_until, lambda: report._renders, "the rendering to begin")


def test_a_report_has_the_age_of_its_own_scan_though_another_ends_while_it_is_rendered() -> None:
    clock = Clock(1100.0)
    context = make_context(monotonic=clock)
    scan, report = slow_scan(1000.0, "old")
    context.scans.publish_diagnosis(scan)
    latest = LatestReports(lambda: context, RequestThreads())

    async def talk() -> bytes:
        asked = asyncio.ensure_future(latest.diagnosis())
        await begun(report)
        context.scans.publish_diagnosis(scan_of(snapshot(container(name="new")), ended=1100.0))
        report._may_end.set()
        return bytes((await asked).body)

    result = json.loads(asyncio.run(talk()))["result"]
    assert ([each["container_name"] for each in result["reports"]], result["age_seconds"]) == (["old"], 100.0)


def test_a_hundred_who_ask_at_once_have_it_rendered_once_also_when_the_first_hangs_up() -> None:
    context = make_context()
    scan, report = slow_scan(0.0, "web")
    context.scans.publish_diagnosis(scan)
    latest = LatestReports(lambda: context, RequestThreads())

    async def talk() -> list[bytes]:
        first, *others = [asyncio.ensure_future(latest.diagnosis()) for _ in range(100)]
        await begun(report)
        first.cancel()
        await asyncio.wait([first])
        report._may_end.set()
        return [bytes(answer.body) for answer in await asyncio.gather(*others, latest.diagnosis())]

    answers = asyncio.run(talk())
    assert (report._renders, len(answers)) == (1, 100)
    assert all(b'"container_name":"web"' in answer for answer in answers)


def test_a_report_that_no_thread_could_render_is_rendered_for_the_next_who_asks() -> None:
    context = make_context()
    scan, report = slow_scan(0.0, "web")
    context.scans.publish_diagnosis(scan)
    threads, busy = RequestThreads(limit=1), threading.Event()
    latest = LatestReports(lambda: context, threads)

    async def talk() -> int:
        other = asyncio.ensure_future(threads.run(lambda: busy.wait(20)))
        await asyncio.sleep(0)
        with pytest.raises(RateLimitedError):
            await latest.diagnosis()
        busy.set()
        await other
        report._may_end.set()
        return (await latest.diagnosis()).status_code

    assert asyncio.run(talk()) == 200
