"""Holds what the formats for CI write to the schemas by which others read them: SARIF's own, and Jenkins' of JUnit.

    python -m tests.outputs.ci_schemas

The schemas come as they are published: with npm's @microsoft/jest-sarif, and with pytest's source. `make ci-formats`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from itertools import product
from pathlib import Path
from typing import Any

import jsonschema_rs

from bcon_exporter.outputs.ci_formats import FindingLevel, render_junit, render_sarif
from tests.outputs.test_ci_formats import HOSTILE, finding_of, report_of

FOLDER = Path(".state/ci-schemas")
SARIF = ("@microsoft/jest-sarif@1.0.0-beta.0", "package/lib/schemas/sarif-2.1.0-rtm.5.json")
JUNIT = ("pytest==8.4.2", "pytest-8.4.2/testing/example_scripts/junit-10.xsd")
XMLSCHEMA = "xmlschema==4.3.2"


def fetch() -> tuple[Path, Path]:
    """Return the two schemas, fetched where they are not here yet, and make `xmlschema` importable."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    sarif, junit, library = FOLDER / "sarif.json", FOLDER / "junit.xsd", FOLDER / "lib"
    if not sarif.exists():
        subprocess.run(["npm", "pack", "--silent", SARIF[0]], cwd=FOLDER, check=True, stdout=subprocess.DEVNULL)
        sarif.write_bytes(_member(next(FOLDER.glob("microsoft-jest-sarif-*.tgz")), SARIF[1]))
    if not junit.exists():
        words = ["download", "--no-deps", "--no-binary", "pytest", "-d", str(FOLDER), JUNIT[0]]
        subprocess.run([*pip, *words], check=True)
        junit.write_bytes(_member(next(FOLDER.glob("pytest-*.tar.gz")), JUNIT[1]))
    if not library.exists():
        subprocess.run([*pip, "install", "--target", str(library), XMLSCHEMA], check=True)
    sys.path.append(str(library))
    return sarif, junit


def _member(archive: Path, name: str) -> bytes:
    with tarfile.open(archive) as files:
        stream = files.extractfile(name)
        assert stream is not None
        return stream.read()


def reports() -> list[Any]:
    """Findings of every level with texts of every kind, also without service and file; and none at all."""
    found = [finding_of(text, level) for text, level in product(("plain", *HOSTILE), FindingLevel)]
    bare = [type(one)(one.level, one.code, one.message, line=one.line) for one in found]
    return [report_of(*found, *bare), report_of(), report_of(*found, root=""), report_of(passed=())]


def main() -> int:
    """Validate all; 1 where one is not valid."""
    sarif, junit = fetch()
    import xmlschema  # type: ignore[import-not-found]

    text = sarif.read_text().replace("{2}]?$", "{2}$")  # a bracket too many, in a pattern that not all engines take
    log_schema = jsonschema_rs.validator_for(json.loads(text))
    xml_schema = xmlschema.XMLSchema(str(junit))
    wrong = [str(error) for one in reports() for error in log_schema.iter_errors(json.loads(render_sarif(one)))]
    wrong += [
        f"{error.path}: {error.reason}" for one in reports() for error in xml_schema.iter_errors(render_junit(one))
    ]
    sys.stdout.write(
        "\n".join(dict.fromkeys(wrong)) + "\n" if wrong else "every report is valid SARIF 2.1.0 and JUnit\n"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
