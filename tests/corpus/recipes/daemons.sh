# More servers: Tomcat, Jetty, uWSGI, Prosody, Icecast, collectd, FreeRADIUS, ngIRCd, Tor, coturn, Starman, Elixir, Hitch, rsyslog-like loggers
# software: the first word of each name
# apt: tomcat10 jetty9 uwsgi-core uwsgi-plugin-python3 prosody icecast2 collectd-core freeradius ngircd tor coturn starman libmojolicious-perl elixir hitch openjdk-17-jre-headless
u=http://127.0.0.1:8080
ask() { for p in "$@"; do quiet curl -s -m 5 "$u$p"; done; }
export CATALINA_HOME=/usr/share/tomcat10 CATALINA_BASE=/srv/tomcat JAVA_OPTS=-Xmx128m
mkdir -p $CATALINA_BASE/{conf,logs,temp,webapps/ROOT,work}; cp -r /etc/tomcat10/* $CATALINA_BASE/conf/ 2>/dev/null; cp -r /usr/share/tomcat10/etc/* $CATALINA_BASE/conf/ 2>/dev/null; echo hi >$CATALINA_BASE/webapps/ROOT/index.html
tomcat() { start /usr/share/tomcat10/bin/catalina.sh run; said 'Server startup in|SEVERE' 300; }
tomcat; ask / /none /error.jsp; stop; 
excerpt tomcat_start_stop healthy "Tomcat: start, a page, stop" tail 50
side silent_server 8080; sleep 0.4; tomcat; sleep 2
excerpt tomcat_port "port_in_use LOG_ERROR" "Tomcat: the port is taken" tail 40
stop_sides; sed -i 's#</Host>#</Hosst>#' $CATALINA_BASE/conf/server.xml; LIMIT=15 run /usr/share/tomcat10/bin/catalina.sh run
excerpt tomcat_bad_xml "config_error LOG_ERROR" "Tomcat: a tag misspelt in server.xml" tail 40
mkdir -p /srv/jetty && cd /srv/jetty; printf -- '--module=server\n--module=http\njetty.http.port=8080\njetty.http.host=127.0.0.1\n' >start.ini; mkdir -p webapps logs
start java -Xmx96m -jar /usr/share/jetty9/start.jar jetty.base=/srv/jetty jetty.home=/usr/share/jetty9; said 'Started @' 200; up 8080; ask /none; stop
excerpt jetty_start_stop healthy "Jetty: start, a page that does not exist, stop"
side silent_server 8080; sleep 0.4; LIMIT=15 run java -Xmx96m -jar /usr/share/jetty9/start.jar jetty.base=/srv/jetty jetty.home=/usr/share/jetty9
excerpt jetty_port "port_in_use LOG_ERROR" "Jetty: the port is taken"
stop_sides; cd /srv/app
printf 'def application(e, s):\n    if e["PATH_INFO"] == "/boom": raise ValueError("order without items")\n    s("200 OK" if e["PATH_INFO"] == "/" else "404 Not Found", []); return [b"x"]\n' >wsgi.py
uw() { start uwsgi --plugin python3 --http-socket 127.0.0.1:8080 --wsgi-file wsgi.py --master --die-on-term --processes 1 "$@"; up 8080; }
uw; ask / /none /error; stop
excerpt uwsgi_traffic healthy "uWSGI: start, traffic, stop" tail 60
uw; : >/mnt/log; ask /boom
excerpt uwsgi_exception "LOG_ERROR" "uWSGI: the application raises"
run uwsgi --plugin python3 --http-socket 127.0.0.1:8080 --wsgi-file none.py --need-app
excerpt uwsgi_no_application "missing_dependency LOG_ERROR" "uWSGI: the application's file is not there" tail 15
side silent_server 8080; sleep 0.4; run uwsgi --plugin python3 --http-socket 127.0.0.1:8080 --wsgi-file wsgi.py
excerpt uwsgi_port "port_in_use LOG_ERROR" "uWSGI: the port is taken" tail 15
stop_sides
mkdir -p /srv/pros /etc/prosody; printf 'daemonize = false\npidfile = "/srv/pros/p.pid"\ndata_path = "/srv/pros"\nlog = { info = "*console" }\nmodules_disabled = { "s2s" }\nVirtualHost "shop.example"\n' >/etc/app/prosody.lua; chmod 644 /etc/app/prosody.lua; id prosody >/dev/null 2>&1 && chown -R prosody /srv/pros
mkdir -p /etc/app/certs; chmod 755 /etc/app /etc/app/certs; start as_user prosody prosody --config /etc/app/prosody.lua -F; up 5222; sleep 1; stop
excerpt prosody_start_stop healthy "Prosody: start and stop"
echo 'modules_enabled = {' >>/etc/app/prosody.lua; run as_user prosody prosody --config /etc/app/prosody.lua -F
excerpt prosody_bad_config "config_error LOG_ERROR" "Prosody: a brace left out"
mkdir -p /srv/ice; cp -r /usr/share/icecast2/web /usr/share/icecast2/admin /srv/ice/ 2>/dev/null; chown -R nobody /srv/ice; ice() { printf '<icecast><limits><clients>9</clients></limits><authentication><source-password>example</source-password><admin-user>a</admin-user><admin-password>example</admin-password></authentication><hostname>app</hostname><listen-socket><port>8080</port><bind-address>127.0.0.1</bind-address></listen-socket><paths><logdir>/srv/ice</logdir><webroot>/srv/ice/web</webroot><adminroot>/srv/ice/admin</adminroot></paths><logging><errorlog>-</errorlog><accesslog>-</accesslog><loglevel>3</loglevel></logging>%s' "$1" >/etc/app/ice.xml; chmod 644 /etc/app/ice.xml; }
ice '</icecast>'; start as_user nobody icecast2 -c /etc/app/ice.xml; up 8080; ask / /none; stop
excerpt icecast_start_stop healthy "Icecast: start, a stream that does not exist, stop"
ice '</icecats>'; run as_user nobody icecast2 -c /etc/app/ice.xml
excerpt icecast_bad_config "config_error LOG_ERROR" "Icecast: a tag misspelt"
printf 'Hostname "app"\nInterval 1\nPIDFile "/run/c.pid"\nBaseDir "/srv"\nLoadPlugin logfile\n<Plugin logfile>\n LogLevel info\n File stdout\n Timestamp true\n PrintSeverity true\n</Plugin>\nLoadPlugin load\n%s\n' '' >/etc/app/cd.conf
start collectd -f -C /etc/app/cd.conf; sleep 2.5; stop
excerpt collectd_start_stop healthy "collectd: start, a plugin, stop"
echo 'LoadPlugin nosuchplugin' >>/etc/app/cd.conf; start collectd -f -C /etc/app/cd.conf; sleep 2; stop
excerpt collectd_plugin_missing "missing_dependency LOG_ERROR" "collectd: a plugin that is not installed"
printf '[Global]\n Name = irc.shop.example\n AdminInfo1 = x\n AdminInfo2 = x\n AdminEMail = a@shop.example\n Listen = 127.0.0.1\n MotdPhrase = errors are fine\n ServerUID = nobody\n[Options]\n DNS = no\n Ident = no\n PAM = no\n' >/etc/app/irc.conf
start ngircd -n -f /etc/app/irc.conf; up 6667; timeout 1 bash -c 'exec 3<>/dev/tcp/127.0.0.1/6667; printf "NICK a\r\nUSER a 0 * :a\r\nQUIT\r\n" >&3; sleep 0.5'; stop
excerpt ngircd_client healthy "ngIRCd: start, a client, stop"
side silent_server 6667; sleep 0.4; run ngircd -n -f /etc/app/irc.conf
excerpt ngircd_port "port_in_use LOG_ERROR" "ngIRCd: the port is taken"
stop_sides
start turnserver -n --log-file=stdout --listening-ip=127.0.0.1 --relay-ip=127.0.0.1 --no-tls --no-dtls --no-cli --lt-cred-mech --user=a:example --realm=shop.example --db=/srv/turndb; sleep 2; stop
excerpt coturn_start healthy "coturn: start and stop" tail 60
printf 'DataDirectory /srv/tor\nSocksPort 127.0.0.1:9050\nDisableNetwork 1\nLog notice stdout\n' >/etc/app/torrc; start tor -f /etc/app/torrc; sleep 2; stop INT
excerpt tor_start_stop healthy "Tor: start without network (so configured), stop"
printf 'SocksPrt 9050\n' >/etc/app/torrc2; run tor -f /etc/app/torrc2
excerpt tor_bad_option "config_error LOG_ERROR" "Tor: an option misspelt"
sed -i /DisableNetwork/d /etc/app/torrc; side silent_server 9050; sleep 0.4; run tor -f /etc/app/torrc
excerpt tor_port "port_in_use LOG_ERROR" "Tor: the port is taken"
stop_sides
printf 'sub { my $e = shift; die "basket is empty\\n" if $e->{PATH_INFO} eq "/boom"; [$e->{PATH_INFO} eq "/" ? 200 : 404, [], ["x"]] }\n' >app.psgi
start starman --listen 127.0.0.1:8080 --workers 1 app.psgi; up 8080; ask / /none /errors; stop
excerpt starman_traffic healthy "Starman: traffic with 404s, stop"
start starman --listen 127.0.0.1:8080 --workers 1 app.psgi; up 8080; ask /boom /
excerpt starman_exception "LOG_ERROR" "Starman: the application dies"
printf 'use Mojolicious::Lite -signatures; get "/" => sub ($c) { $c->render(text => "ok") }; get "/boom" => sub ($c) { die "no price list" }; app->start;\n' >mojo.pl
start perl mojo.pl daemon -l $u; up 8080; ask / /none; stop
excerpt mojolicious_traffic healthy "Mojolicious: a page, one that does not exist, stop"
start perl mojo.pl daemon -l $u; up 8080; ask / /boom
excerpt mojolicious_exception "LOG_ERROR" "Mojolicious: a route dies"
printf 'require Logger\nLogger.info("sync started, errors: 0")\nfor i <- 1..4, do: Logger.info("page #{i} failed=0")\nLogger.warn("retry disabled")\nIO.puts("done")\nProcess.sleep(300)\n' >ok.exs; LIMIT=90 run elixir ok.exs
excerpt elixir_logger healthy "Elixir Logger: failed=0"
printf 'require Logger\nLogger.info("sync started")\nTask.start(fn -> {:ok, _} = :gen_tcp.connect(~c"api", 9000, []) end)\nProcess.sleep(4000)\n' | sed "s/~c\"api\"/'api'/" >bad.exs; LIMIT=90 run elixir bad.exs
excerpt elixir_refused "NETWORK_ERROR net:refused LOG_ERROR" "Elixir: a task's peer does not listen"
printf 'raise ArgumentError, "discount above 100"\n' >r.exs; LIMIT=90 run elixir r.exs
excerpt elixir_raise "LOG_ERROR" "Elixir: ArgumentError"
certificate vpn; cat /srv/vpn.crt /srv/vpn.key >/srv/h.pem; start hitch --frontend='[127.0.0.1]:8443' --backend='[127.0.0.4]:9000' --user=nobody /srv/h.pem; up 8443; sleep 0.5; stop
excerpt hitch_start_stop healthy "Hitch: start, a probe, stop"
run hitch --frontend='[127.0.0.1]:8443' --backend='[127.0.0.4]:9000' --user=nobody /srv/none.pem
excerpt hitch_certificate_missing "missing_dependency LOG_ERROR" "Hitch: the certificate is not there"
mkdir -p /srv/rad; cp -r /etc/freeradius/3.0 /srv/rad/ 2>/dev/null; start freeradius -f -l stdout -d /etc/freeradius/3.0; sleep 3; stop
excerpt freeradius_start_stop healthy "FreeRADIUS: start and stop" tail 50
