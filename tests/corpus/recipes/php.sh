# PHP: command line and FPM
# apt: php-cli php-fpm php-pgsql php-mysql
php_() { { echo '<?php'; cat; } >/srv/app/index.php; run php -d display_errors=stderr -d log_errors=0 -d error_log= -d html_errors=0 ${OPTS:-} index.php; }
names
php_ <<'E2'
echo "connecting\n";
new PDO('mysql:host=db;dbname=shop', 'app', 'example');
E2
excerpt pdo_refused "NETWORK_ERROR net:refused LOG_ERROR" "the database does not listen"
php_ <<'E2'
echo file_get_contents('http://inventory.internal/items');
throw new RuntimeException('no items');
E2
excerpt unknown_host "NETWORK_ERROR net:dns LOG_ERROR" "a name that does not exist"
php_ <<'E2'
require 'vendor/autoload.php';
E2
excerpt autoload_missing "missing_dependency LOG_ERROR" "the packages were not installed"
php_ <<'E2'
$redis = new Redis();
E2
excerpt extension_missing "missing_dependency LOG_ERROR" "an extension that is not installed"
OPTS='-d memory_limit=8M' php_ <<'E2'
$rows = []; while (true) $rows[] = str_repeat('x', 10000);
E2
excerpt memory_limit "LOG_ERROR mem:php_limit" "PHP's own memory limit"
php_ <<'E2'
$order = null; echo $order->total();
E2
excerpt null_call "LOG_ERROR" "a defect: a method of null"
cat >/etc/app/fpm.conf <<'E2'
[global]
daemonize = no
error_log = /proc/self/fd/2
[www]
user = www-data
group = www-data
listen = 127.0.0.1:9000
pm = static
pm.max_children = 2
request_terminate_timeout = 1s
catch_workers_output = yes
E2
fpm=$(ls /usr/sbin/php-fpm* | head -1)
start $fpm -F -O -y /etc/app/fpm.conf; up 9000; sleep 0.5; kill -USR2 "${started[0]}"; sleep 1; stop QUIT
excerpt fpm_start_reload_stop healthy "FPM: start, reload, stop"
side silent_server 9000; sleep 0.4; run $fpm -F -O -y /etc/app/fpm.conf
excerpt fpm_port "port_in_use LOG_ERROR" "FPM: the port is taken"
stop_sides
sed -i 's/pm = static/pm = statik/' /etc/app/fpm.conf; run $fpm -F -O -y /etc/app/fpm.conf
excerpt fpm_bad_config "config_error LOG_ERROR" "FPM: a value that the setting does not know"
echo 'display_errors = stderr' >/dev/null; echo '<?php echo "hi";' >index.php; start php -S 127.0.0.1:8080 index.php; up 8080; for p in / /x.png /; do quiet curl -s http://127.0.0.1:8080$p; done
excerpt server_traffic healthy "the development server with traffic"
