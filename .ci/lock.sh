#!/bin/bash
# Writes the lock files from pyproject.toml: hashed, without any registry's address in them.
#   deploy/requirements.lock        what bcon-exporter needs to run (the image installs it)
#   deploy/requirements-build.lock  what makes its wheel
#   deploy/requirements-dev.lock    both and the dev group
set -euo pipefail
cd "$(dirname "$0")/.."
tools=.state/lock-venv
[ -x $tools/bin/pip-compile ] || { python3 -m venv $tools && $tools/bin/pip install -q 'pip-tools>=7.5,<8'; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
$tools/bin/python -c '
import pathlib, sys, tomllib
project = tomllib.loads(pathlib.Path("pyproject.toml").read_text())
build = project["build-system"]["requires"]
for name, wanted in {"build": build, "dev": [*project["dependency-groups"]["dev"], *build, "editables"]}.items():
    pathlib.Path(sys.argv[1], f"{name}.in").write_text("\n".join(wanted))' "$folder"
export CUSTOM_COMPILE_COMMAND='make lock'
compile() { $tools/bin/pip-compile -q --generate-hashes --no-emit-options --no-annotate --strip-extras "$@"; }
compile --upgrade --extra notify -o deploy/requirements.lock pyproject.toml
cp deploy/requirements.lock deploy/requirements-dev.lock # the versions of all agree
compile --extra notify -o deploy/requirements-dev.lock pyproject.toml "$folder/dev.in"
cp deploy/requirements-dev.lock deploy/requirements-build.lock
compile -o deploy/requirements-build.lock "$folder/build.in"
! grep -nE 'https?://|file:|^ *--(index|extra|find|trusted)' deploy/requirements*.lock
