"""The pages in a real browser: for everybody, in the dark, on a phone, without script, and whatever containers print."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from bcon_exporter.model.container_facts import HealthStatus, Limits, Mount
from tests.factories import ago, compose, container, exited, health, line, network, probe, usage
from tests.outputs.http.asking import users
from tests.pages.browser import open_browser
from tests.pages.pictures import draw_pictures
from tests.pages.stage import (
    HOMELAB,
    HOSTILE,
    Printing,
    crowd_host,
    dirty_host,
    healthy_host,
    hostile_host,
    publish,
    serve,
    shop,
    stage_context,
    trouble,
)
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page  # noqa: TC004  # weighs much, and the dataclass needs its name only

    from tests.pages.stage import Served
    from tests.promises.plugin import Figure

pytestmark = [pytest.mark.integration, pytest.mark.alone]

PAGES = (
    "/", "/?status=error", "/?sort=cpu&q=shop", "/?q=nothing+fits", "/c/shop-db-1", "/c/shop-api-1?find=refused", "/c/media-jellyfin-1", "/i/INCIDENT", "/p/cloud", "/p/bots", "/history",
    "/alerts", "/c/nobody",
)  # fmt: skip
NARROW, WIDE = 320, 1440
SCREEN = 900
PAGE_LENGTH_MAX = 4500
PAGE_BYTES_MAX = 300_000
INTERACTIVE_SECONDS_MAX = 5.0  # a busy machine takes two; the figure that is printed is what counts


@dataclass
class Tab:
    """A page of the browser, with what its console said and what it asked for."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def dirty() -> Iterator[Served]:
    with serve(dirty_host()) as served:
        yield served


@pytest.fixture
def ailing() -> Iterator[Served]:
    """A host without a journal."""
    with serve(stage_context((*shop(), *trouble(), *HOMELAB))) as served:
        yield served


def open_tab(browser: Browser, width: int = WIDE, **options: Any) -> Tab:
    """A tab of a profile of its own."""
    tab = Tab(browser.new_page(viewport={"width": width, "height": SCREEN}, **options))
    tab.page.on("console", lambda message: tab.said.append(message.text))
    tab.page.on("pageerror", lambda error: tab.said.append(str(error)))
    tab.page.on("dialog", lambda dialog: tab.said.append(dialog.message))
    tab.page.on("request", lambda request: tab.asked.append(request.url))
    return tab


def pages_of(served: Served) -> tuple[str, ...]:
    """The addresses of all kinds of pages."""
    incident = served.context.memory.memory.incidents.open[0].incident.id
    return tuple(path.replace("INCIDENT", incident) for path in PAGES)


def rows_of(page: Page) -> list[str]:
    """The names in the table of containers, from above."""
    return [name.partition(" ")[0] for name in texts(page, ".containers tr[data-row]:not([hidden]) > th")]


