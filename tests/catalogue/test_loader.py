"""Users' signature files are proven at load; a bad one is refused with its file and line, never its content."""

from pathlib import Path

import pytest

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.catalogue.loader import parse_signatures
from bcon_exporter.errors import SettingsError
from tests.architecture.sources import ROOT
from tests.table_rows import table

GOOD = """\
signatures:
- id: gateway_down
  category: network
  symptom: network_error
  patterns:
  - regex: 'gateway (?P<peer>[a-z.]+) did not answer'
    matches: ['gateway pay.example.org did not answer']
    ignores: ['gateway answered']
  explanation: The gateway did not answer in time.
  causes:
  - {id: gateway_outage, text: The gateway has an outage., confidence: 0.7}
"""


def write(folder: Path, text: str, name: str = "own.yaml") -> Path:
    (folder / name).write_text(text)
    return folder


def test_own_signatures_go_first(tmp_path: Path) -> None:
    loaded = load_catalogue(write(tmp_path, GOOD))

    assert loaded.signatures[0].id == "gateway_down"
    assert len(loaded.signatures) == len(load_catalogue().signatures) + 1


def test_a_shipped_id_is_replaced(tmp_path: Path) -> None:
    loaded = load_catalogue(write(tmp_path, GOOD.replace("gateway_down", "disk_full")))

    assert len(loaded.signatures) == len(load_catalogue().signatures)
    assert loaded.by_id["disk_full"].explanation.startswith("The gateway")


@table(
    ("text", "line", "reason"),
    [
        pytest.param(GOOD.replace("category: network", "category: weather"), 3, "category", id="unknown-category"),
        pytest.param(GOOD.replace("did not answer'", "did (not answer'"), 6, "not an RE2", id="bad-expression"),
        pytest.param(
            GOOD.replace("['gateway pay", "['Gateway pay"), 6, "does not find its example", id="wrong-example"
        ),
        pytest.param(GOOD.replace("['gateway answered", "['gateway x did not answer"), 6, "ignores", id="too-wide"),
        pytest.param(GOOD.replace("'gateway (?P<peer>[a-z.]+) did not answer'", "'x*y*'"), 6, "empty line", id="empty"),
        pytest.param(GOOD.replace("?P<peer>", "?P<who>"), 6, "peer", id="unknown-group"),
        pytest.param(GOOD.replace("  explanation", "  explanaton"), 9, "explanaton: is unknown here", id="typo"),
        pytest.param(f"{GOOD}  lasts_until: 'x (y'\n", 12, "lasts_until: not an RE2", id="bad-end"),
        pytest.param(f"{GOOD}  lasts_until: 'x*y*'\n", 12, "lasts_until: it matches an empty line", id="empty-end"),
        pytest.param(GOOD + GOOD.split("\n", 1)[1], 12, "twice", id="id-twice"),
        pytest.param("signatures:\n- id: [unclosed\n", 3, "not valid YAML", id="not-yaml"),
        pytest.param("[" * 500_000, None, "nested too deeply", id="deep"),
        pytest.param("- " * 2_000, None, "nested too deeply", id="deep-and-valid"),
        pytest.param(f"signatures: {'9' * 5_000}\n", None, "value that YAML cannot read", id="long-number"),
        pytest.param("signatures: 2026-13-45\n", None, "value that YAML cannot read", id="impossible-date"),
        pytest.param("signatures: !!int ''\n", None, "value that YAML cannot read", id="forced-type"),
        pytest.param("- just a list\n", 1, "must be", id="another-shape"),
        pytest.param("", None, "must be", id="empty-file"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, text: str, line: int | None, reason: str) -> None:
    with pytest.raises(SettingsError, match=reason) as caught:
        load_catalogue(write(tmp_path, text))

    assert "own.yaml" in caught.value.message
    if line is not None:
        assert caught.value.details["line"] == line
    assert "pay.example.org" not in caught.value.message


@pytest.mark.promise("F8", "S5")
def test_a_slow_pattern_is_refused(tmp_path: Path) -> None:
    slow = GOOD.replace("gateway (?P<peer>[a-z.]+) did not answer", "(?:[a-z .]{0,200}){10}answer")

    with pytest.raises(SettingsError, match=r"too large|takes|not an RE2"):
        load_catalogue(write(tmp_path, slow))


def test_a_missing_directory_and_an_odd_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        load_catalogue(tmp_path / "absent")
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(SettingsError, match="regular file"):
        load_catalogue(tmp_path)


def test_one_id_in_two_files_is_refused(tmp_path: Path) -> None:
    write(tmp_path, GOOD, "a.yaml")

    with pytest.raises(SettingsError, match="already used"):
        load_catalogue(write(tmp_path, GOOD, "b.yaml"))


def test_other_files_in_the_directory_are_left_alone(tmp_path: Path) -> None:
    write(tmp_path, "not yaml: [", "README.md")

    assert load_catalogue(tmp_path) == load_catalogue()


def test_at_a_reload_the_catalogue_in_use_stays_until_a_signature_changes(tmp_path: Path) -> None:
    before = load_catalogue(write(tmp_path, GOOD))

    assert load_catalogue(tmp_path) is before
    assert load_catalogue(write(tmp_path, GOOD.replace("pay.example", "buy.example"))) != before


def test_the_signature_that_contributors_begin_with_is_one_that_loads() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text()
    example = page.partition("```yaml\n")[2].partition("```")[0]

    [signature] = parse_signatures(example, "CONTRIBUTING.md", prove=True)

    assert signature.id == "shop_stock_locked"
