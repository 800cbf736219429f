"""Promise: an edit is judged and never written; what `up` would do then is told; no secret can be guessed by edits."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.cli.check_command import add_diff, make_ci_report
from bcon_exporter.cli.report_formats import CHECK_FORMATS, write_report
from bcon_exporter.compose import ComposeOptions, ComposeReader, find_binary
from bcon_exporter.errors import InvalidInputError
from bcon_exporter.host_secrets import HostSecrets
from bcon_exporter.model.container_facts import ConfigFacts
from bcon_exporter.model.what_if import LineChange
from bcon_exporter.secrets.masking import Sealer
from bcon_exporter.tools import call_tool, run_tool
from bcon_exporter.tools.check import CHECK
from bcon_exporter.tools.replay import SnapshotHost
from bcon_exporter.tools.what_if import apply_changes, render_diff
from tests.factories import compose, container, snapshot
from tests.table_rows import table
from tests.tools.hosts import context_of

if TYPE_CHECKING:
    from pathlib import Path

    from bcon_exporter.tools import Context

FILE_NAME = "/srv/compose.yaml"
TEXT = "a: 1\nPASSWORD: hunter2-very-secret # is old\nb: b b\n"


def as_is(text: str) -> str:
    return text


def change(line: int, old: str, new: str) -> LineChange:
    return LineChange(line=line, old=old, new=new)


@pytest.mark.parametrize(
    ("changes", "after"),
    [
        ([(1, "1", "2")], TEXT.replace("1", "2")),
        ([(1, "a: 1", "")], TEXT.replace("a: 1", "")),
        ([(1, "1", "1\nc: 3"), (3, "b: b", "d:")], TEXT.replace("1", "1\nc: 3").replace("b: b", "d:", 1)),
        ([(1, "1", "2"), (1, "a", "c")], TEXT.replace("a: 1", "c: 2")),
        ([(2, "***", "${PASS}")], TEXT.replace("hunter2-very-secret", "${PASS}")),
        (
            [(2, "PASSWORD: *** # is old", "MODE: fast")],
            TEXT.replace("PASSWORD: hunter2-very-secret # is old", "MODE: fast"),
        ),
    ],
)
def test_changes_are_made_in_the_lines_as_they_are_numbered_in_the_file(
    changes: list[tuple[int, str, str]], after: str
) -> None:
    assert apply_changes(TEXT, [change(*one) for one in changes], FILE_NAME, as_is) == after


@pytest.mark.parametrize(
    ("line", "old", "field"),
    [(1, "2", "changes.0.old"), (9, "a", "changes.0.line"), (3, "b", "changes.0.old"), (2, "1", "changes.0.old")],
)
def test_what_does_not_fit_is_refused_with_its_line(line: int, old: str, field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        apply_changes(TEXT, [change(line, old, "x")], FILE_NAME, as_is)
    assert caught.value.details["line"] == line
    assert [one["field"] for one in caught.value.details["errors"]] == [field]  # type: ignore[attr-defined]


@pytest.mark.parametrize("guess", ["hunter2-very-secret", "hunter2", "h", "very", "secret"])
def test_a_secret_cannot_be_guessed_by_what_is_said_to_stand_in_a_line(guess: str) -> None:
    said = []
    for text in (TEXT, TEXT.replace("hunter2-very-secret", "zzzzzzz-zzzz-zzzzzz")):
        with pytest.raises(InvalidInputError) as caught:
            apply_changes(text, [change(2, guess, "x")], FILE_NAME, as_is)
        said.append((caught.value.message, caught.value.details))
    assert said[0] == said[1]


@table(
    "changes",
    [
        [(1, "OLD_PASSWORD", "NOTE")],
        [(3, "DB_PASSWORD", "NOTE")],
        [(3, "DB_", "x_")],
        [(4, "DB_PASSWORD", "NOTE")],
        [(4, "DB_PASSWORD", "NOTE:\n  # DB_PASSWORD")],
        [(4, "DB_PASSWORD:", "DB_PASSWORD:\n    x\n  NOTE:")],
        [(4, "DB_PASSWORD: ", "")],
        [(6, "passwords", "notes")],
        [(10, "DB_PASSWORD", "NOTE")],
        [(12, "PASSWORD: ***", "NOTE: |")],
        [(2, "x", "last: 1\nmore: 1"), (4, "DB_PASSWORD", "NOTE"), (15, "last", "a"), (16, "more", "b")],
    ],
)
def test_no_change_leaves_a_secret_without_what_it_is_known_by(changes: list[tuple[int, str, str]]) -> None:
    text = (
        "# OLD_PASSWORD: sommer-a\nx:\n  DB_PASSWORD: sommer-b\n  DB_PASSWORD: \n    sommer-c\n"
        "  passwords:\n    - sommer-d\n    - sommer-e\n  items:\n  - name: DB_PASSWORD\n    value: sommer-f\n"
        "  PASSWORD: |\n    sommer-g\n    sommer-h\nlast: 1\nmore: 1\n"
    )
    assert "sommer" not in render_diff(text, "", "x", as_is)
    with pytest.raises(InvalidInputError, match="give content instead") as caught:
        apply_changes(text, [change(*one) for one in changes], FILE_NAME, as_is)
    assert "sommer" not in str(caught.value.details)


def test_lines_beside_a_secret_are_changed_as_ever() -> None:
    text = "a: 1\r\nx:\n  DB_PASSWORD:\n    sommer\n  MODE: fast\n"
    changes = [change(1, "1", "2"), change(2, "x", "y"), change(5, "fast", "slow\n  MORE: 1")]
    after = apply_changes(text, changes, FILE_NAME, as_is)
    assert after == "a: 2\r\ny:\n  DB_PASSWORD:\n    sommer\n  MODE: slow\n  MORE: 1\n"


def test_a_change_of_a_secret_alone_shows_in_the_diff_and_the_secret_does_not() -> None:
    diff = render_diff(TEXT, TEXT.replace("hunter2-very-secret", "another-Secret-9"), "/srv/compose.yaml", as_is)
    assert diff.splitlines()[:3] == ["--- /srv/compose.yaml", "+++ /srv/compose.yaml", "@@ -1,4 +1,4 @@"]
    assert [line[0] for line in diff.splitlines()[3:]] == [" ", "-", "+", " ", " "]
    assert "hunter2" not in diff
    assert "another" not in diff


def test_no_edit_has_no_diff() -> None:
    assert render_diff(TEXT, TEXT, "x", as_is) == ""


def test_who_may_not_read_the_file_sees_no_line_that_stays() -> None:
    text = "\n".join(f"line{number}: {number}" for number in range(1, 10))
    diff = render_diff(text, text.replace("5: 5", "5: 6") + "\n# end", "x.yaml", str, context_lines=0)

    assert diff.split("\n") == [
        "--- x.yaml",
        "+++ x.yaml",
        "@@ -5 +5 @@",
        "-line5: 5",
        "+line5: 6",
        "@@ -9,0 +10 @@",
        "+# end",
    ]


def test_an_edit_at_the_end_of_a_long_file_is_in_the_diff() -> None:
    text = "".join(f"line{number}: {number}\n" for number in range(4000))
    diff = render_diff(text, text.replace("line3999: 3999", "line3999: 4"), "x.yaml", as_is)
    assert "-line3999: 3999\n+line3999: 4\n" in diff


# ---- with the real Compose binary

FILE = """\
name: shop
services:
  web:
    image: app:1
    environment:
      MODE: fast
      API_TOKEN: ${TOKEN}
  db:
    image: db:1
    env_file: db.env
