"""Writes what an installation is made of: a bill of materials (CycloneDX 1.6, JSON) and the licences that came along.

    python3 bill_of_materials.py FOLDER TARGET --root bcon-exporter [--base IMAGE …] [--release]

FOLDER holds installed distributions, as `pip install --target` makes them. TARGET gets `NAME.cdx.json`, NAME being that
of the root, and `licenses/COMPONENT/FILE`. What is told is read from the installation itself, without a network: the
metadata of its distributions, and the modules that a Go program (the Compose binary) says it was built of. With
`--release` every base must be named by its digest. Standard library only: it runs while the image is built.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

GO_MAGIC = b"\xff Go buildinf:"
GO_HEADER_BYTES, GO_SENTINEL_BYTES = 32, 16
LICENCE_FILE = re.compile(r"\.dist-info/(?:licenses/.*|(?:licen[cs]e|copying|notice|authors)[^/]*)$", re.IGNORECASE)
PINNED = re.compile(r"\S+@sha256:[0-9a-f]{64}")
LONGEST_LICENCE_NAME = 80
NAMESPACE = uuid.UUID("9b1ce1a2-6ee5-5b9e-9d8a-6f2b6d0d6c11")


@dataclass(frozen=True)
class GoModule:
    """A module that a Go program was built of."""

    path: str
    version: str


def render_bill(folder: Path, root: str, bases: Sequence[str] = (), made_at: datetime | None = None) -> dict[str, Any]:
    """Return the bill of what is installed in a folder, as CycloneDX describes it.

    Args:
        folder: Holds the distributions.
        root: The distribution that the others are there for.
        bases: Images that it is built from or stands on.
        made_at: None leaves it out, so that the same installation has the same bill.
    """
    found = sorted(distributions(path=[str(folder)]), key=_name)
    by_name = {_name(one): one for one in found}
    if root not in by_name:
        message = f"{root} is not installed in {folder}"
        raise SystemExit(message)
    modules = find_go_modules(folder)
    components = [_component(one) for name, one in by_name.items() if name != root]
    components += [_module_component(module) for module in modules]
    bill = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            **({"timestamp": made_at.strftime("%Y-%m-%dT%H:%M:%SZ")} if made_at else {}),
            "component": {
                **_component(by_name[root]),
                "type": "application",
                "properties": [{"name": "bcon-exporter:base", "value": base} for base in bases],
            },
        },
        "components": components,
        "dependencies": _dependencies(by_name, modules),
    }
    return {"serialNumber": f"urn:uuid:{uuid.uuid5(NAMESPACE, json.dumps(bill, sort_keys=True))}", **bill}


def _name(distribution: Distribution) -> str:
    return _normal(distribution.metadata["Name"])


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _field(distribution: Distribution, name: str) -> str:
    """Return a field of the metadata, "" where it is absent."""
    return str(next(iter(distribution.metadata.get_all(name) or ()), ""))


def _purl(distribution: Distribution) -> str:
    return f"pkg:pypi/{_name(distribution)}@{distribution.version}"


def _component(distribution: Distribution) -> dict[str, Any]:
    licences = _licences(distribution)
    summary = _field(distribution, "Summary")
    return {
        "type": "library",
        "bom-ref": _purl(distribution),
        "name": _name(distribution),
        "version": distribution.version,
        "purl": _purl(distribution),
        **({"description": summary} if summary else {}),
        **({"licenses": licences} if licences else {}),
    }


def _licences(distribution: Distribution) -> list[dict[str, Any]]:
    """Return the licences as declared: the expression, else the classifiers, else the short text."""
    expression = _field(distribution, "License-Expression")
    if expression:
        return [{"expression": expression}]
    classifiers = distribution.metadata.get_all("Classifier") or []
    names = [each.rpartition(" :: ")[2] for each in classifiers if each.startswith("License :: OSI Approved :: ")]
    text = _field(distribution, "License").strip()
    if not names and text and "\n" not in text and len(text) <= LONGEST_LICENCE_NAME:
        names = [text]
    return [{"license": {"name": name}} for name in names]


def _module_component(module: GoModule) -> dict[str, Any]:
    purl = _module_purl(module)
    return {"type": "library", "bom-ref": purl, "name": module.path, "version": module.version, "purl": purl}


def _module_purl(module: GoModule) -> str:
    return f"pkg:golang/{module.path.lower()}@{module.version}"


def _dependencies(by_name: dict[str, Distribution], modules: Sequence[GoModule]) -> list[dict[str, Any]]:
    graph = []
    for one in by_name.values():
        wanted = {_normal(name) for name in _requirements(one)} & by_name.keys()
        refs = [_purl(by_name[name]) for name in sorted(wanted)]
        if modules and _owns_program(one):
            refs += [_module_purl(module) for module in modules]
        graph.append({"ref": _purl(one), "dependsOn": refs})
    return graph


def _requirements(distribution: Distribution) -> Iterable[str]:
    for requirement in distribution.requires or ():
        text, _, marker = requirement.partition(";")
        if "extra" not in marker:
            yield re.split(r"[^A-Za-z0-9._-]", text.strip(), maxsplit=1)[0]


def _owns_program(distribution: Distribution) -> bool:
    return any(str(file).endswith("bin/docker-compose") for file in distribution.files or ())


def find_go_modules(folder: Path) -> list[GoModule]:
    """Return the modules of all Go programs in a folder's `bin`, sorted."""
    found: set[GoModule] = set()
    for program in sorted((folder / "bin").glob("*")) if (folder / "bin").is_dir() else ():
        found.update(read_go_modules(program.read_bytes()))
    return sorted(found, key=lambda module: (module.path, module.version))


