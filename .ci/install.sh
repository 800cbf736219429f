#!/bin/bash
# Installs this checkout into a virtual environment of its own, FOLDER, with the locked packages and nothing newer; where it
# has done so before, it does nothing.
#   install.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1
[ "$(cat "$folder/installed-from" 2>/dev/null)" != "$PWD" ] || exit 0
for python in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
  ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || break
done
"$python" -m venv "$folder"
pip() { "$folder/bin/python" -m pip install -q --disable-pip-version-check "$@"; }
pip --require-hashes -r deploy/requirements.lock
pip --require-hashes -r deploy/requirements-build.lock
pip --no-deps --no-build-isolation .
printf '%s' "$PWD" >"$folder/installed-from"