def texts(page: Page, selector: str) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(selector).all_inner_texts()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(browser: Browser, dirty: Served, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe  # weighs much: `make unit` opens no browser

    tab = open_tab(browser, color_scheme=scheme, reduced_motion="reduce")
    found = {}
    for path in pages_of(dirty):
        tab.page.goto(dirty.url + path)
        tab.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        result = Axe().run(tab.page)
        violations = [
            (one["id"], [node["html"][:200] for node in one["nodes"]][:3]) for one in result.response["violations"]
        ]
        if violations:
            found[path] = violations

    assert found == {}


def test_nothing_is_asked_of_anybody_else_and_the_console_is_silent(browser: Browser, dirty: Served) -> None:
    tab = open_tab(browser)
    for path in pages_of(dirty)[:-1]:
        tab.page.goto(dirty.url + path)
        tab.page.wait_for_timeout(100)

    assert [url for url in tab.asked if not url.startswith((f"{dirty.url}/", "data:image/svg+xml,"))] == []
    assert any(url.endswith("/live") for url in tab.asked)
    assert tab.said == []


@pytest.mark.promise("S3")
def test_hostile_words_are_text_and_break_no_page(browser: Browser) -> None:
    context = hostile_host()
    incident = context.memory.memory.incidents.open[0].incident.id
    with serve(context) as served:
        tab = open_tab(browser, NARROW)
        for path in ("/", "/c/shop-web-1", "/c/shop-web-1?find=%3Cscript%3E", "/c/shop-web-1?lines=500&find=%27%22%3E", f"/c/{'n' * 120}", "/p/shop", f"/i/{quote(incident, safe='')}", "/history", "/alerts", "/?q=%3Cscript%3E", "/history?words=%3Cimg", "/c/%3Cscript%3Ealert(1)%3C%2Fscript%3E"):  # fmt: skip
            tab.page.goto(served.url + path)
            assert tab.page.evaluate("window.hacked") is None, path
            assert tab.page.locator("script:not([src]), img, [onerror], a[href^='javascript']").count() == 0, path
            assert tab.page.evaluate("document.documentElement.scrollWidth") <= NARROW, path
        shown = tab.page.goto(f"{served.url}/c/shop-web-1")

        assert shown is not None
        assert "<script>window.hacked=1</script>" in tab.page.inner_text("main")
        assert "49" not in texts(tab.page, "dl.facts")[0]
        assert [text for text in tab.said if "404" not in text] == []


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_no_page_is_wider_than_its_window(browser: Browser, dirty: Served, width: int) -> None:
    tab = open_tab(browser, width)
    wide = {}
    for path in pages_of(dirty):
        tab.page.goto(dirty.url + path)
        shown = tab.page.evaluate("document.documentElement.scrollWidth")
        if shown > width:
            wide[path] = shown

    assert wide == {}


def test_the_pages_are_whole_without_script(browser: Browser, dirty: Served) -> None:
    with_script, without = open_tab(browser), open_tab(browser, java_script_enabled=False)
    for path in pages_of(dirty):
        with_script.page.goto(dirty.url + path)
        without.page.goto(dirty.url + path)
        assert texts(without.page, "main") == texts(with_script.page, "main"), path
    without.page.goto(dirty.url)
    without.page.select_option("select[name=project]", "shop")
    without.page.fill("input[name=q]", "db")
    without.page.click("form.filter button")

    assert rows_of(without.page) == ["shop-db-1", "shop-api-1"], "what they print is looked into: api names db"
    without.page.click("thead a:has-text('Name')")
    assert rows_of(without.page) == ["shop-api-1", "shop-db-1"]
    without.page.click("#count a")
    without.page.click("a[aria-expanded]:has-text('cloud')")
    assert "cloud-redis-1" not in rows_of(without.page)
    without.page.click("text=Unfold all")
    assert len(rows_of(without.page)) == 41


def test_keys_lead_through_the_page_and_show_where_they_are(browser: Browser, dirty: Served) -> None:
    tab = open_tab(browser)
    tab.page.goto(dirty.url)
    tab.page.keyboard.press("Tab")
    assert tab.page.evaluate("document.activeElement.className") == "skip"
    assert tab.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    tab.page.keyboard.press("/")

    assert tab.page.evaluate("document.activeElement.name") == "q"


def test_a_page_of_500_containers_is_small_and_quick(browser: Browser, figure: Figure) -> None:
    with serve(crowd_host(500)) as served:
        tab = open_tab(browser)
        tab.page.goto(served.url)  # loads the templates
        sizes = {}
        for path in ("/", "/?open=*", "/?status=healthy", "/?sort=name", "/c/project-00-service-3-1"):
            answer = tab.page.goto(served.url + path)
            assert answer is not None
            sizes[path] = len(answer.body())
            seconds = tab.page.evaluate("performance.getEntriesByType('navigation')[0].domInteractive") / 1000
            assert seconds < INTERACTIVE_SECONDS_MAX, path
            if path == "/":
                figure(f"500 containers: {sizes[path] / 1000:.0f} kB, interactive after {1000 * seconds:.0f} ms")
        tab.page.goto(served.url)
        started = time.monotonic()
        tab.page.click("thead a:has-text('Name')")
        tab.page.wait_for_selector("[aria-sort=ascending]")
        seconds = time.monotonic() - started
        assert len(rows_of(tab.page)) == 500
        assert seconds < INTERACTIVE_SECONDS_MAX
    assert max(sizes.values()) <= PAGE_BYTES_MAX, sizes


@pytest.mark.parametrize("count", [41, 107])
def test_the_first_screen_has_the_sentence_the_failures_and_the_table(browser: Browser, count: int) -> None:
    with serve(dirty_host() if count == 41 else crowd_host(107)) as served:
        tab = open_tab(browser, 1280)
        tab.page.goto(served.url)
        boxes = {
            name: tab.page.locator(name).first.bounding_box() for name in ("#sentence", ".containers thead", "html")
        }
        heights = [box["height"] for one in tab.page.locator(".failures summary").all() if (box := one.bounding_box())]
        lines = [line.strip() for line in tab.page.inner_text("main").splitlines()]

    assert boxes["#sentence"]["height"] < 65, "two lines"  # type: ignore[index]
    assert max(heights) < 40, "a line each"
    assert boxes[".containers thead"]["y"] + 100 < SCREEN, "with the first rows below"  # type: ignore[index]
    assert boxes["html"]["height"] <= PAGE_LENGTH_MAX  # type: ignore[index]
    assert [line for line in set(lines) if len(line) > 25 and lines.count(line) > 1] == []


def test_a_filter_filters_all_and_says_how_much_it_has_found(browser: Browser, dirty: Served) -> None:
    tab = open_tab(browser)
    tab.page.goto(dirty.url)
    tab.page.fill("input[name=q]", "api_token")
    tab.page.wait_for_selector("#count a")
    assert tab.page.inner_text("#count").startswith("1 of 41 containers, 1 of 3 failures, 4 other things.")
    assert rows_of(tab.page) == ["bots-importer-1"]
    assert texts(tab.page, "section:has(#deployments) .who a") == ["bots"]
    assert tab.page.url.endswith("?q=api_token"), "it can be sent to somebody"
    tab.page.fill("input[name=q]", "no such words")
    tab.page.wait_for_selector(".empty")
    assert texts(tab.page, "#results > *") == ["Nothing here fits “no such words”. Show all"]

    tab.page.click("#count a")
    tab.page.wait_for_selector("#self")
    tab.page.select_option("select[name=project]", "cloud")
    tab.page.wait_for_selector("#count a")
    names = set(texts(tab.page, "#results a[href*='/c/']"))
    projects = set(texts(tab.page, "#results a[href*='/p/']"))
    assert {name.partition("-")[0] for name in names} == {"cloud"}
    assert projects == {"cloud"}
    tab.page.click(".share a:has-text('healthy')")
    tab.page.wait_for_selector(".share a[aria-current]")
    assert tab.page.inner_text("#count").startswith("5 of 41 containers, 0 of 3 failures")
    assert tab.said == []


def test_the_table_is_sorted_and_folded_by_keys(browser: Browser, dirty: Served) -> None:
    tab = open_tab(browser)
    tab.page.goto(dirty.url)
    assert tab.page.get_attribute("th.status", "aria-sort") == "descending"
    tab.page.focus("th.memory a")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector("th.memory[aria-sort=descending]")
    assert rows_of(tab.page)[0] == "search-opensearch-1"
    assert tab.page.evaluate("document.activeElement.closest('th').className") == "memory"
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector("th.memory[aria-sort=ascending]")
    assert rows_of(tab.page)[-2:] == ["bots-importer-1", "shop-db-1"], "what is not known stands last all the same"

    tab.page.goto(f"{dirty.url}/?open=-")
    assert "media-jellyfin-1" not in rows_of(tab.page)
    tab.page.focus("a[aria-expanded]:has-text('media')")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector("tr[data-row=media-jellyfin-1]")
    assert tab.page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    tab.page.keyboard.press("Enter")
    assert "media-jellyfin-1" not in rows_of(tab.page)


def test_a_row_takes_two_lines_on_a_phone(browser: Browser, dirty: Served) -> None:
    tab = open_tab(browser, 390)
    tab.page.goto(dirty.url)
    rows = tab.page.locator(".containers tr[data-row]").all()
    tall = [row.inner_text() for row in rows if (box := row.bounding_box()) is None or box["height"] > 60]

    assert len(rows) == 41
    assert tall == []


def test_numbers_are_those_of_the_newest_scan(browser: Browser, dirty: Served) -> None:
    tab = open_tab(browser)
    tab.page.goto(f"{dirty.url}/?open=-")
    tab.page.click("a[aria-expanded]:has-text('git')")
    tab.page.wait_for_selector("tr[data-row=git-forgejo-1]")
    tab.page.evaluate("window.stays = true")
    wait_until(lambda: any(url.endswith("/live") for url in tab.asked), "the page to listen")
    tab.page.wait_for_timeout(200)
    scan = dirty.context.scans.diagnosis
    assert scan is not None
    busy = [
        one if one.name != "git-forgejo-1" else one.model_copy(update={"usage": usage(cpu_ratio=0.77)})
        for one in scan.snapshot.containers
    ]
    publish(dirty.context, busy)
    dirty.site.live.wake()

    tab.page.wait_for_selector("tr[data-row=git-forgejo-1] td.u8:has-text('77 %')")
    assert tab.page.evaluate("window.stays"), "without a new page"
    assert tab.page.locator(".news").is_hidden()


def test_a_newer_scan_is_told_and_moves_nothing(browser: Browser, ailing: Served) -> None:
    tab = open_tab(browser)
    tab.page.goto(ailing.url)
    tab.page.wait_for_function("() => document.querySelector('[data-row=\"search-opensearch-1\"]')")
    rows = rows_of(tab.page)
    icon = tab.page.get_attribute("link[rel=icon]", "href")
    wait_until(lambda: any(url.endswith("/live") for url in tab.asked), "the page to listen")
    tab.page.wait_for_timeout(200)
    publish(ailing.context, (*HOMELAB, container(name="search-opensearch-1", compose=compose("opensearch", "search"))))
    ailing.site.live.wake()

    tab.page.wait_for_selector(".news:not([hidden])")
    assert rows_of(tab.page) == rows
    assert "Something has changed" in tab.page.inner_text(".news")
    assert tab.page.locator("[data-row='search-opensearch-1'].changed").count() == 1
    assert tab.page.inner_text("#sentence").startswith("All 32 are well.")
    assert tab.page.get_attribute("link[rel=icon]", "href") != icon
    tab.page.click(".news a")
    tab.page.wait_for_selector(".news[hidden]", state="attached")
    assert set(texts(tab.page, ".containers .pill")) == {"healthy"}


def test_a_scan_that_changes_nothing_is_no_news(browser: Browser, dirty: Served) -> None:
    tab = open_tab(browser)
    tab.page.goto(dirty.url)
    tab.page.evaluate("window.events = 0")
    tab.page.evaluate("new EventSource('live').addEventListener('scan', () => { window.events += 1; })")
    tab.page.wait_for_function("() => window.events === 1")
    publish(dirty.context, dirty.context.scans.diagnosis.snapshot.containers)  # type: ignore[union-attr]
    dirty.site.live.wake()
    tab.page.wait_for_function("() => window.events === 2")

    assert tab.page.locator(".news").is_hidden()
    assert tab.page.locator(".changed").count() == 0


def test_a_container_is_muted_and_an_incident_acknowledged_by_a_button(browser: Browser, dirty: Served) -> None:
    tab = open_tab(browser)
    tab.page.goto(f"{dirty.url}/c/media-jellyfin-1")
    tab.page.fill("input[name=why]", "moving <b>house</b>")
    tab.page.click("form.quiet button >> text=Quiet for an hour")

    assert tab.page.url == f"{dirty.url}/c/media-jellyfin-1"
    assert "until 13:00, by a person: moving <b>house</b>" in tab.page.inner_text("form.quiet")
    tab.page.goto(dirty.url)
    assert "1 quiet" in texts(tab.page, ".share li")
    assert texts(tab.page, "section:has(#quiet) li") == [
        "quiet media-jellyfin-1 until 13:00: moving <b>house</b> by a person"
    ]
    tab.page.goto(f"{dirty.url}/c/media-jellyfin-1")
    tab.page.click("form.quiet button[name=end]")
    assert tab.page.locator("form.quiet button[name=duration]").count() == 4
    tab.page.goto(dirty.url)
    tab.page.click(".failures summary >> nth=0")
    tab.page.click(".failures a:has-text('All of this failure') >> nth=0")
    tab.page.click("form.quiet button")
    assert "Acknowledged" in tab.page.inner_text("main")
    assert tab.page.locator("form.quiet").count() == 0
    assert tab.said == []


@pytest.mark.promise("S2")
def test_another_site_cannot_mute(browser: Browser, dirty: Served) -> None:
    with serve(healthy_host()) as elsewhere:
        own = open_tab(browser)
        own.page.goto(f"{dirty.url}/c/media-jellyfin-1")
        token = own.page.get_attribute("form.quiet input[name=token]", "value")
        foreign = open_tab(browser, bypass_csp=True)
        for start in (f"{elsewhere.url.replace('127.0.0.1', 'localhost')}/alerts", "about:blank"):
            foreign.page.goto(start)
            form = f"<form method=post action='{dirty.url}/quiet'><input name=token value={token}>"
            form += "<input name=name value=media><input name=duration value=1h><button>go</button></form>"
            foreign.page.set_content(form)
            with foreign.page.expect_response(f"{dirty.url}/quiet") as answer:
                foreign.page.click("button")
            assert answer.value.status == 403, start

    assert dirty.context.memory.memory.quiets == ()


def test_a_log_is_searched_and_its_newest_line_is_in_sight(browser: Browser, dirty: Served) -> None:
    for script in (True, False):
        tab = open_tab(browser, java_script_enabled=script)
        tab.page.goto(f"{dirty.url}/c/shop-api-1")
        newest = tab.page.locator("#lines .line").last
        box, line = tab.page.locator("#lines .log").bounding_box(), newest.bounding_box()
        assert box is not None
        assert line is not None
        assert box["y"] < line["y"] < box["y"] + box["height"], "in sight without a hand on it"
        assert newest.get_attribute("class") == "line error"
        assert texts(tab.page, "#lines mark") == ["ERROR: connect to db:5432 failed: Connection refused"] * 8
        tab.page.fill("input[name=find]", "orders/1")
        tab.page.click(".logbar button:has-text('Show')")
        tab.page.wait_for_selector("mark.found")
        assert texts(tab.page, "#lines mark") == ["orders/1"] * 11
        tab.page.fill("input[name=find]", "")
        tab.page.select_option("select[name=part]", "previous")
        if not script:
            tab.page.click(".logbar button:has-text('Show')")
        tab.page.wait_for_selector("#lines .pill")
        assert "has no log line from before its last start" in tab.page.inner_text("#lines")


@pytest.mark.promise("S3")
def test_a_log_is_watched_live_and_no_longer_than_somebody_looks(browser: Browser) -> None:
    context = stage_context(HOMELAB)
    host = Printing(context)
    with serve(replace(context, host=host)) as served:
        tab = open_tab(browser)
        tab.page.clock.install()
        tab.page.goto(f"{served.url}/c/media-jellyfin-1")
        tab.page.click("[data-tail]")
        tab.page.wait_for_selector("#lines .line.info")
        host.lines.append(line(HOSTILE, at=ago(1)))
        host.lines.append(line("ERROR: it broke", at=ago(1)))
        tab.page.wait_for_selector("#lines .line.error")
        assert [text.partition(" ")[2] for text in texts(tab.page, "#lines .line")] == [
            "INFO: ready",
            HOSTILE,
            "ERROR: it broke",
        ]
        assert tab.page.evaluate("window.hacked") is None
        tab.page.fill("input[name=find]", "BROKE")
        assert tab.page.locator("#lines .line:visible").count() == 1

        tab.page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
        tab.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        tab.page.clock.fast_forward(599_000)
        assert tab.page.get_attribute("[data-tail]", "aria-pressed") == "true"
        tab.page.clock.fast_forward(2_000)
        assert tab.page.get_attribute("[data-tail]", "aria-pressed") == "false"
        assert "nobody has looked for 10 minutes" in tab.page.inner_text(".tail")
        assert len(tab.page.locator("#lines .line").all()) == 3, "what was shown stays"
    assert tab.said == []


def test_what_can_be_copied_is_copied_as_it_stands(browser: Browser, dirty: Served) -> None:
    tab = open_tab(browser, permissions=["clipboard-read", "clipboard-write"])
    tab.page.goto(f"{dirty.url}/c/shop-api-1")
    tab.page.click("section:has(#todo) .copy")
    tab.page.wait_for_selector("[aria-label=Copied]")

    assert tab.page.evaluate("navigator.clipboard.readText()") == "docker logs --tail 50 shop-db-1"


def test_the_head_of_a_container_says_how_it_was_made_and_nothing_of_now_where_it_is_dead(browser: Browser) -> None:
    full = container(
        name="full",
        image="registry.example/team/app:2.4",
        image_id="sha256:" + "ab" * 32,
        labels={
            "org.opencontainers.image.version": "2.4.1",
            "org.opencontainers.image.created": "2025-12-22T12:00:00Z",
        },
        ports={"80/tcp": "8080", "9/tcp": None},
        networks=(network("front", aliases=("app",)),),
        mounts=(Mount(type="bind", source="/srv/app", target="/data", read_only=True),),
        limits=Limits(memory_bytes=2**28, cpus=1.5, pids=100),
        restart_policy="always",
        restart_count=3,
        health=health(HealthStatus.UNHEALTHY, failing_streak=2, probes=(probe(exit_code=7, output="refused <b>"),)),
    )
    dead = exited(1, name="dead", health=full.health, last_usage=usage())
    with serve(stage_context((full, dead))) as served:
        tab = open_tab(browser)
        tab.page.goto(f"{served.url}/c/full")
        head = dict(zip(texts(tab.page, "dl.facts > dt"), texts(tab.page, "dl.facts > dd"), strict=True))
        probed = tab.page.locator("dl.facts pre").text_content()
        tab.page.goto(f"{served.url}/c/dead")
        of_dead = tab.page.inner_text("main")

    assert head["Image"] == "registry.example/team/app:2.4 abababababab by its labels version 2.4.1, made 10 days ago"
    assert head["Ports"] == "8080→80/tcp, 9/tcp not published"
    assert head["Networks"].startswith("front")
    assert head["Mounts"] == "/data bind /srv/app, read-only"
    assert head["Limits"] == "memory 256.0 MiB, 1.5 CPUs, 100 processes"
    assert head["Restarts"] == "always, 3 by now"
    assert head["Health check"].startswith("unhealthy, failed 2 times in a row")
    assert "Last run: exit code 7" in head["Health check"]
    assert probed == "refused <b>"
    assert "Health check" not in of_dead
    assert " now " not in of_dead.replace("failure now", "")


def test_all_is_served_below_a_prefix(browser: Browser) -> None:
    with serve(dirty_host(), route_prefix="/docker/host") as served:
        tab = open_tab(browser)
        tab.page.goto(served.url.replace("/docker/host", "/"))
        assert tab.page.url == f"{served.url}/"
        tab.page.click(".containers tbody tr[data-row] th > a >> nth=0")
        tab.page.fill("input[name=why]", "x")
        tab.page.click("form.quiet button")
        assert tab.page.url.startswith(f"{served.url}/c/")
        tab.page.click("nav a:has-text('Timeline')")
        tab.page.click(".brand")
        assert tab.page.url == f"{served.url}/"
        outside = tab.page.goto(served.url.replace("/docker/host", "/metrics"))

    assert outside is not None
    assert outside.status == 404
    assert [url for url in tab.asked if url.startswith("http") and not url.startswith(served.url)] == [
        served.url.replace("/docker/host", "/"),
        served.url.replace("/docker/host", "/metrics"),
    ]


def test_a_user_is_let_in_and_their_streams_end_when_the_users_are_reloaded(browser: Browser, dirty: Served) -> None:
    dirty.users[0] = users(me="right horse")
    tab = open_tab(browser, http_credentials={"username": "me", "password": "right horse"})
    tab.page.goto(dirty.url)
    tab.page.evaluate("window.ended = 0; window.stream = new EventSource('live')")
    tab.page.evaluate("window.stream.addEventListener('error', () => { window.ended += 1; })")
    tab.page.wait_for_function("() => window.stream.readyState === 1")
    dirty.users[0] = users(you="other horse")
    dirty.site.live.wake()

    tab.page.wait_for_function("() => window.ended > 0")


@pytest.mark.parametrize("well", [True, False])
def test_it_prints_without_what_only_a_screen_needs(browser: Browser, well: bool) -> None:
    context = healthy_host() if well else stage_context((*shop(), *trouble()))
    with serve(context) as served:
        tab = open_tab(browser)
        tab.page.goto(served.url)
        tab.page.emulate_media(media="print")

        assert tab.page.locator("nav, form.filter").all() != []
        assert not any(one.is_visible() for one in tab.page.locator("nav, form.filter, .news, .links").all())
        assert tab.page.locator("#sentence").is_visible()


def test_the_pictures_of_the_documents_can_be_drawn(browser: Browser, tmp_path: Path) -> None:
    drawn = draw_pictures(browser, tmp_path)

    assert len(drawn) >= 6
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)
