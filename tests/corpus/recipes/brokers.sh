# RabbitMQ, Mosquitto, NATS, etcd, Memcached, beanstalkd
# software: the first word of each name
# apt: mosquitto mosquitto-clients nats-server etcd-server memcached beanstalkd
printf 'listener 1883 127.0.0.1\nallow_anonymous true\nlog_dest stderr\nlog_type all\n' >/etc/app/m.conf
start mosquitto -c /etc/app/m.conf; up 1883; quiet mosquitto_pub -h 127.0.0.1 -t shop/errors -m '0 errors'; timeout 1 bash -c 'exec 3<>/dev/tcp/127.0.0.1/1883; sleep 0.3'; stop
excerpt mosquitto_traffic healthy "Mosquitto: a message, a client that leaves without a word, stop"
side silent_server 1883; sleep 0.4; run mosquitto -c /etc/app/m.conf
excerpt mosquitto_port "port_in_use LOG_ERROR" "Mosquitto: the port is taken"
stop_sides
printf 'listner 1883\n' >/etc/app/m2.conf; run mosquitto -c /etc/app/m2.conf
excerpt mosquitto_bad_config "config_error LOG_ERROR" "Mosquitto: a misspelt option"
mosquitto_passwd -b -c /etc/app/mp app example 2>/dev/null; chmod 644 /etc/app/mp; printf 'listener 1883 127.0.0.1\nallow_anonymous false\npassword_file /etc/app/mp\nlog_dest stderr\n' >/etc/app/m3.conf
start mosquitto -c /etc/app/m3.conf; up 1883; for p in wrong exampel; do quiet mosquitto_pub -h 127.0.0.1 -u app -P $p -t x -m y; done
excerpt mosquitto_wrong_password "auth_failure LOG_ERROR" "Mosquitto: a service connects with a wrong password"
run mosquitto_pub -h queue -t x -m y
excerpt mosquitto_pub_refused "NETWORK_ERROR net:refused LOG_ERROR" "mosquitto_pub: the broker does not listen"
start nats-server -a 127.0.0.1; up 4222; timeout 1 bash -c 'exec 3<>/dev/tcp/127.0.0.1/4222; echo PING >&3; sleep 0.3'; stop
excerpt nats_start_stop healthy "NATS: start, a client, stop"
side silent_server 4222; sleep 0.4; run nats-server -a 127.0.0.1
excerpt nats_port "port_in_use LOG_ERROR" "NATS: the port is taken"
stop_sides
printf 'port: many\n' >/etc/app/n.conf; run nats-server -c /etc/app/n.conf
excerpt nats_bad_config "config_error LOG_ERROR" "NATS: a port that is no number"
start nats-server -a 127.0.0.1 --user app --pass example; up 4222; for p in wrong exampel; do timeout 1 bash -c "exec 3<>/dev/tcp/127.0.0.1/4222; echo 'CONNECT {\"user\":\"app\",\"pass\":\"$p\",\"verbose\":false,\"lang\":\"sh\",\"version\":\"1\"}' >&3; sleep 0.3"; done
excerpt nats_wrong_password "auth_failure LOG_ERROR" "NATS: a service connects with a wrong password" tail 8
cd /srv; start etcd --data-dir /srv/etcd; up 2379; sleep 1; quiet etcdctl put error none; stop
excerpt etcd_start_stop healthy "etcd: a single member starts and stops" tail 60
side silent_server 2380; sleep 0.4; run etcd --data-dir /srv/etcd2
excerpt etcd_port "port_in_use LOG_ERROR" "etcd: the peer port is taken" tail 15
stop_sides
start etcd --data-dir /srv/etcd3 --name a --initial-cluster a=http://127.0.0.1:2380,b=http://db:2380 --initial-advertise-peer-urls http://127.0.0.1:2380; sleep 9
excerpt etcd_peer_gone "NETWORK_ERROR net:refused LOG_ERROR" "etcd: the other member does not listen" tail 45
start memcached -u nobody -vv; up 11211; timeout 1 bash -c 'exec 3<>/dev/tcp/127.0.0.1/11211; printf "set error 0 0 2\r\nok\r\nget error\r\nget nothing\r\nfoo\r\nquit\r\n" >&3; sleep 0.3'; stop
excerpt memcached_traffic healthy "Memcached: a few commands, one of them unknown" tail 30
side silent_server 11211; sleep 0.4; run memcached -u nobody -l 127.0.0.1
excerpt memcached_port "port_in_use LOG_ERROR" "Memcached: the port is taken"
run memcached
excerpt memcached_root "permission LOG_ERROR" "Memcached: started as root without -u"
stop_sides
start beanstalkd -V -l 127.0.0.1; up 11300; timeout 1 bash -c 'exec 3<>/dev/tcp/127.0.0.1/11300; printf "put 0 0 60 5\r\nhello\r\nquit\r\n" >&3; sleep 0.3'; stop
excerpt beanstalkd_job healthy "beanstalkd: a job"
side silent_server 11300; sleep 0.4; run beanstalkd -l 127.0.0.1
excerpt beanstalkd_port "port_in_use LOG_ERROR" "beanstalkd: the port is taken"
