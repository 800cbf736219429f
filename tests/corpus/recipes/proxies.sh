# Squid, Varnish, Tinyproxy, Privoxy, stunnel
# software: the first word of each name
# apt: squid varnish tinyproxy stunnel4 privoxy
certificate api
quiet curl --version
printf '%s\n' 'http_port 127.0.0.1:3128' 'access_log stdio:/dev/stdout' 'cache_log stdio:/dev/stderr' 'http_access allow all' 'pid_filename /run/squid.pid' 'shutdown_lifetime 1 seconds' 'coredump_dir /srv' >/etc/app/s.conf
mkdir -p /srv/www; echo hi >/srv/www/index.html; side python3 -m http.server -b 127.0.0.4 -d /srv/www 9000
start squid -N -d1 -f /etc/app/s.conf; up 3128; for u in http://api:9000/ http://api:9000/none; do quiet curl -s -x 127.0.0.1:3128 $u; done; stop
excerpt squid_traffic healthy "Squid: start, a page, a page that does not exist, stop" tail 60
printf 'http_prt 3128\nhttp_access allow everybody\n' >/etc/app/s2.conf; run squid -N -d1 -f /etc/app/s2.conf
excerpt squid_bad_config "config_error LOG_ERROR" "Squid: an access list that is not defined"
side silent_server 3128; sleep 0.4; run squid -N -d1 -f /etc/app/s.conf
excerpt squid_port "port_in_use LOG_ERROR" "Squid: the port is taken" tail 20
stop_sides
printf 'vcl 4.1;\nbackend default { .host = "127.0.0.4"; .port = "9000"; }\nsub vcl_recv { set req.htp.X = "1"; }\n' >/etc/app/bad.vcl
run varnishd -F -a 127.0.0.1:6081 -n /srv/varnish -f /etc/app/bad.vcl
excerpt varnish_bad_vcl "config_error LOG_ERROR" "Varnish: a misspelt variable in the VCL"
printf 'vcl 4.1;\nbackend default { .host = "127.0.0.4"; .port = "9000"; }\n' >/etc/app/ok.vcl
start varnishd -F -a 127.0.0.1:6081 -n /srv/varnish -f /etc/app/ok.vcl; up 6081; sleep 1; stop
excerpt varnish_start_stop healthy "Varnish: start and stop"
side silent_server 6081; sleep 0.4; run varnishd -F -a 127.0.0.1:6081 -n /srv/varnish2 -f /etc/app/ok.vcl
excerpt varnish_port "port_in_use LOG_ERROR" "Varnish: the port is taken"
stop_sides
printf 'Port 8888\nListen 127.0.0.1\nTimeout 3\nMaxClients 20\nLogLevel Info\n' >/etc/app/t.conf
side python3 -m http.server -b 127.0.0.4 -d /srv/www 9000; start tinyproxy -d -c /etc/app/t.conf; up 8888; quiet curl -s -x 127.0.0.1:8888 http://api:9000/; stop
excerpt tinyproxy_traffic healthy "Tinyproxy: a page, stop"
stop_sides; start tinyproxy -d -c /etc/app/t.conf; up 8888; quiet curl -s -m 4 -x 127.0.0.1:8888 http://api:9000/; names;  quiet curl -s -m 4 -x 127.0.0.1:8888 http://catalog.internal/
excerpt tinyproxy_no_peer "NETWORK_ERROR net:refused net:dns LOG_ERROR" "Tinyproxy: a server that does not listen, a name that does not exist"
printf 'foreground = yes\npid =\ndebug = 5\n[api]\naccept = 127.0.0.1:8443\nconnect = api:9000\ncert = /srv/api.crt\nkey = /srv/api.key\n' >/etc/app/st.conf
start stunnel4 /etc/app/st.conf; up 8443; quiet curl -sk -m 3 https://127.0.0.1:8443/
excerpt stunnel_refused "NETWORK_ERROR net:refused LOG_ERROR" "stunnel: the service behind it does not listen"
side python3 -m http.server -b 127.0.0.4 -d /srv/www 9000; up 9000 127.0.0.4; start stunnel4 /etc/app/st.conf; up 8443; quiet curl -sk -m 3 https://127.0.0.1:8443/; stop
excerpt stunnel_traffic healthy "stunnel: a request passes, stop" tail 60
sed -i 's#/srv/api.key#/srv/none.key#' /etc/app/st.conf; run stunnel4 /etc/app/st.conf
excerpt stunnel_no_key "missing_dependency LOG_ERROR" "stunnel: the key file is not there"
printf 'listen-address 127.0.0.1:8118\ndebug 1\ndebug 512\ndebug 1024\ndebug 4096\ndebug 8192\n' >/etc/app/p.conf
start privoxy --no-daemon /etc/app/p.conf; up 8118; quiet curl -s -m 4 -x 127.0.0.1:8118 http://api:9000/; stop
excerpt privoxy_traffic healthy "Privoxy: a page, stop"
