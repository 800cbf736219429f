#!/bin/bash
# Writes the two lock files from pyproject.toml: hashed, without any registry's address in them.
#   deploy/requirements.lock      what bcon-exporter needs to run (the image installs it)
#   deploy/requirements-dev.lock  the same, the build backend and the dev group
set -euo pipefail
cd "$(dirname "$0")/.."
tools=.state/lock-venv
[ -x $tools/bin/pip-compile ] || { python3 -m venv $tools && $tools/bin/pip install -q 'pip-tools>=7.5,<8'; }
dev=$(mktemp --suffix=.in)
trap 'rm -f "$dev"' EXIT
$tools/bin/python -c '
import pathlib, tomllib
project = tomllib.loads(pathlib.Path("pyproject.toml").read_text())
print(*project["dependency-groups"]["dev"], *project["build-system"]["requires"], "editables", sep="\n")' >"$dev"
export CUSTOM_COMPILE_COMMAND='make lock'
compile() { $tools/bin/pip-compile -q --generate-hashes --no-emit-options --no-annotate --strip-extras "$@"; }
compile --upgrade -o deploy/requirements.lock pyproject.toml
cp deploy/requirements.lock deploy/requirements-dev.lock # the versions of both agree
compile -o deploy/requirements-dev.lock pyproject.toml "$dev"
! grep -nE 'https?://|file:|^ *--(index|extra|find|trusted)' deploy/requirements*.lock