"""


class Shop:
    """A project on disk, and a host on which nothing of it, or its containers by claim, are."""

    def __init__(self, folder: Path, *, trusted: bool = True, roots: tuple[Path, ...] = ()) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.file = folder / "compose.yaml"
        self.file.write_text(FILE)
        (folder / ".env").write_text("TOKEN=hunter2-very-secret\n")
        (folder / "db.env").write_text("DB_PASSWORD=swordfish-very-secret\n")
        claims: dict[str, Any] = {"config_files": (str(self.file),), "working_dir": str(folder), "config_hash": "h"}
        config = ConfigFacts(fields={}, image_fields={})
        facts = snapshot(
            container(name="shop-web-1", image="app:1", compose=compose("web", **claims), config=config),
            container(name="shop-db-1", image="db:1", compose=compose("db", **claims), config=config),
            networks=(),
            volumes=(),
        )
        binary = find_binary(os.environ["PATH"])
        environ = {"PATH": os.environ["PATH"], **({"HOME": str(folder)} if trusted else {})}
        options = ComposeOptions(binary=binary, environ=environ, trusted=trusted, roots=roots, wait_seconds=60)
        self.book = HostSecrets()
        reader = ComposeReader(options, Sealer(b"k" * 32), self.book)
        self.context: Context = replace(context_of(facts), compose=reader, secrets=self.book, one_shot=trusted)

    def ask(self, **payload: Any) -> dict[str, Any]:
        answer = call_tool(self.context, "modify_config", {"path": str(self.file), **payload}).data()
        assert "hunter2" not in str(answer)
        assert "swordfish" not in str(answer)
        return answer

    def state(self) -> dict[str, tuple[bytes, int]]:
        return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in self.folder.iterdir()}


@pytest.mark.integration
def test_an_edit_is_judged_and_the_files_stay_as_they_are(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop")
    before = shop.state()
    told = shop.ask(changes=[{"line": 9, "old": "db:1", "new": "db:2"}])["result"]
    assert shop.state() == before
    assert (told["project"], told["path"], told["written"]) == ("shop", str(shop.file), False)
    image = [one for one in told["appears"] if one["drift_type"] == "image_mismatch"]
    assert [(one["service_name"], one["expected"], one["actual"]) for one in image] == [("db", "db:2", "db:1")]
    assert "db" in told["recreates"]
    assert told["diff"].endswith("-    image: db:1\n+    image: db:2")
    assert told["summary"].endswith("Nothing was written.")


@pytest.mark.integration
@pytest.mark.parametrize("value", ["sommer", "hunter2-very-secret"])
def test_no_edit_makes_the_value_of_a_secret_variable_one_that_is_told(tmp_path: Path, value: str) -> None:
    shop = Shop(tmp_path / "shop")
    (shop.folder / ".env").write_text(f"TOKEN={value}\nTAG=1\n")
    shop.file.write_text(FILE.replace("image: app:1", "image: app:${TAG}"))
    for path, changes in (
        (shop.file, [{"line": 9, "old": "db:1", "new": "db:${TOKEN}"}]),
        (shop.folder / ".env", [{"line": 2, "old": "TAG=***", "new": "TAG=${TOKEN}"}]),
    ):
        answer = shop.ask(path=str(path), changes=changes)
        assert answer["error"]["code"] == "invalid_input"
        assert "would show the value of a variable" in answer["error"]["message"]
        assert value not in str(answer)


HARMLESS = {
    "a value in an environment": ("compose.yaml", FILE.replace("MODE: fast", "MODE: Cnry-new-3")),
    "a value and a comment": ("compose.yaml", FILE.replace("MODE: fast", "MODE: Cnry-new-3 # Cnry-new-4")),
    "no YAML any more": ("compose.yaml", FILE.replace("MODE: fast", "MODE: Cnry-new-3\n  }")),
    "all of an env file": (".env", "TOKEN=other\nREGION=Cnry-new-3\n"),
    "all of a service's env file": ("db.env", "LEVEL=Cnry-new-3\n# LEVEL=Cnry-new-4\n"),
    "none of it": ("db.env", ""),
}


@pytest.mark.promise("S9")
@pytest.mark.integration
def test_no_value_of_a_variable_is_shown_whatever_its_name_and_the_face(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = Shop(tmp_path / "shop")
    shop.file.write_text(FILE.replace("MODE: fast", "MODE: Cnry-old-1"))
    (shop.folder / ".env").write_text("TOKEN=hunter2-very-secret\nREGION=Cnry-old-2\n")
    (shop.folder / "db.env").write_text("LEVEL=Cnry-old-5\n# LEVEL=Cnry-old-6\n")
    checked = run_tool(shop.context, CHECK, {"files": [str(shop.file)]})
    for kind, (name, content) in HARMLESS.items():
        path = str(shop.folder / name)
        envelope = call_tool(shop.context, "modify_config", {"path": path, "content": content})
        assert envelope.error is None, kind
        faces = {"JSON": str(envelope.data())}
        original = {path: (shop.folder / name).read_text()}
        report = add_diff(checked.value, original, {path: content}, shop.context.secrets.hide)
        for form in CHECK_FORMATS:
            write_report(form, (), report, partial(make_ci_report, report, "fails"))
            faces[f"check {form}"] = capsys.readouterr().out
        assert len(faces) == 1 + len(CHECK_FORMATS)
        for face, shown in faces.items():
            assert "Cnry" not in shown, (kind, face)
            assert "hunter2" not in shown, (kind, face)
        changed = {"compose.yaml": "MODE: *** (changed)", ".env": "+REGION=*** (changed)"}.get(name, "-LEVEL=***")
        assert changed in str(report.diff) or kind in ("a value and a comment", "no YAML any more"), kind


@pytest.mark.promise("S9")
def test_a_value_of_a_variable_cannot_be_guessed_and_can_be_replaced() -> None:
    text = "services:\n  web:\n    environment:\n      MODE: fast\n      LEVEL: low\n"
    for guess in ("fast", "f", "MODE: f"):
        with pytest.raises(InvalidInputError, match="a hidden value is"):
            apply_changes(text, [change(4, guess, "x")], FILE_NAME, as_is)
    for old, new in (("MODE: ***", "MODE: slow"), ("***", "slow")):
        assert apply_changes(text, [change(4, old, new)], FILE_NAME, as_is) == text.replace("fast", "slow")
    for line, old, new in (
        (3, "environment", "labels"),
        (3, "environment:", "environment: {}\n    labels:"),
        (2, "web:", "w: }"),
    ):
        with pytest.raises(InvalidInputError, match="give content instead"):
            apply_changes(text, [change(line, old, new)], FILE_NAME, as_is)


@pytest.mark.promise("S9")
@pytest.mark.integration
def test_no_edit_makes_the_value_of_any_variable_one_that_is_told(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop")
    (shop.folder / ".env").write_text("TOKEN=x\nTAG=1\nREGION=Cnry-old-2\n")
    shop.file.write_text(FILE.replace("image: app:1", "image: app:${TAG}"))
    labels = "db:1\n    label_file: .env"
    for path, line, old, new, is_refused in (
        (shop.file, 9, "db:1", "db:${REGION}", True),
        (shop.file, 9, "db:1", "db:${OTHER:-${REGION}}", True),
        (shop.folder / ".env", 2, "TAG=***", "TAG=$REGION", True),
        (shop.file, 9, "db:1", labels, True),
        (shop.file, 9, "db:1", "db:${TAG}", False),
        (shop.file, 9, "db:1", "db:${ABSENT:-2}", False),
        (shop.file, 6, "MODE: ***", "MODE: $REGION", False),
    ):
        answer = shop.ask(path=str(path), changes=[{"line": line, "old": old, "new": new}])
        assert "Cnry" not in str(answer), new
        assert ("error" in answer) is is_refused, (new, answer)


@pytest.mark.integration
def test_a_difference_of_now_that_the_edit_ends_vanishes(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop")
    shop.file.write_text(FILE.replace("db:1", "db:3"))
    told = shop.ask(changes=[{"line": 9, "old": "db:3", "new": "db:1"}])["result"]
    assert [(one["service_name"], one["drift_type"]) for one in told["vanishes"]] == [("db", "image_mismatch")]
    assert not [one for one in told["appears"] if one["drift_type"] == "image_mismatch"]


@pytest.mark.integration
def test_a_service_that_the_edit_adds_is_created_and_one_that_it_takes_away_is_an_orphan(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop")
    told = shop.ask(content="name: shop\nservices:\n  web:\n    image: app:1\n  job:\n    image: job:1\n")["result"]
    actions = {one["service"]: one["action"] for one in told["services"]}
    assert (actions["job"], actions["db"]) == ("create", "orphan")


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "text", "field"),
    [("db.env", "DB_PASSWORD=swordfish-very-secret\nMORE=1\n", "environment.MORE"), (".env", "TOKEN=other\n", None)],
)
def test_files_that_the_compose_file_reads_can_be_edited_too(
    tmp_path: Path, name: str, text: str, field: str | None
) -> None:
    shop = Shop(tmp_path / "shop")
    before = shop.state()
    told = shop.ask(path=str(shop.folder / name), content=text)["result"]
    assert shop.state() == before
    assert told["path"] == str(shop.folder / name)
    assert field is None or field in {one["field"] for one in told["appears"]}


@pytest.mark.integration
def test_a_file_that_is_not_there_yet_can_be_thought_of(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop")
    override = shop.folder / "compose.override.yaml"
    told = shop.ask(path=str(override), content="services:\n  web:\n    image: app:9\n")["result"]
    assert not override.exists()
    assert [one["expected"] for one in told["appears"] if one["drift_type"] == "image_mismatch"] == ["app:9"]


@pytest.mark.integration
def test_an_edit_that_compose_refuses_would_not_come_up(tmp_path: Path) -> None:
    told = Shop(tmp_path / "shop").ask(changes=[{"line": 9, "old": "image", "new": "imagee"}])["result"]
    assert told["verdict"] == "fails"
    assert [one["code"] for one in told["findings"]] == ["compose_error"]
    assert told["vanishes"] == []


@pytest.mark.integration
def test_what_an_edit_says_is_a_secret_hides_nothing_of_the_host(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop")
    shop.ask(changes=[{"line": 6, "old": "MODE: fast", "new": "ADMIN_PASSWORD: exit-Code-137"}])
    assert shop.book.hide("it ended: exit-Code-137") == "it ended: exit-Code-137"


@pytest.mark.integration
def test_a_file_that_nothing_reads_cannot_be_judged(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop")
    (shop.folder / "nginx.conf").write_text("worker_processes 1;\n")
    assert shop.ask(path=str(shop.folder / "nginx.conf"), content="x")["error"]["code"] == "invalid_input"
    assert shop.ask(path=str(tmp_path / "none.yaml"), content="x")["error"]["code"] == "compose_file_not_found"


def claimants(shop: Shop, *names: str) -> Context:
    """The host, on which a container of each of these projects claims the shop's file."""
    claims: dict[str, Any] = {"config_files": (str(shop.file),), "working_dir": str(shop.folder), "config_hash": "h"}
    all_of_them = [container(name=f"{name}-web-1", compose=compose("web", name, **claims)) for name in names]
    return replace(shop.context, host=SnapshotHost(snapshot(*all_of_them, networks=(), volumes=())))


