# Yet more name servers, and one for addresses: Knot, dnsdist, PowerDNS, Kea
# software: the first word of each name
# apt: knot dnsdist pdns-server pdns-backend-bind kea-dhcp4-server bind9-dnsutils
mkdir -p /srv/knot /run/knot; printf 'server:\n  listen: 127.0.0.1@5300\n  rundir: /run/knot\nlog:\n  - target: stdout\n    any: info\ndatabase:\n  storage: /srv/knot\nzone:\n  - domain: shop.example\n    file: /srv/knot/zone\n' >/etc/app/knot.conf
zone() { printf '$ORIGIN shop.example.\n$TTL 60\n@ SOA ns admin 1 60 60 60 60\n@ NS ns\nns A 127.0.0.1\n%s\n' "$1" >/srv/knot/zone; }
zone 'errors A 127.0.0.9'; start knotd -c /etc/app/knot.conf; sleep 2; quiet dig +time=1 +tries=1 -p 5300 @127.0.0.1 none.shop.example; stop
excerpt knot_start_stop healthy "Knot DNS: start, a name that does not exist, stop"
zone 'www AA 127.0.0.9'; start knotd -c /etc/app/knot.conf; sleep 2; stop
excerpt knot_bad_zone "config_error LOG_ERROR" "Knot DNS: a record type misspelt in the zone"
side silent_server 5300; sleep 0.4; zone 'www A 127.0.0.9'; start knotd -c /etc/app/knot.conf; sleep 2; stop
excerpt knot_port "port_in_use LOG_ERROR" "Knot DNS: the port is taken"
stop_sides
sed -i 's/listen:/lissen:/' /etc/app/knot.conf; run knotd -c /etc/app/knot.conf
excerpt knot_bad_option "config_error LOG_ERROR" "Knot DNS: an option misspelt"
printf 'setLocal("127.0.0.1:5301")\nnewServer({address="127.0.0.1:5399", checkInterval=1, maxCheckFailures=1})\n' >/etc/app/dnsdist.conf; start dnsdist --supervised --disable-syslog -C /etc/app/dnsdist.conf; sleep 5; stop
excerpt dnsdist_backend_down "NETWORK_ERROR LOG_ERROR" "dnsdist: nobody answers on its server's port"
printf 'setLocall("127.0.0.1:5301")\n' >/etc/app/dnsdist.conf; run dnsdist --supervised --disable-syslog -C /etc/app/dnsdist.conf
excerpt dnsdist_bad_function "config_error LOG_ERROR" "dnsdist: a function misspelt in the configuration"
mkdir -p /etc/app/pdns /run/pdns; : >/etc/app/pdns/pdns.conf; printf 'zone "shop.example" { type master; file "/srv/knot/zone"; };\n' >/etc/app/pdns/named.conf
pdns() { start pdns_server --config-dir=/etc/app/pdns --daemon=no --guardian=no --disable-syslog --write-pid=no --socket-dir=/run/pdns --local-address=127.0.0.1 --local-port=5302 --security-poll-suffix= "$@"; sleep 2.5; }
pdns --launch=bind --bind-config=/etc/app/pdns/named.conf; quiet dig +time=1 +tries=1 -p 5302 @127.0.0.1 none.shop.example; stop
excerpt powerdns_start_stop healthy "PowerDNS: start, a name that does not exist, stop"
pdns --launch=gmysql; stop
excerpt powerdns_backend_missing "missing_dependency LOG_ERROR" "PowerDNS: a backend that is not installed"
pdns --launch=bind --bind-config=/etc/app/pdns/named.conf --local-prot=5; stop
excerpt powerdns_bad_option "config_error LOG_ERROR" "PowerDNS: an option misspelt"
printf '{ "Dhcp4": { "interfaces-config": { "interfaces": [ "v0" ] }, "lease-database": { "type": "memfile", "persist": false }, "subnet4": [ { "subnet": "10.9.0.0/24", "pools": [ { "pool": "10.9.0.100-10.9.0.110" } ] } ], "loggers": [ { "name": "kea-dhcp4", "output_options": [ { "output": "stdout" } ], "severity": "INFO" } ] } }\n' >/etc/app/kea.json; export KEA_PIDFILE_DIR=/run KEA_LOCKFILE_DIR=/run; mkdir -p /run/kea
start kea-dhcp4 -c /etc/app/kea.json; sleep 3; stop
excerpt kea_start_stop healthy "Kea: start and stop"
sed -i 's/"subnet4"/"subnett4"/' /etc/app/kea.json; run kea-dhcp4 -c /etc/app/kea.json
excerpt kea_bad_option "config_error LOG_ERROR" "Kea: a key misspelt"
