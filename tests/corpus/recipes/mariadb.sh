# MariaDB server and its client
# apt: mariadb-server
data=/var/lib/mysql
rm -rf $data; mkdir -p $data /run/mysqld; chown -R mysql $data /run/mysqld
rm -f /etc/mysql/mariadb.conf.d/50-server.cnf
run mariadb-install-db --user=mysql --datadir=$data --skip-test-db --auth-root-authentication-method=normal
excerpt install_db healthy "initialising a data directory" head 40
my() { start mariadbd --user=mysql --datadir=$data --bind-address=127.0.0.1 --log-warnings=2 --innodb-buffer-pool-size=32M "$@"; }
sql() { quiet mariadb -h 127.0.0.1 -u root -e "$1"; }
my; said 'ready for connections'; sql 'create database shop; create user app identified by "example"; grant all on shop.* to app'; stop
excerpt start_stop healthy "start, a little work, normal shutdown" tail 60
my; said 'ready for connections'; for p in exampel wrong; do quiet mariadb -h 127.0.0.1 -u app -p$p shop -e 'select 1'; done
excerpt wrong_password "auth_failure LOG_ERROR" "an application connects with a wrong password" tail 12
my; said 'ready for connections'; : >/mnt/log; run mariadb -h 127.0.0.1 -u app -pwrong shop -e 'select 1'; grep ^ERROR /mnt/log >/mnt/l2; cp /mnt/l2 /mnt/log
excerpt client_denied "auth_failure LOG_ERROR" "the client's side of a wrong password"
run mariadb -h db -u app -pexample -e 'select 1'
excerpt client_refused "NETWORK_ERROR net:refused LOG_ERROR" "no server listens"
names; run mariadb -h warehouse -u app -pexample -e 'select 1'
excerpt client_unknown_host "NETWORK_ERROR net:dns LOG_ERROR" "the name does not exist"
side silent_server 3306; sleep 0.5; my; sleep 4
excerpt port_taken "port_in_use LOG_ERROR" "another process listens on 3306" tail 25
stop_sides
my --inodb-log-file-size=5M; sleep 2
excerpt unknown_option "config_error LOG_ERROR" "an option misspelt" tail 20
chown -R root $data; chmod 700 $data; my; sleep 3
excerpt data_forbidden "permission LOG_ERROR" "the data directory belongs to another user" tail 20
chown -R mysql $data
my; said 'ready for connections'; for _ in 1 2 3; do timeout 1 bash -c 'exec 3<>/dev/tcp/127.0.0.1/3306; sleep 0.3'; done; sleep 0.5; tail -n 3 /mnt/log >/mnt/l2
excerpt scanner healthy "something connects and leaves without a word (a health check on the port)" tail 15
my; said 'ready for connections'; kill -KILL "${started[0]}"; sleep 1; : >/mnt/log; my; said 'ready for connections'
excerpt recovery_at_start healthy "start after a power cut: crash recovery"
mkdir -p /srv/small; mount -t tmpfs -o size=200m small /srv/small; cp -a $data/. /srv/small/; chown -R mysql /srv/small
start mariadbd --user=mysql --datadir=/srv/small --bind-address=127.0.0.1 --innodb-buffer-pool-size=32M; said 'ready for connections'; : >/mnt/log
dd if=/dev/zero of=/srv/small/ballast bs=1M count=10000 2>/dev/null; sql 'create table shop.big as select seq, repeat("x", 200) t from seq_1_to_200000'; sleep 1
excerpt disk_full "DISK_PRESSURE disk:full LOG_ERROR" "the file system is full while a table is made" tail 30
dd if=/dev/urandom of=$data/ibdata1 bs=1k count=64 seek=4 conv=notrunc 2>/dev/null; my; sleep 5
excerpt corrupt_tablespace "LOG_ERROR data:corrupt" "the system tablespace was overwritten" head 30
