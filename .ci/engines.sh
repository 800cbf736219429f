#!/bin/bash
# Makes other Docker Engines for the tests than this machine's own, each with the tools of its Debian release.
#   engines.sh choose [NAME]     prints the engine that all tests run on, which is NAME, or own for this machine's own; without
#                                a NAME it is 28.5, or own where 28.5 cannot be made and this is not CI (CI=true)
#   engines.sh commands NAME     prints a folder to put first in PATH: dockerd, docker, podman, promtool, ... of NAME
#   engines.sh run NAME CMD...   runs any other program of NAME, in this folder, with this machine's processes and network
#   engines.sh python NAME       prints the folder of a virtual environment of NAME's Python with the locked packages;
#                                its bin/python runs by `run` and in the guest only
#   engines.sh versions [NAME]   prints the versions of NAME's programs, or of this machine's own
#   engines.sh guest NAME DIR    boots NAME on cgroup v2 as a process (user-mode Linux) and prints its DOCKER_HOST
#   engines.sh inside DIR CMD    runs a shell command as root in the guest of DIR; its /machine is this machine's /
#   engines.sh end DIR           ends that guest, and removes DIR
# NAME: 28.5 (Debian forky: Podman 5.8, Prometheus 3.5, Alertmanager 0.33, Python 3.14) or 26.1 (trixie: Podman 5.4,
# Prometheus 2.53, Alertmanager 0.28, Python 3.13). Debian moves on, so `versions` says what it really is.
# What is missing is made first and kept in ENGINES_CACHE (~/.cache/bcon-exporter/engines): a gigabyte and one to three
# minutes for each, once. Nothing else of this machine is changed. Needs root, and mmdebstrap (installed if missing).
set -euo pipefail
CACHE=${ENGINES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/bcon-exporter/engines}
HERE=$(cd "$(dirname "$0")" && pwd)
PROGRAMS="dockerd containerd runc docker docker-init docker-proxy podman conmon crun prometheus promtool
  prometheus-alertmanager amtool"
GUEST_ADDRESS=10.0.2.15

say() { printf '%s\n' "engines: $*" >&2; }
die() { say "$*"; exit 1; }

suite_of() {
  case $1 in
    28.5) echo forky ;;
    26.1) echo trixie ;;
    *) die "no engine is called $1; there are 28.5 and 26.1" ;;
  esac
}

packages_of() {
  local packages=docker.io,docker-cli,iptables,iproute2,procps,ca-certificates,busybox-static,python3,python3-venv
  packages+=,podman,netavark,crun,prometheus,prometheus-alertmanager
  [ "$1" != forky ] || packages+=,user-mode-linux,systemd-sysv,dbus,udev,e2fsprogs,openssh-server,openssh-client,kmod # what its guest boots
  echo $packages
}

# The mirror of this machine's own packages.
mirror() {
  local found
  found=$(apt-cache policy 2>/dev/null | sed -nE 's,^ *[0-9]+ (https?://[^ ]*/debian) .*,\1,p' | tail -n 1)
  echo "${found:-http://deb.debian.org/debian}"
}

# one_at_a_time FILE: waits for whoever else makes that file; whoever calls this closes 7 when it is made.
one_at_a_time() {
  exec 7>"$1.lock"
  flock 7
}

# userland SUITE: the folder with that release's userland, made where it is missing.
userland() {
  local suite=$1 packages folder
  [ "$(id -u)" = 0 ] || die "another engine than this machine's own needs root"
  packages=$(packages_of "$suite")
  folder=$CACHE/$suite-$(printf %s "$packages" | sha256sum | cut -c1-8)
  echo "$folder"
  mkdir -p "$CACHE"
  one_at_a_time "$folder"
  [ ! -e "$folder/etc/debian_version" ] || { exec 7>&-; return 0; }
  "$HERE/setup.sh" packages mmdebstrap debian-archive-keyring >&2
  say "making $folder: a minute or three, once"
  rm -rf --one-file-system "$folder.new"
  # In a mount namespace of its own: whatever mmdebstrap has mounted is gone with it, however it ends.
  # A release that is still being made may have lists that are weeks old.
  unshare --mount --propagation private mmdebstrap --quiet --mode=root --variant=minbase --include="$packages" \
    --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Languages "none"' \
    --aptopt='APT::Install-Recommends "false"' --dpkgopt=force-unsafe-io \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' --setup-hook='mkdir -p "$1/var/cache/apt/archives"' \
    "$suite" "$folder.new" "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) $suite main" \
    >"$folder.log" 2>&1 7>&- || { tail -n 20 "$folder.log" >&2; die "$suite could not be made"; }
  mv "$folder.new" "$folder"
  exec 7>&-
}