@pytest.mark.integration
@pytest.mark.parametrize("name", ["compose.yaml", ".env", "db.env"])
def test_a_container_that_claims_the_file_of_another_project_forbids_no_edit_of_it(tmp_path: Path, name: str) -> None:
    shop = Shop(tmp_path / "roots" / "shop", trusted=False, roots=(tmp_path / "roots",))
    shop.context = claimants(shop, "evil", "shop")
    content = FILE if name == "compose.yaml" else "A=1\n"
    assert shop.ask(path=str(shop.folder / name), content=content)["result"]["project"] == "shop"


@pytest.mark.integration
def test_of_projects_of_which_the_file_names_none_the_caller_names_one(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "roots" / "shop", trusted=False, roots=(tmp_path / "roots",))
    shop.context = claimants(shop, "live", "test")
    assert shop.ask(content=FILE)["error"]["details"]["projects"] == ["live", "test"]
    assert shop.ask(content=FILE, project_name="test")["result"]["project"] == "test"


@pytest.mark.integration
def test_a_daemon_judges_edits_below_its_roots_and_tells_nothing_of_other_files(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "roots" / "shop", trusted=False, roots=(tmp_path / "roots",))
    (tmp_path / "other.yaml").write_text(FILE)
    before = shop.state()
    told = shop.ask(changes=[{"line": 9, "old": "db:1", "new": "db:2"}])["result"]
    assert shop.state() == before
    assert [one["expected"] for one in told["appears"] if one["drift_type"] == "image_mismatch"] == ["db:2"]
    outside = [shop.ask(path=str(tmp_path / name), content=FILE)["error"] for name in ("other.yaml", "absent.yaml", "")]
    assert {one["code"] for one in outside} == {"compose_file_not_found"}
    assert len({str(one) for one in outside}) == 1


