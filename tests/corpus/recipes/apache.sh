# Apache HTTP server
# apt: apache2-bin apache2-utils
conf() {
    mkdir -p /srv/www /run/apache2; echo hello >/srv/www/index.html
    m=/usr/lib/apache2/modules
    cat >/etc/app/httpd.conf <<END
ServerName shop.example
Listen 127.0.0.1:8080
PidFile /run/apache2/httpd.pid
User www-data
Group www-data
LoadModule mpm_event_module $m/mod_mpm_event.so
LoadModule authz_core_module $m/mod_authz_core.so
LoadModule authz_user_module $m/mod_authz_user.so
LoadModule authn_core_module $m/mod_authn_core.so
LoadModule authn_file_module $m/mod_authn_file.so
LoadModule auth_basic_module $m/mod_auth_basic.so
LoadModule dir_module $m/mod_dir.so
LoadModule proxy_module $m/mod_proxy.so
LoadModule proxy_http_module $m/mod_proxy_http.so
LoadModule cgid_module $m/mod_cgid.so
LoadModule alias_module $m/mod_alias.so
LoadModule ssl_module $m/mod_ssl.so
ErrorLog /proc/self/fd/2
CustomLog /proc/self/fd/1 "%h %l %u %t \"%r\" %>s %b"
DocumentRoot /srv/www
ScriptSock /run/apache2/cgi.sock
DirectoryIndex index.html
<Directory /srv/www>
  Require all granted
</Directory>
$1
END
}
web() { start bash -c 'exec apache2 -DFOREGROUND -f /etc/app/httpd.conf 2>&1 | cat'; up 8080; }
ask() { quiet curl -s -m 6 "$@"; }
u=http://127.0.0.1:8080
conf ''; web; for p in / /nope /favicon.ico / '/search?q=fatal+error'; do ask $u$p; done; pkill -o -USR1 apache2; sleep 1; ask $u/; pkill -o -WINCH apache2; sleep 1.5
excerpt traffic healthy "traffic with 404s, graceful restart, graceful stop"
conf 'ProxyPass /api http://api:9000/'; web; ask $u/; ask $u/api/x; ask $u/api/y
excerpt backend_refused "NETWORK_ERROR net:refused LOG_ERROR" "the backend does not listen"
names; conf 'ProxyPass /api http://catalog.internal:9000/'; web; ask $u/api/x; ask $u/
excerpt backend_unknown "NETWORK_ERROR net:dns LOG_ERROR" "the backend's name does not exist"
conf 'ProxyPass /api http://slow:9000/ connectiontimeout=1 timeout=1'; web; ask $u/api/x; ask $u/
excerpt backend_timeout "NETWORK_ERROR net:timeout LOG_ERROR" "packets to the backend are dropped"
conf 'RewriteEngin on'; run apache2 -DFOREGROUND -f /etc/app/httpd.conf
excerpt unknown_directive "config_error LOG_ERROR" "a directive misspelt"
conf 'LoadModule php_module /usr/lib/apache2/modules/libphp8.2.so'; run apache2 -DFOREGROUND -f /etc/app/httpd.conf
excerpt module_missing "missing_dependency LOG_ERROR" "a module's file is not there"
conf ''; side silent_server 8080; sleep 0.4; run apache2 -DFOREGROUND -f /etc/app/httpd.conf
excerpt port_taken "port_in_use LOG_ERROR" "the port is taken"
stop_sides
mkdir -p /srv/www/staff; chmod 700 /srv/www/staff; web; ask $u/; ask $u/staff/list
excerpt forbidden "permission LOG_ERROR" "the server's user may not enter a folder"
htpasswd -bc /etc/app/users alice example 2>/dev/null
conf '<Location /in>
AuthType Basic
AuthName x
AuthUserFile /etc/app/users
Require valid-user
</Location>'; mkdir -p /srv/www/in; echo x >/srv/www/in/index.html; web; ask -u alice:exampel $u/in/; ask -u mallory:x $u/in/; ask -u alice:example $u/in/
excerpt wrong_password auth_failure "visitors give a wrong password and an unknown name"
mkdir -p /srv/cgi; printf '#!/bin/sh\necho "thing: broken" >&2\nexit 1\n' >/srv/cgi/report; chmod 755 /srv/cgi/report
conf 'ScriptAlias /cgi/ /srv/cgi/
<Directory /srv/cgi>
Require all granted
</Directory>'; web; ask $u/cgi/report; ask $u/
excerpt cgi_failed "LOG_ERROR" "a CGI program ends before it answers"