# enter ROOT CMD...: becomes a program of a userland. Its /usr and /etc are laid over this machine's in a mount namespace of
# its own; process, folders and network stay those of whoever calls it.
enter() {
  exec unshare --mount --propagation private /bin/sh -c '
    mount -t tmpfs tmpfs /mnt && mkdir /mnt/upper /mnt/work &&
    mount -t overlay -o "lowerdir=$0/etc,upperdir=/mnt/upper,workdir=/mnt/work" overlay /etc &&
    mount --bind "$0/usr" /usr && PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH exec "$@"' "$@"
}

# commands ROOT: a folder with a command for each program of a userland.
commands() {
  local root=$1 name made
  made=$root.commands
  mkdir -p "$made"
  for name in $PROGRAMS; do
    [ -x "$root/usr/sbin/$name" ] || [ -x "$root/usr/bin/$name" ] || continue
    if [ $name = docker ]; then # needs nothing else of its userland, and tests call it thousands of times
      printf '#!/bin/sh\nexec %q --library-path %q %q "$@"\n' "$root/lib64/ld-linux-x86-64.so.2" \
        "$root/usr/lib/x86_64-linux-gnu" "$root/usr/bin/docker" >"$made/.$name.$$"
    else
      printf '#!/bin/bash\n%s\nenter %q %q "$@"\n' "$(declare -f enter)" "$root" "$name" >"$made/.$name.$$"
    fi
    chmod 755 "$made/.$name.$$"
    mv "$made/.$name.$$" "$made/$name"
  done
  echo "$made"
}

# Prints nothing of a program that is not there.
versions() {
  local name found
  for name in dockerd containerd runc podman prometheus prometheus-alertmanager python3; do
    found=$("$@" $name --version 2>/dev/null | grep -oE '[0-9]+\.[0-9]+[^ ,]*' | head -n 1) || continue
    printf '%s %s\n' $name "$found"
  done
}

# python_of ROOT: the wheels come by this machine's own pip, which knows its way to the index.
python_of() {
  local root=$1 locked=$HERE/../deploy/requirements-dev.lock venv version
  venv=$root.venv-$(sha256sum <"$locked" | cut -c1-8)
  echo "$venv"
  one_at_a_time "$venv"
  [ ! -e "$venv/complete" ] || { exec 7>&-; return 0; }
  rm -rf "$venv" "$venv.wheels"
  version=$("$0" run "$NAME" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  "$HERE/../.venv/bin/python" -m pip download -q --disable-pip-version-check --require-hashes --no-deps -r "$locked" \
    --python-version "$version" --prefer-binary -d "$venv.wheels" >&2
  # What comes as source only is pure Python: a wheel that this machine makes of it serves any.
  find "$venv.wheels" -name '*.tar.gz' -exec "$HERE/../.venv/bin/python" -m pip wheel -q --disable-pip-version-check --no-deps \
    -w "$venv.wheels" {} + >&2
  "$0" run "$NAME" python3 -m venv "$venv"
  "$0" run "$NAME" "$venv/bin/python" -m pip install -qq --no-index --no-deps --find-links "$venv.wheels" "$venv.wheels"/*.whl >&2
  rm -rf "$venv.wheels"
  touch "$venv/complete"
  exec 7>&-
}

# image ROOT: the disk of a guest, made where it is missing: the userland, and what it needs to boot into dockerd and sshd.
image() {
  local root=$1 disk added
  disk=$root.ext4
  echo "$disk"
  one_at_a_time "$disk"
  [ ! -s "$disk" ] || { exec 7>&-; return 0; }
  [ -x "$root/usr/bin/linux.uml" ] || die "${root##*/} has no user-mode-linux"
  say "making $disk: half a minute, once"
  added=$root.added
  rm -rf --one-file-system "$added" "$added.work" "$disk.new" "$disk.key" "$disk.key.pub"
  mkdir -p "$added"/etc/{docker,ssh,systemd/system/docker.service.d} "$added/root/.ssh" "$added.work"
  (enter "$root" ssh-keygen -q -t ed25519 -N '' -f "$disk.key")
  (enter "$root" ssh-keygen -q -t ed25519 -N '' -f "$added/etc/ssh/ssh_host_ed25519_key")
  cp "$disk.key.pub" "$added/root/.ssh/authorized_keys"
  chmod 700 "$added/root" "$added/root/.ssh"
  echo guest >"$added/etc/hostname"
  echo '127.0.0.1 localhost guest' >"$added/etc/hosts"
  : >"$added/etc/fstab"
  # This kernel has no tables of a firewall: published ports are served by docker-proxy alone.
  echo '{"iptables": false, "ip6tables": false}' >"$added/etc/docker/daemon.json"
  cat >"$added/etc/systemd/system/guest.service" <<UNIT
[Unit]
Before=docker.service ssh.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -ec 'until [ -e /sys/class/net/vec0 ]; do sleep 0.1; done; ip link set lo up; ip link set vec0 up; \
  ip address add $GUEST_ADDRESS/24 dev vec0; mkdir -p /machine; mount -t hostfs -o hostfs=/ none /machine'
[Install]
WantedBy=multi-user.target
UNIT
  ROOT=$root ADDED=$added DISK=$disk unshare --mount --propagation private bash -euc '
    mount -t overlay -o "lowerdir=$ROOT,upperdir=$ADDED,workdir=$ADDED.work" overlay /mnt
    cp -a /mnt/usr/lib/uml/modules/. /mnt/usr/lib/modules/
    systemctl --root=/mnt -q enable guest.service docker.service ssh.service
    systemctl --root=/mnt -q mask prometheus.service prometheus-alertmanager.service podman.service podman.socket \
      getty@.service serial-getty@.service apt-daily.timer apt-daily-upgrade.timer >/dev/null 2>&1 || true
    truncate -s 6G "$DISK.new"
    "$ROOT/lib64/ld-linux-x86-64.so.2" --library-path "$ROOT/usr/lib/x86_64-linux-gnu" "$ROOT/usr/sbin/mkfs.ext4" -q -F -E lazy_itable_init=1 -O ^has_journal -d /mnt "$DISK.new"'
  rm -rf --one-file-system "$added" "$added.work"
  mv "$disk.new" "$disk"
  exec 7>&-
}

