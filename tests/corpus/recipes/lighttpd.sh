# lighttpd web server
# apt: lighttpd
conf() { mkdir -p /srv/www; echo hi >/srv/www/index.html; printf '%s\n' 'server.document-root = "/srv/www"' 'server.port = 8080' 'server.bind = "127.0.0.1"' 'server.modules = ("mod_accesslog","mod_proxy")' 'index-file.names = ("index.html")' 'accesslog.filename = "/dev/fd/2"' "$1" >/etc/app/l.conf; }
conf ''; start lighttpd -D -f /etc/app/l.conf; up 8080; for p in / /x /y.png; do quiet curl -s http://127.0.0.1:8080$p; done; stop INT
excerpt traffic healthy "traffic with 404s, graceful stop"
conf 'proxy.server = ("/api" => (("host" => "127.0.0.4", "port" => 9000)))'; start lighttpd -D -f /etc/app/l.conf; up 8080; quiet curl -s -m 5 http://127.0.0.1:8080/api/1; quiet curl -s http://127.0.0.1:8080/
excerpt backend_refused "NETWORK_ERROR net:refused LOG_ERROR" "the backend does not listen"
conf 'server.port = eighty'; run lighttpd -D -f /etc/app/l.conf
excerpt bad_config "config_error LOG_ERROR" "a port that is no number"
conf ''; side silent_server 8080; sleep 0.4; run lighttpd -D -f /etc/app/l.conf
excerpt port_taken "port_in_use LOG_ERROR" "the port is taken"
