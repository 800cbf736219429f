"""Equal meaning gives equal text, whichever way a file or the engine spells it; a default gives none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.secrets import normal_form as form
from bcon_exporter.secrets.masking import Sealer
from tests.table_rows import table


@table(
    ("one", "other"),
    [
        (form.duration_of("1m30s"), form.duration_of(90_000_000_000)),
        (form.duration_of("1.5s"), form.duration_of("1500ms")),
        (form.bytes_of("67108864"), form.bytes_of(64 * 1024**2)),
        (form.capabilities_of(["net_admin", "CAP_CHOWN"]), form.capabilities_of(["CHOWN", "CAP_NET_ADMIN"])),
        (form.restart_of("any", ""), form.restart_of("always", 0)),
        (form.restart_of("on-failure", "3"), form.restart_of("on-failure", 3)),
        (form.directory_of("/data/"), form.directory_of("/data")),
        (form.security_options_of(["no-new-privileges"]), form.security_options_of(["no-new-privileges:true"])),
        (form.security_options_of(["seccomp:./p.json"]), form.security_options_of(['seccomp={"a": 1}'])),
        (form.security_options_of(["apparmor:x"]), form.security_options_of(["apparmor=x"])),
        (form.hosts_of(["a=1.2.3.4", "b=::1"]), form.hosts_of(["a:1.2.3.4", "b:[::1]"])),
        (form.options_of("size=1m,mode=700"), form.options_of("mode=700,size=1m")),
        (form.mount_of("volume", "a" * 64, read_only=False), form.mount_of("volume", "", read_only=False)),
        (form.cpus_of(500_000_000), "0.5"),
        (form.words_of("serve"), form.words_of(["serve"])),
        (form.bindings_of([("", "1"), ("127.0.0.1", "2")]), form.bindings_of([("127.0.0.1", "2"), ("", "1")])),
    ],
)
def test_two_spellings_of_one_meaning_are_one_text(one: object, other: object) -> None:
    assert one == other
    assert one is not None


@table(
    "text",
    [
        form.restart_of("no", 0),
        form.restart_of("", 0),
        form.number_of(0),
        form.number_of(-1, default=-1),
        form.bytes_of(128, default=128),
        form.words_of([]),
        form.words_of([""]),
        form.words_of(None),
        form.duration_of("0s"),
        form.text_of(False),
        form.text_of(""),
        form.capabilities_of(None),
        form.ordered_of([]),
        form.cpus_of(None),
    ],
)
def test_a_default_is_no_text(text: object) -> None:
    assert text is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (form.words_of(["a b"]), form.words_of(["a", "b"])),
        (form.words_of(["a", "b"]), form.words_of(["b", "a"])),
        (form.ordered_of(["1.1.1.1", "8.8.8.8"]), form.ordered_of(["8.8.8.8", "1.1.1.1"])),
        (form.mount_of("bind", "/a", read_only=True), form.mount_of("bind", "/a", read_only=False)),
        (form.bindings_of([("127.0.0.1", "80")]), form.bindings_of([("", "80")])),
        (form.security_options_of(["seccomp:unconfined"]), form.security_options_of(["seccomp:./p.json"])),
    ],
)
def test_two_meanings_are_two_texts(one: object, other: object) -> None:
    assert one != other


@pytest.mark.parametrize("text", ["²", "--5", "much"])
def test_a_size_that_is_no_number_stays_as_it_is(text: str) -> None:
    assert form.bytes_of(text) == text


@given(st.integers(1, 10**12))
def test_sizes_and_durations_keep_their_value(number: int) -> None:
    text = form.bytes_of(number)
    assert text is not None
    factor = {"g": 1024**3, "m": 1024**2, "k": 1024}.get(text[-1], 1)
    assert int(text.rstrip("gmk")) * factor == number
    assert form.duration_nanoseconds(form.duration_of(number)) == number


def test_what_is_explicitly_absent_has_no_fingerprint() -> None:
    sealed = form.seal_fields({"command": form.ABSENT_TEXT, "user": "5"}, Sealer(b"k" * 32))
    assert sealed["command"] == form.EXPLICITLY_ABSENT
    assert sealed["user"].fingerprint