@pytest.mark.integration
@pytest.mark.parametrize("name", ["other.env", "absent.env"])
def test_an_edit_cannot_make_the_daemon_read_files_outside_of_its_roots(tmp_path: Path, name: str) -> None:
    shop = Shop(tmp_path / "roots" / "shop", trusted=False, roots=(tmp_path / "roots",))
    (tmp_path / "other.env").write_text("LEAK=1\n")
    told = shop.ask(changes=[{"line": 10, "old": "db.env", "new": f"../../{name}"}])["result"]
    assert told["verdict"] == "unknown"
    assert "LEAK" not in str(told)
    assert told["summary"].replace(name, "") == (
        f"With this edit: Nothing could be judged: The file {tmp_path}/ lies outside of compose.roots: add its folder "
        "to compose.roots. Nothing was written."
    )


@pytest.mark.integration
def test_a_file_outside_of_the_roots_cannot_be_edited_though_a_project_names_it(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "roots" / "shop", trusted=False, roots=(tmp_path / "roots",))
    other = tmp_path / "other.env"
    other.write_text("LEAK=1\n")
    shop.file.write_text(FILE.replace("db.env", "../../other.env"))
    for edit in ({"content": "LEAK=2\n"}, {"changes": [{"line": 1, "old": "LEAK=1", "new": "LEAK=2"}]}):
        answer = shop.ask(path=str(other), **edit)
        assert answer["error"]["code"] == "compose_file_not_found"
        assert "LEAK" not in str(answer)


@pytest.mark.integration
def test_an_edit_that_no_name_leads_to_is_refused(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop")
    part = shop.folder / "part.yaml"
    part.write_text("services:\n  job:\n    image: job:1\n")
    shop.file.write_text(f"include: [{part}]\n{FILE}")
    error = shop.ask(path=str(part), content="services:\n  job:\n    image: job:2\n")["error"]
    assert error["code"] == "invalid_input"
    assert "cannot be judged" in error["message"]


@pytest.mark.integration
def test_no_folder_of_an_edit_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    shop = Shop(tmp_path / "shop")
    shop.ask(changes=[{"line": 9, "old": "db:1", "new": "db:2"}])
    shop.ask(path=str(shop.folder / "db.env"), content="A=1\n")
    assert list(temporary.iterdir()) == []
