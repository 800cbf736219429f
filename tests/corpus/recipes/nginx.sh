# nginx web server and reverse proxy
# apt: nginx-light apache2-utils
conf() { # conf SERVER_BLOCK: a configuration with that server
    mkdir -p /srv/www /var/log/nginx /var/lib/nginx
    echo '<h1>hello</h1>' >/srv/www/index.html
    cat >/etc/nginx/nginx.conf <<END
user www-data;
worker_processes 2;
daemon off;
pid /run/nginx.pid;
error_log stderr ${LEVEL:-notice};
events { worker_connections 64; }
http {
  access_log /dev/stdout;
  proxy_connect_timeout 2s; proxy_read_timeout 2s;
  ${HTTP:-}
  server { listen 8080; server_name shop.example; root /srv/www; $1 }
}
END
}
ask() { quiet curl -s -m "${2:-5}" -H 'Host: shop.example' "http://127.0.0.1:8080$1"; }
begin() { start nginx; up 8080; }

conf ''; begin
for path in / /index.html /missing.png /robots.txt / /wp-login.php '/search?q=error'; do ask "$path"; done
excerpt traffic healthy "ordinary traffic, pages asked for that do not exist"
begin; for path in / /favicon.ico /; do ask "$path"; done; kill -HUP "${started[0]}"; said 'gracefully shutting down'; sleep 0.5; ask /; stop QUIT
excerpt reload healthy "reload, then graceful shutdown"
conf 'location /slow { proxy_pass http://127.0.0.1:9000; }'; side silent_server 9000
LEVEL=info conf 'location /slow { proxy_pass http://127.0.0.1:9000; }'; begin; ask /slow 0.5; ask / ; sleep 0.3
excerpt client_gone healthy "a client went away before the answer came"
stop_sides
conf ''; side silent_server 8080; sleep 0.4; run nginx
excerpt port_taken "port_in_use LOG_ERROR" "another process listens on 8080"
stop_sides
conf 'location / { proxy_passs http://api:9000; }'; run nginx -t; run nginx
excerpt unknown_directive "config_error LOG_ERROR" "a directive misspelt"
conf 'location / { try_files $uri =404; '; run nginx
excerpt missing_brace "config_error LOG_ERROR" "a closing brace left out"
conf 'location / { proxy_pass http://api:9000; }'; begin; ask /; ask /cart; ask /
excerpt upstream_refused "NETWORK_ERROR net:refused LOG_ERROR" "the upstream does not listen"
conf 'location / { proxy_pass http://catalog:9000; }'; names; run nginx
excerpt upstream_unknown_at_start "NETWORK_ERROR net:dns LOG_ERROR" "the upstream's name does not exist when nginx starts"
HTTP='resolver 127.0.0.53 valid=1s;' conf 'set $up catalog; location / { proxy_pass http://$up:9000; }'; begin; ask /; ask /a
excerpt upstream_unknown "NETWORK_ERROR net:dns LOG_ERROR" "the upstream's name does not exist while it runs"
conf 'location / { proxy_pass http://slow:9000; }'; begin; ask /; ask /report
excerpt upstream_connect_timeout "NETWORK_ERROR net:timeout LOG_ERROR" "packets to the upstream are dropped"
conf 'location / { proxy_pass http://127.0.0.1:9001; }'; side resetting_server 9001; begin; ask /; ask /orders
excerpt upstream_reset "NETWORK_ERROR net:reset LOG_ERROR" "the upstream resets the connection"
certificate other.example -1
side openssl s_server -accept 9443 -cert /srv/other.example.crt -key /srv/other.example.key -www
conf 'location / { proxy_pass https://127.0.0.1:9443; proxy_ssl_verify on; proxy_ssl_trusted_certificate /srv/other.example.crt; proxy_ssl_name other.example; }'
sleep 0.5; begin; ask /; ask /pay
excerpt upstream_certificate "NETWORK_ERROR net:tls LOG_ERROR" "the upstream's certificate has expired"
stop_sides
conf ''; mkdir /srv/www/private; echo x >/srv/www/private/list.html; chmod 700 /srv/www/private; begin; ask /; ask /private/list.html
excerpt forbidden_file "permission LOG_ERROR" "the worker's user may not enter a folder of the site"
HTTP='server { listen 8443 ssl; ssl_certificate /etc/ssl/shop.pem; ssl_certificate_key /etc/ssl/shop.key; }' conf ''; run nginx
excerpt certificate_missing "missing_dependency LOG_ERROR" "the certificate file is not there"
small_disk /srv/temp; fill /srv/temp
HTTP='client_body_temp_path /srv/temp/body; client_max_body_size 50m;' conf 'location / { proxy_pass http://127.0.0.1:9001; }'
begin; head -c 3000000 /dev/zero >/tmp/big; quiet curl -s -m 5 -H 'Host: shop.example' --data-binary @/tmp/big http://127.0.0.1:8080/upload
excerpt temp_full "DISK_PRESSURE disk:full LOG_ERROR" "the file system for request bodies is full" from:No.space 20
stop_sides
htpasswd -bc /etc/nginx/users alice example >/dev/null 2>&1
conf 'location / { auth_basic "staff"; auth_basic_user_file /etc/nginx/users; }'; begin
quiet curl -s -u alice:example http://127.0.0.1:8080/; quiet curl -s -u alice:exampel http://127.0.0.1:8080/; quiet curl -s -u bob:x http://127.0.0.1:8080/
excerpt wrong_password auth_failure "visitors give a wrong password and an unknown name"
