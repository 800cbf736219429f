# Name servers: BIND, Unbound, dnsmasq, NSD
# software: the first word of each name
# apt: bind9 bind9-dnsutils unbound dnsmasq-base nsd
mkdir -p /var/cache/bind /run/named; chown bind /var/cache/bind /run/named
zone() { printf '$TTL 60\n@ SOA ns admin 1 60 60 60 60\n@ NS ns\nns A 127.0.0.1\n%s\n' "$1" >/etc/bind/db.shop; }
printf 'options { directory "/var/cache/bind"; listen-on port 5300 { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; dnssec-validation no; };\ncontrols {};\nzone "shop.example" { type master; file "/etc/bind/db.shop"; };\n' >/etc/bind/named.conf
zone 'www A 127.0.0.9'; start named -g -u bind; said 'running'; quiet dig +short -p 5300 @127.0.0.1 www.shop.example; quiet dig -p 5300 @127.0.0.1 none.shop.example; stop
excerpt bind_start_stop healthy "BIND: start, answers, a name that does not exist, stop" tail 60
zone 'www AA 127.0.0.9'; start named -g -u bind; said 'not loaded due to errors'; sleep 0.5
excerpt bind_bad_zone "config_error LOG_ERROR" "BIND: a record type misspelt in a zone file" tail 30
sed -i 's/listen-on port/listn-on port/' /etc/bind/named.conf; run named -g -u bind
excerpt bind_bad_config "config_error LOG_ERROR" "BIND: an option misspelt" tail 20
printf 'server:\n interface: 127.0.0.1\n port: 5301\n username: ""\n chroot: ""\n use-syslog: no\n do-daemonize: no\n verbosity: 1\n pidfile: ""\n directory: "/etc/unbound"\n' >/etc/app/u.conf
start unbound -d -c /etc/app/u.conf; sleep 1; quiet dig +time=1 +tries=1 -p 5301 @127.0.0.1 localhost; stop
excerpt unbound_start_stop healthy "Unbound: start, an answer, stop with its statistics" tail 40
side silent_server 5301; sleep 0.4; run unbound -d -c /etc/app/u.conf
excerpt unbound_port "port_in_use LOG_ERROR" "Unbound: the port is taken"
stop_sides
echo ' prot: 53' >>/etc/app/u.conf; run unbound -d -c /etc/app/u.conf
excerpt unbound_bad_config "config_error LOG_ERROR" "Unbound: an option misspelt"
start dnsmasq --no-daemon --log-queries --no-resolv --port=5302 --listen-address=127.0.0.1 --bind-interfaces --address=/shop/127.0.0.9; sleep 0.5; quiet dig +short -p 5302 @127.0.0.1 shop; quiet dig -p 5302 @127.0.0.1 none.example; stop
excerpt dnsmasq_queries healthy "dnsmasq: queries, one of them refused, stop"
side python3 -c 'import socket,time; s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); s.bind(("127.0.0.1",5302)); time.sleep(60)'; sleep 0.5; run dnsmasq --no-daemon --no-resolv --port=5302 --listen-address=127.0.0.1 --bind-interfaces
excerpt dnsmasq_port "port_in_use LOG_ERROR" "dnsmasq: the port is taken"
run dnsmasq --no-daemon --cache-sise=100
excerpt dnsmasq_bad_option "config_error LOG_ERROR" "dnsmasq: an option misspelt"
printf 'server:\n ip-address: 127.0.0.1@5303\n zonesdir: /etc/nsd\n username: ""\n database: ""\n xfrdfile: /srv/x\n zonelistfile: /srv/z\n pidfile: ""\nremote-control:\n control-enable: no\nzone:\n name: shop.example\n zonefile: none.zone\n' >/etc/app/nsd.conf
start nsd -d -c /etc/app/nsd.conf; sleep 1.5
excerpt nsd_zone_missing "missing_dependency LOG_ERROR" "NSD: the zone's file is not there"
