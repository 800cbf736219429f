"""The lines of the release workflow, run as it runs them; docker, cosign and gh only write down what they get."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.architecture.sources import ROOT
from tests.table_rows import table

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integration

JOBS: dict[str, Any] = yaml.load((ROOT / ".github" / "workflows" / "release.yml").read_text(), yaml.BaseLoader)["jobs"]
BASE = f"python:3.11-slim-bookworm@sha256:{'b' * 64}"
DIGESTS = (f"sha256:{'1' * 64}", f"sha256:{'2' * 64}")
INDEX = f"sha256:{'3' * 64}"
CHANGES = """# Changelog

## Unreleased

- Not yet.

## 1.2.3 - 2027-01-02

### Added

- A thing.

## 1.2.0 - 2026-12-01

- Another.
"""
DOCKER = """#!/bin/bash
printf '%s\\n' "docker $*" >>"$CALLS"
case "$*" in
  "buildx imagetools inspect python:"*) printf '{{"digest": "%s"}}' ${{BASE_DIGEST-{base}}} ;;
  "buildx imagetools inspect ghcr.io/"*) printf '{{"digest": "%s"}}' {index} ;;
  "buildx build "*) printf '{{"containerimage.digest": "%s"}}' "$DIGEST" >build/image.json ;;
  "login "*) cat >>"$CALLS"; echo >>"$CALLS" ;;
