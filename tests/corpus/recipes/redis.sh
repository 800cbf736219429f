# Redis server and command line
# apt: redis-server
ready='Ready to accept'
cli() { quiet redis-cli -h 127.0.0.1 "$@"; }
mkdir -p /srv/redis; cd /srv/redis
start redis-server --save 1 1 --port 6379; said "$ready"; for i in 1 2 3; do cli set error:$i x; done; sleep 3; cli get nothing; stop
excerpt start_save_stop healthy "start, snapshots, clean shutdown" tail 40
start redis-server --port 6380; up 6380; : >/mnt/side.log; start redis-server --replicaof 127.0.0.1 6380 --port 6379; said 'Finished with success'; sleep 0.5
excerpt replication healthy "a replica starts and synchronises" tail 45
side redis-server --port 6380; up 6380; start redis-server --replicaof 127.0.0.1 6380 --port 6379; said 'Finished with success'; : >/mnt/log; stop_sides; sleep 3
excerpt master_lost "NETWORK_ERROR net:refused LOG_ERROR" "the replica's master is gone and stays away" tail 25
side redis-server --port 6380; up 6380; start redis-server --replicaof 127.0.0.1 6380 --port 6379; said 'Finished with success'; : >/mnt/log; stop_sides; sleep 2.5; side redis-server --port 6380; said 'accepted a Partial|Finished with success'; sleep 0.5
excerpt master_back healthy "the master went away for three seconds, the replica synchronised again" tail 45
stop_sides
side silent_server 6379; sleep 0.4; start redis-server; sleep 1
excerpt port_taken "port_in_use LOG_ERROR" "another process listens on 6379"
stop_sides
echo 'appendfsync sometimes' >r.conf; run redis-server r.conf
excerpt bad_value "config_error LOG_ERROR" "a value that the setting does not know"
run redis-server /etc/redis/none.conf
excerpt config_missing "missing_dependency LOG_ERROR" "the configuration file is not there"
mkdir -p d && chmod 755 d; cd d; start as_user nobody redis-server --save 1 1; said "$ready"; cli set a 1; sleep 3
excerpt save_forbidden "permission LOG_ERROR" "the user may not write into the data directory" tail 12
cd ..; small_disk /srv/small; cd /srv/small; start redis-server --save 1 1; said "$ready"; cli set a 1; fill /srv/small; quiet redis-cli debug populate 60000; cli set b 2; sleep 3
excerpt save_disk_full "DISK_PRESSURE disk:full LOG_ERROR" "no space for the snapshot" tail 12
cd /srv/redis; echo 'REDIS0010garbage and more garbage' >dump.rdb; start redis-server; sleep 1
excerpt corrupt_dump "LOG_ERROR data:corrupt" "the snapshot is no snapshot" tail 10
rm dump.rdb; start redis-server --requirepass example; said "$ready"; : >/mnt/log; run redis-cli -a wrong ping; run redis-cli get x
excerpt client_wrong_password "auth_failure LOG_ERROR" "the command line with a wrong password and with none"
run redis-cli -h cache ping
excerpt client_refused "NETWORK_ERROR net:refused LOG_ERROR" "no server listens"
start redis-server --maxmemory 3mb --enable-debug-command yes; said "$ready"; : >/mnt/log; quiet redis-cli debug populate 60000; for i in 1 2; do run redis-cli set k$i v; done
excerpt maxmemory "LOG_ERROR mem:refused" "writes refused since maxmemory is reached"
start redis-server --enable-debug-command yes; said "$ready"; quiet redis-cli debug segfault; sleep 1
excerpt segfault "LOG_ERROR crash" "a segmentation fault" from:crashed.by 40
start redis-server --maxclients 2; said "$ready"; for _ in 1 2 3 4; do quiet redis-cli ping; done; cli config rewrite; cli bgsave; sleep 1.2
excerpt warnings healthy "start-up warnings about kernel settings, a background save" 
cd /srv/app