# boot ROOT DISK DIR: what the guest writes goes into DIR and is forgotten with it.
boot() {
  local root=$1 disk=$2 dir=$3 end
  mkdir -p "$dir"
  [ ! -e "$dir/pid" ] || die "there is a guest in $dir already"
  cp "$disk.key" "$dir/key"
  chmod 600 "$dir/key"
  echo "$root" >"$dir/root"
  # Its network is a namespace of its own with this one cable in it, so nothing else of this machine is to be reached.
  setsid unshare --net bash -euc "$(declare -f enter)"'
    ip link set lo up; ip tuntap add tap0 mode tap; ip address add 10.0.2.2/24 dev tap0; ip link set tap0 up
    enter "$0" linux.uml "$@"' "$root" "mem=${GUEST_MB:-2048}M" "umid=bcon-$$" "uml_dir=$dir/" seccomp=auto "ubd0=$dir/disk,$disk" \
    root=/dev/ubda rw con=null con0=null,fd:2 vec0:transport=tap,ifname=tap0,depth=64,gro=1 quiet loglevel=3 \
    </dev/null >"$dir/kernel.log" 2>"$dir/console.log" &
  echo $! >"$dir/pid"
  end=$((SECONDS + 180))
  while [ $SECONDS -lt $end ]; do
    kill -0 "$(cat "$dir/pid")" 2>/dev/null || { tail -n 5 "$dir"/*.log >&2; die "the guest has ended"; }
    if [ -S "$dir/docker.sock" ]; then
      ! (enter "$root" env DOCKER_HOST="unix://$dir/docker.sock" docker version) >/dev/null 2>&1 ||
        { echo "unix://$dir/docker.sock"; return; }
    else
      guest_shell "$dir" -f -N -L "$dir/docker.sock:/run/docker.sock" -o ExitOnForwardFailure=yes 2>/dev/null || true
    fi
    sleep 0.3
  done
  die "no engine answered in the guest of $dir"
}

# guest_shell DIR ...: ssh, from the guest's own network.
guest_shell() {
  local dir=$1
  shift
  nsenter -t "$(cat "$dir/pid")" --net bash -c "$(declare -f enter)"'; enter "$0" ssh "$@"' "$(cat "$dir/root")" -i "$dir/key" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
    -o LogLevel=ERROR -o ConnectTimeout=2 -F /dev/null "root@$GUEST_ADDRESS" "$@"
}

choose() {
  local wanted=${1:-28.5}
  if [ "$wanted" = own ] || { "$0" commands "${wanted%+*}" && "$0" run "${wanted%+*}" dockerd --version; } >/dev/null; then
    echo "$wanted"
  elif [ -n "$1" ] || [ "${CI:-}" = true ]; then
    die "the tests are to run on Docker $wanted, which cannot be had here (TEST_DOCKER=own: on this machine's own engine)"
  else
    say "Docker $wanted cannot be had here, so the tests run on this machine's own engine, and on no other"
    echo own
  fi
}

NAME=${2:-}
case "${1:-} $NAME" in
  commands\ * | run\ * | python\ * | guest\ * | versions\ ?*) suite=$(suite_of "$NAME"); root=$(userland "$suite") ;;
esac
case ${1:-} in
  choose) choose "$NAME" ;;
  commands) commands "$root" ;;
  run) shift 2; enter "$root" "$@" ;;
  python) python_of "$root" ;;
  versions) if [ -n "$NAME" ]; then versions "$0" run "$NAME"; else versions env; fi ;;
  guest) disk=$(image "$root"); boot "$root" "$disk" "$(readlink -m "$3")" ;;
  inside) guest_shell "$2" "${@:3}" ;;
  end) dir=$(readlink -f "$2"); kill -KILL "$(cat "$dir/pid")" || true; rm -rf --one-file-system "$dir" ;;
  *) sed -n '2,17p' "$0"; exit 2 ;;
esac
