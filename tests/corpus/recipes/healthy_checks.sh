# Checks that find nothing wrong: Knot, Kea, ProFTPD, H2O, fail2ban, aria2
# software: the first word of each name
# apt: knot kea-dhcp4-server proftpd-core h2o fail2ban aria2
mkdir -p /srv/knot /run/knot /run/kea; printf '$ORIGIN shop.example.\n$TTL 60\n@ SOA ns admin 1 60 60 60 60\n@ NS ns\nns A 127.0.0.1\nerror A 127.0.0.9\n' >/srv/knot/zone
printf 'server:\n  listen: 127.0.0.1@5300\n  rundir: /run/knot\nlog:\n  - target: stdout\n    any: info\ndatabase:\n  storage: /srv/knot\nzone:\n  - domain: shop.example\n    file: /srv/knot/zone\n' >/etc/app/knot.conf
run knotc -c /etc/app/knot.conf conf-check; excerpt knot_check healthy "Knot DNS: the configuration is checked"
printf '{ "Dhcp4": { "interfaces-config": { "interfaces": [ ] }, "lease-database": { "type": "memfile", "persist": false }, "subnet4": [ ] } }\n' >/etc/app/kea.json
run kea-dhcp4 -t /etc/app/kea.json; run kea-dhcp4 -W; excerpt kea_check healthy "Kea: the configuration is checked, the build is told" tail 30
printf 'ServerName errors\nServerType standalone\nPort 2121\nUser nobody\nGroup nogroup\n' >/etc/app/pf.conf; run proftpd -t -d 2 -c /etc/app/pf.conf; excerpt proftpd_check healthy "ProFTPD: the configuration is checked"
printf 'listen: 8080\nhosts:\n  default:\n    paths:\n      /:\n        file.dir: /srv/app\nerror-log: /dev/stderr\n' >/etc/app/h2o.conf; run h2o -t -c /etc/app/h2o.conf; excerpt h2o_check healthy "H2O: the configuration is checked"
printf 'Jan  1 12:00:00 app sshd[7]: Failed password for root from 203.0.113.9 port 5000 ssh2\nJan  1 12:00:01 app sshd[7]: Accepted publickey for bob from 203.0.113.8 port 5001 ssh2\n' >/srv/auth.log; run fail2ban-regex /srv/auth.log sshd; excerpt fail2ban_regex healthy "fail2ban: a filter is tried on somebody's wrong password" tail 40
echo hello >/srv/app/failed; side python3 -m http.server 8080 --bind 127.0.0.1 -d /srv/app; up 8080; run aria2c --console-log-level=info -d /srv --allow-overwrite=true http://127.0.0.1:8080/failed; excerpt aria2_verbose healthy "aria2: a download, told in detail" tail 40
stop_sides
