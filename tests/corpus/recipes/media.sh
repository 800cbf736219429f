# What moves and plays files: Transmission, aria2, H2O, MPD, mini_httpd
# software: the first word of each name
# apt: transmission-daemon aria2 h2o mpd mini-httpd
u=http://127.0.0.1:8080
mkdir -p /srv/tr /srv/dl; start transmission-daemon -f -g /srv/tr -w /srv/dl -p 9091 --log-info --no-portmap; up 9091; sleep 1; stop
excerpt transmission_start_stop healthy "Transmission: start and stop"
echo hello >/srv/app/f; side python3 -m http.server 8080 --bind 127.0.0.1 -d /srv/app; up 8080
run aria2c -d /srv/dl --allow-overwrite=true $u/f; excerpt aria2_download healthy "aria2: a download"
run aria2c -d /srv/dl --max-tries=2 --retry-wait=1 http://127.0.0.1:8081/f; excerpt aria2_refused "NETWORK_ERROR LOG_ERROR net:refused" "aria2: nobody listens"
names 127.0.0.4=api; run aria2c -d /srv/dl --max-tries=1 --async-dns=false http://none.example/f; excerpt aria2_no_name "NETWORK_ERROR LOG_ERROR net:dns" "aria2: the name does not exist"
small_disk /srv/small; fill /srv/small; dd if=/dev/zero of=/srv/app/big bs=1M count=3 2>/dev/null; run aria2c -d /srv/small --file-allocation=none $u/big; excerpt aria2_disk_full "DISK_PRESSURE LOG_ERROR disk:full" "aria2: the disk is full"
stop_sides
printf 'listen:\n  host: 127.0.0.1\n  port: 8080\nhosts:\n  default:\n    paths:\n      /:\n        file.dir: /srv/app\naccess-log: /dev/stdout\nerror-log: /dev/stderr\n' >/etc/app/h2o.conf; start h2o -c /etc/app/h2o.conf; up 8080; for p in f none error.html; do quiet curl -s $u/$p; done; stop
excerpt h2o_traffic healthy "H2O: start, a page, two that do not exist, stop"
sed -i 's/file.dir/file.dirr/' /etc/app/h2o.conf; run h2o -c /etc/app/h2o.conf; excerpt h2o_bad_option "config_error LOG_ERROR" "H2O: an option misspelt"
mkdir -p /srv/music; printf 'music_directory "/srv/music"\ndb_file "/srv/mpd.db"\nbind_to_address "127.0.0.1"\nport "6600"\naudio_output {\n type "null"\n name "none"\n}\n' >/etc/app/mpd.conf; start mpd --no-daemon --stderr /etc/app/mpd.conf; up 6600; sleep 1; stop
excerpt mpd_start_stop healthy "MPD: start and stop"
side silent_server 6600; sleep 0.4; run mpd --no-daemon --stderr /etc/app/mpd.conf; excerpt mpd_port "port_in_use LOG_ERROR" "MPD: the port is taken"
stop_sides; chmod 000 /srv/music; mkdir -p /srv/locked; chmod 755 /srv/locked; sed -i 's#/srv/mpd.db#/srv/locked/mpd.db#' /etc/app/mpd.conf; chmod 644 /etc/app/mpd.conf; LIMIT=5 run as_user nobody mpd --no-daemon --stderr /etc/app/mpd.conf; excerpt mpd_locked_folder "permission LOG_ERROR" "MPD: its user may neither read the music nor write its database"
sed -i 's/^port/prot/' /etc/app/mpd.conf; run mpd --no-daemon --stderr /etc/app/mpd.conf; excerpt mpd_bad_option "config_error LOG_ERROR" "MPD: an option misspelt"
side silent_server 8082; sleep 0.4; run mini_httpd -D -p 8082 -h 127.0.0.1 -d /srv/app; excerpt minihttpd_port "port_in_use LOG_ERROR" "mini_httpd: the port is taken"
stop_sides
