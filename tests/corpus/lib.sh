# The stage of every recipe: a host of its own (network, mounts, processes, host name), thrown away at the end.
# Started by capture.py inside new namespaces as: bash lib.sh RECIPE OUTPUT_FOLDER
#
#   start CMD…          run in the background, its output is the log
#   run CMD…            run to its end (20 s at most), its output is the log
#   side CMD…           run in the background, unheard: the other end of a connection
#   quiet CMD…          run to its end, unheard
#   as_user USER CMD…        run as another user (prefix to any of the above)
#   up PORT [HOST]      wait until something listens
#   said REGEX          wait until the log says so
#   stop [SIGNAL]       end what was started, and wait for it
#   excerpt NAME "LABELS" "what was done" [head|tail|from:REGEX] [LINES]
#                       keep the log as an excerpt, end what was started, begin a new log
set -u
umask 022
recipe=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)
tools=${CORPUS_TOOLS:-/opt/bcon-corpus}
started=() sides=()

stage() {
    hostname app
    ip link set lo up
    ip link add v0 type veth peer name v1
    ip addr add 10.9.0.1/24 dev v0
    ip link set v0 up
    ip link set v1 up
    ip neigh add 10.9.0.9 lladdr 02:00:00:00:00:09 dev v0 nud permanent # swallows everything: time-outs
    ip route add unreachable 10.8.0.0/24
    mkdir -p "$out"
    mount -t tmpfs -o size=1g stage /mnt
    cp "$recipe" /mnt/recipe.sh
    mkdir -p /mnt/out
    mount --bind "$out" /mnt/out
    for folder in etc var usr/local; do
        mkdir -p "/mnt/up/$folder" "/mnt/work/$folder"
        mount -t overlay overlay -o "lowerdir=/$folder,upperdir=/mnt/up/$folder,workdir=/mnt/work/$folder" "/$folder"
    done
    mount -t tmpfs -o size=1g srv /srv
    mount -t tmpfs -o mode=1777 tmp /tmp
    mount -t tmpfs run /run
    mkdir -p /run/lock /srv/app /etc/app
    chmod 1777 /run/lock
    [ -d "$tools/node/node_modules" ] && mkdir /srv/app/node_modules && mount --bind "$tools/node/node_modules" /srv/app/node_modules
    rm -f /etc/resolv.conf
    echo "nameserver 127.0.0.53" >/etc/resolv.conf
    printf '%s\n' '127.0.0.1 localhost app' '127.0.0.2 db' '127.0.0.3 cache' '127.0.0.4 api' '127.0.0.5 queue' \
        '10.9.0.9 slow' '10.8.0.9 remote' >/etc/hosts
    export PATH="$tools/venv/bin:$PATH" HOME=/srv LANG=C.UTF-8 PYTHONUNBUFFERED=1 NO_COLOR=1
    unset PIP_FIND_LINKS PIP_CERT PIP_INDEX_URL SSL_CERT_FILE REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS
    printf '%s\n' '#!/bin/bash' 'user=$1; shift' 'exec setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups "$@"' >/usr/local/bin/as_user
    chmod +x /usr/local/bin/as_user
    cat >/usr/local/bin/silent_server <<'END'
#!/usr/bin/python3
"""Accepts and never answers."""
import socket, sys
server = socket.socket(); server.setsockopt(1, 2, 1); server.bind(("0.0.0.0", int(sys.argv[1]))); server.listen(50)
kept = []
while True: kept.append(server.accept())
END
    cat >/usr/local/bin/resetting_server <<'END'
#!/usr/bin/python3
"""Reads a little, then resets the connection."""
import socket, struct, sys
server = socket.socket(); server.setsockopt(1, 2, 1); server.bind(("0.0.0.0", int(sys.argv[1]))); server.listen(50)
while True:
    connection, _ = server.accept()
    connection.recv(64)
    connection.setsockopt(1, 13, struct.pack("ii", 1, 0))
    connection.close()
END
    chmod +x /usr/local/bin/*_server
    log=/mnt/log
    : >$log
    cd /srv/app || exit 1
}

start() { setsid "$@" >>$log 2>&1 </dev/null & started+=($!); }
run() { timeout -k 2 "${LIMIT:-20}" "$@" >>$log 2>&1 </dev/null || true; }
side() { setsid "$@" >/mnt/side.log 2>&1 </dev/null & sides+=($!); }
quiet() { timeout -k 2 "${LIMIT:-20}" "$@" >/dev/null 2>&1 </dev/null || true; }

up() {
    for _ in $(seq 80); do
        (: >"/dev/tcp/${2:-127.0.0.1}/$1") 2>/dev/null && return
        sleep 0.1
    done
    echo "$recipe: nothing listens on $1" >&2
}

said() {
    for _ in $(seq "${2:-80}"); do
        grep -Eq -- "$1" $log && return
        sleep 0.1
    done
    echo "$recipe: the log never said $1" >&2
}

end_all() {
    local signal=$1 pid
    shift
    for pid in "$@"; do kill "-$signal" "$pid" 2>/dev/null; done
    for _ in $(seq 50); do
        local alive=0
        for pid in "$@"; do kill -0 "$pid" 2>/dev/null && alive=1; done
        [ $alive = 0 ] && break
        sleep 0.1
    done
    for pid in "$@"; do { kill -KILL -- "-$pid"; wait "$pid"; } 2>/dev/null; done
}
stop() { end_all "${1:-TERM}" "${started[@]}"; started=(); }
stop_sides() { end_all TERM "${sides[@]}"; sides=(); }

excerpt() {
    local name=$1
    cp $log "/mnt/out/$name.log"
    printf '%s\n' "$2" "$3" "${4:-tail}" "${5:-40}" >"/mnt/out/$name.meta"
    stop KILL
    : >$log
}

small_disk() { mkdir -p "$1"; mount -t tmpfs -o "size=${2:-1m}" small "$1"; chmod 1777 "$1"; }
fill() { dd if=/dev/zero "of=$1/ballast" bs=4k 2>/dev/null; true; }
names() { # names ADDRESS=NAME…: a name server; all other names do not exist
    local options=() pair
    for pair in "$@"; do options+=("--address=/${pair#*=}/${pair%%=*}"); done
    dnsmasq --no-daemon --no-resolv --no-hosts --listen-address=127.0.0.53 --bind-interfaces --address=/#/ "${options[@]}" \
        >/dev/null 2>&1 &
    sleep 0.3
}
certificate() { # certificate NAME [DAYS]: a self-signed one, expired when DAYS is negative
    openssl req -x509 -newkey rsa:2048 -nodes -subj "/CN=$1" -addext "subjectAltName=DNS:$1" -keyout "/srv/$1.key" \
        -out "/srv/$1.crt" -days 30 2>/dev/null
    if [ "${2:-1}" -lt 0 ]; then
        openssl req -new -key "/srv/$1.key" -subj "/CN=$1" -out /srv/csr 2>/dev/null
        mkdir -p /srv/ca && : >/srv/ca/index && echo 01 >/srv/ca/serial
        printf '[ca]\ndefault_ca=d\n[d]\ndatabase=/srv/ca/index\nserial=/srv/ca/serial\nnew_certs_dir=/srv/ca\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n' >/srv/ca/conf
        openssl ca -batch -config /srv/ca/conf -selfsign -keyfile "/srv/$1.key" -in /srv/csr -out "/srv/$1.crt" \
            -startdate 20240101000000Z -enddate 20240201000000Z 2>/dev/null
    fi
}

stage
. /mnt/recipe.sh
stop KILL
stop_sides