esac
"""
OTHER = '#!/bin/bash\nprintf "%s\\n" "${0##*/} $*" >>"$CALLS"\n'


class Checkout:
    """A clone at a tag, with programs that write down how they are called."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.calls = folder / "clone", folder / "calls"
        programs = folder / "bin"
        for made in (programs, self.folder / ".ci", self.folder / "bcon_exporter", self.folder / "build"):
            made.mkdir(parents=True)
        shutil.copy(ROOT / ".ci" / "release.sh", self.folder / ".ci")
        (self.folder / "CHANGELOG.md").write_text(CHANGES)
        (self.folder / "bcon_exporter" / "__init__.py").write_text('__version__ = "1.2.3"\n')
        docker = DOCKER.format(base=BASE.partition("@")[2], index=INDEX)
        for name, text in {"docker": docker, "cosign": OTHER, "gh": OTHER}.items():
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        self.environment = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "CALLS": str(self.calls),
            "TAG": "v1.2.3",
            "GITHUB_REPOSITORY": "Acme/Bcon",
            "GITHUB_ACTOR": "owner",
            "GITHUB_SHA": "c" * 40,
            "GITHUB_OUTPUT": str(folder / "output"),
        }
        subprocess.run(["git", "init", "-q", "."], cwd=self.folder, check=True, timeout=60)
        author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(
            ["git", *author, "commit", "-q", "--allow-empty", "-m", "x", "--date", "2027-01-02T03:04:05Z"],
            cwd=self.folder, check=True, timeout=60, env={**os.environ, "GIT_COMMITTER_DATE": "2027-01-02T03:04:05Z"},
        )  # fmt: skip

    def run(self, line: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a line as the workflow's shell does."""
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", line],
            cwd=self.folder, env={**self.environment, **variables},
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    def run_job(self, name: str, **variables: str) -> None:
        """Run a job's lines but `make dist`, which fetches packages."""
        for line in [step["run"] for step in JOBS[name]["steps"] if "run" in step]:
            if line != "make dist":
                ended = self.run(line, **variables)
                assert ended.returncode == 0, (line, ended.stderr)


def test_a_tag_makes_images_names_and_a_release(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    (checkout.folder / "dist" / "licenses").mkdir(parents=True)
    for name in ("bcon.whl", "bcon.tar.gz", "SHA256SUMS"):
        (checkout.folder / "dist" / name).touch()
    built = (
        f"docker buildx build --file deploy/Dockerfile {{}}--build-arg RELEASE=1 --build-arg BUILD_IMAGE={BASE} "
        + (
            f"--build-arg BASE_IMAGE={BASE} --build-arg VERSION=1.2.3 --build-arg REVISION={'c' * 40} "
            "--build-arg CREATED=2027-01-02T03:04:05+00:00 --build-arg SOURCE=https://github.com/Acme/Bcon "
            "--sbom=true --provenance=mode=max --metadata-file build/image.json --output "
            "type=image,name=ghcr.io/acme/bcon,push-by-digest=true,name-canonical=true,push=true ."
        )
    )
    login = ["docker login ghcr.io --username owner --password-stdin", "secret"]
    images = " ".join(f"ghcr.io/acme/bcon@{digest}" for digest in DIGESTS)
    note = "--annotation index:org.opencontainers.image.source=https://github.com/Acme/Bcon"

    checkout.run_job("dist")
    assert (tmp_path / "output").read_text() == f"base={BASE}\n"
    assert (checkout.folder / "build" / "notes.md").read_text() == "### Added\n\n- A thing.\n"
    for variant, target, suffix in (("full", "", ""), ("slim", "--target slim ", "-slim")):
        checkout.calls.unlink()
        for digest in DIGESTS:
            checkout.run_job("image", TOKEN="secret", VARIANT=variant, BASE=BASE, DIGEST=digest)
        checkout.run_job("index", TOKEN="secret", VARIANT=variant)
        shutil.rmtree(checkout.folder / "build" / "digests")
        image = [*login, "docker buildx create --driver docker-container --use", built.format(target)]
        name = f"ghcr.io/acme/bcon:1.2.3{suffix}"
        assert checkout.calls.read_text().splitlines() == [
            *image, *image, *login,
            f"docker buildx imagetools create --tag {name} --tag ghcr.io/acme/bcon:latest{suffix} {note} {images}",
            f"docker buildx imagetools inspect {name} --format {{{{json .Manifest}}}}",
            f"cosign sign --yes ghcr.io/acme/bcon@{INDEX}",
        ]  # fmt: skip
    checkout.calls.unlink()
    checkout.run_job("pypi")
    checkout.run_job("github")
    assert sorted(path.name for path in (checkout.folder / "packages").iterdir()) == ["bcon.tar.gz", "bcon.whl"]
    assert checkout.calls.read_text().splitlines() == [
        "gh release create v1.2.3 --verify-tag --title v1.2.3 --notes-file build/notes.md --latest "
        "dist/SHA256SUMS dist/bcon.tar.gz dist/bcon.whl build/licenses.tar.gz"
    ]


@table(
    ("line", "variables", "fault"),
    [
        (".ci/release.sh check v1.2.4", {}, "the tag v1.2.4 is not v1.2.3"),
        (".ci/release.sh check v1.2", {}, "the tag v1.2 is not v1.2.3"),
        ("sed -i /1.2.3/d CHANGELOG.md; .ci/release.sh check v1.2.3", {}, 'no section "## 1.2.3"'),
        ("sed -i '/1.2.3/,/thing/{/1.2.3/!d}' CHANGELOG.md; .ci/release.sh check v1.2.3", {}, "with text in it"),
        ("sed -i 's/^## 1.2.3/## 1x2.3/' CHANGELOG.md; .ci/release.sh check v1.2.3", {}, 'no section "## 1.2.3"'),
        (".ci/release.sh base", {"BASE_DIGEST": "latest"}, "no digest was told"),
        (".ci/release.sh image full v1.2.3", {"BASE": BASE}, "no digest was told"),
        (".ci/release.sh image thin v1.2.3", {"BASE": BASE}, "no variant is called thin"),
        (".ci/release.sh index full v1.2.3", {}, "not one for each of amd64 and arm64"),
        (".ci/release.sh", {}, "release.sh check TAG"),
        (".ci/release.sh check", {}, "release.sh check TAG"),
        (".ci/release.sh die x", {}, "release.sh check TAG"),
    ],
)
def test_a_step_that_cannot_be_right_ends_the_release(
    line: str, variables: dict[str, str], fault: str, tmp_path: Path
) -> None:
    checkout = Checkout(tmp_path)

    ended = checkout.run(line, **variables)

    assert ended.returncode != 0
    assert fault in ended.stderr
    assert not checkout.calls.exists() or "digest" in fault


def test_a_version_before_the_final_one_is_not_the_latest(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    digests = checkout.folder / "build" / "digests"
    digests.mkdir()
    for digest in DIGESTS:
        (digests / digest).touch()
    (checkout.folder / "dist" / "licenses").mkdir(parents=True)
    checkout.run(".ci/release.sh index full v1.2.3rc1")
    checkout.run(".ci/release.sh publish v1.2.3rc1")

    calls = checkout.calls.read_text()
    assert "latest" not in calls
    assert "--tag ghcr.io/acme/bcon:1.2.3rc1 " in calls
    assert " --prerelease " in calls


def test_this_version_s_own_notes_are_found() -> None:
    ended = subprocess.run(
        [ROOT / ".ci" / "release.sh", "notes", "v0.1.0"], capture_output=True, text=True, timeout=60, check=True
    )

    assert ended.stdout.strip()
    assert "\n## " not in ended.stdout
