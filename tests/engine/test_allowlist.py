"""Nothing but an allowed read ever passes the gate, however it is dressed up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcon_exporter.engine.allowlist import (
    RequestRefusedError,
    check_request,
    is_valid_image,
    is_valid_reference,
)
from tests.table_rows import table

ID = "4f" * 32
DIGEST = "sha256:" + "0a" * 32
GOOD = (
    "/_ping",
    "/version",
    "/v1.41/info",
    "/v1.24/events?since=1.000000001&filters=%7B%22type%22%3A%5B%22container%22%5D%7D",
    "/v1.41/containers/json?all=1",
    f"/v1.41/containers/{ID}/json",
    f"/v1.41/containers/{ID}/stats?stream=false&one-shot=true",
    f"/containers/{ID}/logs?stdout=1&stderr=1&timestamps=1&tail=200&since=1700000000.123456789",
    "/containers/my_app-1.x/json",
    f"/images/{DIGEST}/json",
    "/images/bb:1/json",
    "/images/library/nginx:1.25-alpine/json",
    "/images/localhost:5000/team/app/json",
    f"/images/ghcr.io/team/app:v1@{DIGEST}/json",
    f"/images/ghcr.io/team/app%40{DIGEST}/json",
    "/networks",
    f"/networks/{ID}",
    "/volumes",
    "/volumes/my_data",
    "/v1.50/system/df",
)
EVIL = (
    "",
    "/",
    "*",
    "version",
    "//version",
    "/version/",
    "/version//",
    "/version#x",
    "/version;x",
    "/Version",
    "/version\n",
    "/version ",
    " /version",
    "/version HTTP/1.1\r\nX: y",
    "/version?x=1\r\nHost: evil",
    "/version?x= y",
    '/version?x="',
    "/v2.0/version",
    "/v1/version",
    "/v1.411/version",
    "/v1.4x/version",
    "/v1.41/v1.41/version",
    "http://evil/version",
    "/v1.41/../version",
    "/./version",
    f"/containers/{ID}/archive?path=/etc/shadow",
    f"/containers/{ID}/export",
    f"/containers/{ID}/%65xport",
    f"/containers/{ID}%2fexport",
    f"/containers/{ID}%2Fexport",
    f"/containers/{ID}/json/",
    f"/containers/{ID}/json/../export",
    f"/containers/{ID}/attach/ws",
    f"/containers/{ID}/top",
    f"/containers/{ID}/changes",
    f"/containers/{ID}/exec",
    f"/containers/{ID}/start",
    f"/containers/{ID}//json",
    f"/containers/{ID};/json",
    f"/containers/{ID}\\json",
    f"/containers/{ID}\x00/json",
    "/containers/../images/x/json",
    "/containers/..%2fimages/x/json",
    "/containers/%2e%2e/images/x/json",
    "/containers/a..b/json",
    "/containers/.hidden/json",
    "/containers/-x/json",
    "/containers/é/json",
    "/containers/１２/json",  # noqa: RUF001 - full-width digits
    "/containers//json/x",
    f"/containers/{'a' * 256}/json",
    "/images/x/../../containers/y/json",
    "/images//json",
    "/images/x//y/json",
    "/images/x/get",
    "/images/x/history",
    "/images/x%2fy/json",
    "/images/x%40evil/json",
    "/images/x@sha256:short/json",
    "/images/get?names=x",
    "/images/json",
    "/images/search?term=x",
    "/exec/abc/json",
    "/secrets",
    "/configs",
    "/swarm",
    "/swarm/unlockkey",
    "/services",
    "/tasks",
    "/nodes",
    "/plugins",
    "/auth",
    "/build",
    "/commit",
    "/session",
    "/grpc",
    "/distribution/x/json",
    "/system/df/x",
    "/networks/prune/x",
    "/volumes/a/b",
    "/debug/pprof/heap",
    "/metrics",
    "/containers/json?" + "a" * 9000,
)


@table("target", GOOD)
@table("method", ["GET", "HEAD"])
def test_the_reads_we_need_pass(method: str, target: str) -> None:
    check_request(method, target)


@pytest.mark.promise("S7")
@table("target", EVIL)
def test_everything_else_is_refused(target: str) -> None:
    with pytest.raises(RequestRefusedError):
        check_request("GET", target)


@pytest.mark.promise("S7")
@table("method", ["POST", "PUT", "DELETE", "PATCH", "CONNECT", "OPTIONS", "TRACE", "get", "", None])
@table("target", GOOD[:5])
def test_no_other_method_passes(method: str | None, target: str) -> None:
    with pytest.raises(RequestRefusedError):
        check_request(method, target)


@pytest.mark.promise("S5")
@given(st.text(max_size=60))
def test_no_text_as_an_id_leads_to_another_path(text: str) -> None:
    target = f"/containers/{text}/json"
    try:
        check_request("GET", target)
    except RequestRefusedError:
        return
    assert text.isascii()
    assert not set(text.partition("?")[0]) & set("/%;\\# ")


def test_a_name_may_be_as_long_as_the_engine_takes_it_into_a_path() -> None:
    assert is_valid_reference("n" * 255)
    assert not is_valid_reference("n" * 256)


@given(st.text(alphabet="ab/.%:@;?#\\ \r\n", max_size=20))
def test_what_passes_as_a_reference_has_no_meaning_in_a_path(text: str) -> None:
    if is_valid_reference(text):
        assert not set(text) & set("/%;?#\\ \r\n:@")
        assert ".." not in text


def test_image_references_are_told_from_paths() -> None:
    assert is_valid_image("localhost:5000/team/app:1")
    assert is_valid_image(DIGEST)
    for evil in ("../x", "x/../y", "x?y", "x%2fy", "", "/x", "x/", "a b"):
        assert not is_valid_image(evil)
