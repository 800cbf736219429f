#!/bin/bash
# Looks the locked packages up in PyPI's database of known vulnerabilities; needs a network.
# Exit code 0: none is known. 1: some are, and they are named. 3: the database could not be asked, so nothing is known.
#
# A package index that has no such database says "not found", which pip-audit takes for "nothing to report". So a package
# with known vulnerabilities is looked up first, and one package that was left out counts as nothing known.
set -uo pipefail
cd "$(dirname "$0")/.."
tools=.state/audit-venv
canary="jinja2==2.10"
say() { printf '%s\n' "audit: $*" >&2; }
not_audited() { say "NOT AUDITED: $*"; exit 3; }

mkdir -p .state
if [ ! -x $tools/bin/pip-audit ]; then
  python3 -m venv $tools && $tools/bin/pip install -q --disable-pip-version-check 'pip-audit>=2.10,<3' 2>.state/audit.log || {
    rm -rf $tools
    not_audited "pip-audit could not be installed: $(tail -n 1 .state/audit.log)"
  }
fi

# Prints a line per known vulnerability; 2 where a package was not found, pip-audit's own failure otherwise.
look_up() {
  $tools/bin/pip-audit --disable-pip --progress-spinner off --format json "$@" 2>.state/audit.log | $tools/bin/python -c '
import json, sys
try:
    packages = json.load(sys.stdin)["dependencies"]
except ValueError:
    sys.exit(2)
for package in packages:
    for fault in package.get("vulns", ()):
        aliases = " ".join(fault["aliases"])
        print(package["name"], package["version"], fault["id"], aliases, "mended in", ", ".join(fault["fix_versions"]) or "no version")
sys.exit(2 if any("skip_reason" in package for package in packages) else 0)'
}

printf '%s\n' "$canary" >.state/audit-canary.txt
known=$(look_up --no-deps -r .state/audit-canary.txt)
[ -n "$known" ] || not_audited "the database could not be asked: it knows nothing of $canary, which has known vulnerabilities"
code=0
for lock in deploy/requirements.lock deploy/requirements-build.lock; do
  faults=$(look_up --require-hashes -r $lock) || not_audited "$lock: the database could not be asked: $(tail -n 1 .state/audit.log)"
  if [ -z "$faults" ]; then
    say "$lock: no known vulnerability in $(grep -c '^[a-z0-9]' $lock) packages"
  else
    say "$lock: known vulnerabilities:"
    printf '%s\n' "$faults"
    code=1
  fi
done
exit $code