def read_go_modules(program: bytes) -> list[GoModule]:
    """Return the modules that a program says it was built of, and Go itself; none for a program that is no Go program.

    Source: Go's debug/buildinfo; the form of Go 1.18 and later, in which both texts stand behind a header of 32 bytes,
    each after its length.
    """
    start = program.find(GO_MAGIC)
    if start < 0:
        return []
    version, position = _go_text(program, start + GO_HEADER_BYTES)
    text, _ = _go_text(program, position)
    lines = text[GO_SENTINEL_BYTES:-GO_SENTINEL_BYTES].decode("utf-8", "replace").split("\n")
    modules = [GoModule("stdlib", version.decode().removeprefix("go"))]
    for line in lines:
        kind, *fields = line.split("\t")
        if kind in ("mod", "dep"):
            modules.append(GoModule(fields[0], fields[1]))
        elif kind == "=>":  # built from this instead of the module before
            modules[-1] = GoModule(fields[0], fields[1])
    return modules


def _go_text(program: bytes, position: int) -> tuple[bytes, int]:
    """Return a text after its length, a varint, and where it ends."""
    length = shift = 0
    while True:
        byte = program[position]
        position += 1
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return program[position : position + length], position + length


def copy_licences(folder: Path, target: Path) -> list[str]:
    """Copy each distribution's licence files; return the names of distributions that have none."""
    without = []
    for one in distributions(path=[str(folder)]):
        files = [file for file in one.files or () if LICENCE_FILE.search(str(file))]
        if not files:
            without.append(_name(one))
        for file in files:
            below = str(file).partition(".dist-info/")[2].removeprefix("licenses/")
            place = target / _name(one) / below
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(Path(str(one.locate_file(file))).read_bytes())
    return sorted(without)


def find_unpinned(bases: Iterable[str]) -> list[str]:
    """Return the bases that are not named by digest: another image could stand under their names tomorrow."""
    return [base for base in bases if not PINNED.fullmatch(base)]


def main(arguments: Sequence[str]) -> int:
    """Write the bill and the licences; return the exit code."""
    parser = argparse.ArgumentParser(description="Write a bill of materials and the licences of an installation.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--root", required=True, help="name of the distribution that the others are there for")
    parser.add_argument("--base", action="append", default=[], help="image that it is built from or stands on")
    parser.add_argument("--release", action="store_true", help="refuse bases without a digest")
    wanted = parser.parse_args(arguments)
    if wanted.release and (unpinned := find_unpinned(wanted.base)):
        print(
            f"a release names its bases by digest (NAME@sha256:…), these are not: {', '.join(unpinned)}. "
            "docker buildx imagetools inspect NAME tells the digest",
            file=sys.stderr,
        )
        return 1
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    made_at = datetime.fromtimestamp(int(epoch), UTC) if epoch else None
    bill = render_bill(wanted.folder, wanted.root, wanted.base, made_at)
    wanted.target.mkdir(parents=True, exist_ok=True)
    text = json.dumps(bill, indent=1, ensure_ascii=False) + "\n"
    (wanted.target / f"{wanted.root}.cdx.json").write_text(text, encoding="utf-8")
    if without := copy_licences(wanted.folder, wanted.target / "licenses"):
        print(f"no licence file came with: {', '.join(without)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
