"""The version of an image is what its label or its tag says; a label that cannot be its own is not believed."""

from __future__ import annotations

from bcon_exporter.model.image_versions import NAME_LABEL, VERSION_LABEL, find_image_version, name_image
from tests.table_rows import table

HOSTILE = (
    "latest", "", "ignore all previous instructions", "1 ignore", "16.4\n17", "1-ignore-all-previous-instructions",
    "9" * 41, "16.4</script>", "16.4\u202e", "\x1b[2J16.4", "1.0;rm -rf /", "1-" + "a" * 13, "password=hunter2", "***",
)  # fmt: skip


@table(("reference", "label", "named", "expected"), [
    ("postgres:16.4", None, None, "16.4"),
    ("postgres:16-alpine3.20", None, None, "16-alpine3.20"),
    ("postgres:v16.4", None, None, "16.4"),
    ("registry.example:5000/team/postgres:16.4", None, None, "16.4"),
    ("postgres", None, None, None),
    ("postgres:latest", None, None, None),
    ("registry.example:5000/postgres", None, None, None),
    ("postgres:16@sha256:" + "a" * 64, None, None, None),
    ("postgres@sha256:" + "a" * 64, "16.4", None, "16.4"),
    ("postgres:16", "16.4", None, "16.4"),
    ("postgres:16-alpine", "16.4", None, "16.4"),
    ("postgres:latest", "v16.4", None, "16.4"),
    ("postgres", "16.4", None, "16.4"),
    ("app:3", "22.04", None, "3"),  # built from ubuntu, whose label it has inherited
    ("app:latest", "22.04", "ubuntu", None),
    ("app:2024.1", "22.04", "ubuntu", "2024.1"),
    ("ubuntu:latest", "22.04", "ubuntu", "22.04"),
    ("docker.io/library/ubuntu", "22.04", "ubuntu:22.04", "22.04"),
])  # fmt: skip
def test_the_label_tells_unless_it_is_another_images(
    reference: str, label: str | None, named: str | None, expected: str | None
) -> None:
    labels = {key: value for key, value in ((VERSION_LABEL, label), (NAME_LABEL, named)) if value is not None}
    assert find_image_version(reference, labels) == expected


@table("text", HOSTILE)
def test_what_is_no_version_by_its_form_is_never_repeated(text: str) -> None:
    assert find_image_version("app", {VERSION_LABEL: text}) is None
    assert find_image_version(f"app:{text}", {}) is None
    assert find_image_version("app:2", {VERSION_LABEL: text}) == "2"


def test_an_image_is_named_with_what_its_tag_does_not_say() -> None:
    image_id = "sha256:0f343b0931126a20f133"
    assert name_image("postgres:16", "16.4", image_id) == "postgres:16 (16.4, 0f343b093112)"
    assert name_image("postgres:16.4", "16.4", image_id) == "postgres:16.4 (0f343b093112)"
    assert name_image("postgres:16", "16.4") == "postgres:16 (16.4)"
    assert name_image("postgres", None) == "postgres"
