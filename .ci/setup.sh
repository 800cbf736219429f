#!/bin/bash
# Sets a machine up for `make test` and `make demo`.
#   setup.sh venv            the virtual environment .venv with the locked packages and bcon-exporter itself
#   setup.sh packages NAME…  Debian or Ubuntu packages that give the programs NAME…, installed only where missing;
#                            no service is started
#   setup.sh wheels FOLDER   the locked wheels that the image is built of, for building it without a network
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '%s\n' "setup: $*" >&2; }
die() { say "$*"; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif sudo -n true 2>/dev/null; then sudo -n "$@"
  else die "needs root for: $* (run it yourself, or run make as root)"; fi
}

# --- packages ---------------------------------------------------------------------------------------------------------

package_of() {
  case $1 in
    dockerd | docker) echo docker.io ;;
    busybox) echo busybox-static ;;
    haproxy) echo haproxy ;;
    chromium) echo chromium ;;
    promtool) echo prometheus ;;
    podman) echo podman ;;
    prometheus-alertmanager) echo prometheus-alertmanager ;;
    strace) echo strace ;;
    systemd-analyze) echo systemd ;;
    ip) echo iproute2 ;;
    mmdebstrap) echo mmdebstrap ;;
    debian-archive-keyring) echo debian-archive-keyring ;;
    python3-venv) echo python3-venv ;;
    *) die "no package is known for $1" ;;
  esac
}

is_there() {
  case $1 in
    python3-venv) false ;;
    debian-archive-keyring) [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] ;;
    busybox) { command -v busybox >/dev/null && ! ldd "$(command -v busybox)" >/dev/null 2>&1; } ;;
    *) PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null ;;
  esac
}

# Debian starts a service when its package is installed, unless policy-rc.d forbids it: forbid it for the moment.
POLICY=/usr/sbin/policy-rc.d
POLICY_KEPT=
forbid_services() {
  if [ -e $POLICY ]; then
    POLICY_KEPT=$POLICY.bcon-kept
    as_root mv $POLICY $POLICY_KEPT
  fi
  as_root sh -c "printf '#!/bin/sh\nexit 101\n' >$POLICY && chmod 755 $POLICY"
  trap allow_services EXIT
}
allow_services() {
  as_root rm -f $POLICY
  [ -z "$POLICY_KEPT" ] || as_root mv $POLICY_KEPT $POLICY
  trap - EXIT
}

LOG=.state/packages.log
apt() { as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get -q -o DPkg::Lock::Timeout=180 "$@" >>$LOG 2>&1; }

install_packages() {
  local wanted=() name
  for name in "$@"; do is_there "$name" || wanted+=("$(package_of "$name")"); done
  [ ${#wanted[@]} -gt 0 ] || return 0
  mapfile -t wanted < <(printf '%s\n' "${wanted[@]}" | sort -u)
  command -v apt-get >/dev/null || die "not Debian or Ubuntu: please install what gives these programs yourself: $*
setup: that is a Docker Engine (dockerd, docker), a statically linked busybox, Prometheus (promtool), Alertmanager and Podman"
  mkdir -p .state
  exec 8>.state/packages.lock # `make -j` may want packages twice at once
  flock 8
  say "installing ${wanted[*]} (no service is started)"
  : >$LOG
  local new=("${wanted[@]}")
  dpkg -s containerd >/dev/null 2>&1 || new+=(containerd) # comes with docker.io
  forbid_services
  apt update || say "the package lists could not be renewed; trying with the old ones"
  # Where the client is a package of its own, docker.io alone has only the daemon.
  case " ${wanted[*]} " in *" docker.io "*)
    ! apt-cache show docker-cli >/dev/null 2>&1 || wanted+=(docker-cli) ;;
  esac
  apt install -y --no-install-recommends "${wanted[@]}" || { tail -n 20 $LOG >&2; die "could not install ${wanted[*]}"; }
  allow_services
  disable_services "${new[@]}"
}

# Nor are they to start with the next boot: the tests and the demonstration start their own.
disable_services() {
  local unit units=()
  command -v systemctl >/dev/null || return 0
  for unit in $(dpkg -L "$@" 2>/dev/null | sed -n 's,.*/systemd/system/\([^/@]*\.\(service\|socket\)\)$,\1,p' | sort -u); do
    units+=("$unit")
  done
  [ ${#units[@]} = 0 ] || as_root systemctl disable "${units[@]}" >>$LOG 2>&1 || true
}

# --- virtual environment ----------------------------------------------------------------------------------------------

find_python() {
  local python
  for python in ${PYTHON:-} python3.11 python3.12 python3.13 python3.14 python3; do
    if command -v "$python" >/dev/null && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$python"
      return
    fi
  done
  die "Python 3.11 or newer is needed (Debian, Ubuntu: apt-get install python3 python3-venv)"
}

make_venv() {
  local python
  python=$(find_python)
  [ ! -x .venv/bin/python ] || .venv/bin/python -m pip --version >/dev/null 2>&1 || rm -rf .venv
  if [ ! -x .venv/bin/python ] && ! "$python" -m venv .venv 2>/dev/null; then
    rm -rf .venv
    # Debian's python3 has no ensurepip; virtualenv brings its own where pip is there.
    if "$python" -m pip --version >/dev/null 2>&1 && "$python" -m pip install -q --user virtualenv 2>/dev/null; then
      "$python" -m virtualenv -q .venv
    else
      install_packages python3-venv
      "$python" -m venv .venv
    fi
  fi
}

fill_venv() {
  local stamp=.venv/.locked wanted
  wanted=$(cat deploy/requirements-dev.lock pyproject.toml | sha256sum)
  [ "$(cat $stamp 2>/dev/null)" != "$wanted" ] || return 0
  say "installing the locked packages into .venv"
  .venv/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r deploy/requirements-dev.lock
  .venv/bin/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
  printf '%s' "$wanted" >$stamp
}

fetch_wheels() {
  local lock
  for lock in deploy/requirements.lock deploy/requirements-build.lock; do
    .venv/bin/python -m pip download -q --disable-pip-version-check --require-hashes --no-deps -r $lock -d "$1"
  done
}

case ${1:-} in
  venv) make_venv; fill_venv ;;
  packages) shift; install_packages "$@" ;;
  wheels) fetch_wheels "$2" ;;
  *) sed -n '2,7p' "$0"; exit 2 ;;
esac
