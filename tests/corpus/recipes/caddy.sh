# Caddy web server (JSON logs)
# apt: caddy
conf() { mkdir -p /srv/www; echo hi >/srv/www/index.html; printf '{\n admin off\n}\n:8080 {\n log {\n output stdout\n }\n%s\n}\n' "$1" >/etc/app/Caddyfile; }
web() { start caddy run --config /etc/app/Caddyfile --adapter caddyfile; up 8080; }
ask() { quiet curl -s -m 5 http://127.0.0.1:8080$1; }
conf 'root * /srv/www
file_server'; web; ask /; ask /nope; ask /favicon.ico; stop
excerpt traffic healthy "start, traffic with 404s, stop"
conf 'reverse_proxy api:9000'; web; ask /; ask /x
excerpt upstream_refused "NETWORK_ERROR net:refused LOG_ERROR" "the upstream does not listen"
conf 'reverse_proxy catalog.internal:9000'; names; web; ask /; ask /x
excerpt upstream_unknown "NETWORK_ERROR net:dns LOG_ERROR" "the upstream's name does not exist"
conf 'reverse_prox api:9000'; run caddy run --config /etc/app/Caddyfile --adapter caddyfile
excerpt bad_directive "config_error LOG_ERROR" "a directive misspelt"
conf 'respond ok'; side silent_server 8080; sleep 0.4; run caddy run --config /etc/app/Caddyfile --adapter caddyfile
excerpt port_taken "port_in_use LOG_ERROR" "the port is taken"
stop_sides
certificate api -1; side openssl s_server -accept 9443 -cert /srv/api.crt -key /srv/api.key -www; up 9443
conf 'reverse_proxy https://localhost:9443'; web; ask /; ask /b
excerpt upstream_certificate "NETWORK_ERROR net:tls LOG_ERROR" "the upstream's certificate is not trusted"
