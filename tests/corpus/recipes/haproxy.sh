# HAProxy load balancer
# apt: haproxy
conf() { cat >/etc/app/h.cfg <<END
global
  log stdout format raw local0
defaults
  mode http
  log global
  option httplog
  timeout connect 1s
  timeout client 3s
  timeout server 1s
frontend web
  bind 127.0.0.1:8080
  default_backend app
backend app
$1
END
}
ask() { for _ in $(seq ${1:-2}); do quiet curl -s -m 4 http://127.0.0.1:8080/; done; }
mkdir -p /srv/www; echo hi >/srv/www/index.html; side python3 -m http.server -b 127.0.0.4 -d /srv/www 9000; up 9000 127.0.0.4
conf '  option httpchk GET /
  server a1 127.0.0.4:9000 check inter 300ms'; start haproxy -W -f /etc/app/h.cfg; up 8080; ask 3; quiet curl -s http://127.0.0.1:8080/none; stop USR1; sleep 0.5
excerpt traffic healthy "traffic, then a graceful stop"
start haproxy -f /etc/app/h.cfg; up 8080; sleep 1; stop_sides; sleep 1.5; ask 2
excerpt server_down "NETWORK_ERROR net:refused LOG_ERROR" "the only server of the backend stops"
conf '  server a1 catalog.internal:9000 check'; names; run haproxy -f /etc/app/h.cfg
excerpt server_unknown "NETWORK_ERROR net:dns LOG_ERROR" "the server's name does not exist"
conf '  server a1 10.9.0.9:9000 check inter 300ms fall 1'; start haproxy -f /etc/app/h.cfg; up 8080; sleep 2.5; ask 1
excerpt server_timeout "NETWORK_ERROR net:timeout LOG_ERROR" "packets to the server are dropped"
conf '  serverr a1 127.0.0.4:9000'; run haproxy -f /etc/app/h.cfg
excerpt bad_keyword "config_error LOG_ERROR" "a keyword misspelt"
conf '  server a1 127.0.0.4:9000'; side silent_server 8080; sleep 0.4; run haproxy -f /etc/app/h.cfg
excerpt port_taken "port_in_use LOG_ERROR" "the port is taken"
