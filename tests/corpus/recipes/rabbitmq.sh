# RabbitMQ broker
# apt: rabbitmq-server
# pip: pika
export RABBITMQ_NODENAME=rabbit@localhost HOME=/var/lib/rabbitmq RABBITMQ_PID_FILE=/run/r.pid ERL_EPMD_ADDRESS=127.0.0.1
rm -rf /var/lib/rabbitmq/*; mkdir -p /var/lib/rabbitmq /var/log/rabbitmq /etc/rabbitmq; chown rabbitmq /var/lib/rabbitmq /var/log/rabbitmq
printf 'log.console = true\nlog.console.level = info\nlog.file = false\nlisteners.tcp.1 = 127.0.0.1:5672\nloopback_users = none\n' >/etc/rabbitmq/rabbitmq.conf
rabbit() { start as_user rabbitmq /usr/lib/rabbitmq/bin/rabbitmq-server; said 'Server startup complete|BOOT FAILED|eaddrinuse|init terminating|Failed to start Ranch|listen_error|failed_to_prepare_configuration|BOOT FAILED' 500; }
client() { python - "$@" >/dev/null 2>&1 <<'END'
import pika, sys
c = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", credentials=pika.PlainCredentials("guest", sys.argv[1])))
ch = c.channel()
ch.queue_declare("errors")
ch.basic_publish("", "errors", b"x")
if len(sys.argv) > 2: ch.basic_publish(sys.argv[2], "errors", b"x"); ch.queue_declare("y")
c.close()
END
}
rabbit; client guest; sleep 0.5; stop; sleep 2
excerpt start_stop healthy "start, a message, stop" tail 60
rabbit; : >/mnt/log; for p in wrong exampel; do client $p; done; sleep 1
excerpt wrong_password "auth_failure LOG_ERROR" "a service connects with a wrong password"
rabbit; : >/mnt/log; client guest no-such-exchange; sleep 1
excerpt no_exchange "LOG_ERROR" "a program publishes to an exchange that does not exist"
side silent_server 5672; rabbit; sleep 1
excerpt port_taken "port_in_use LOG_ERROR" "the port is taken" tail 60
stop_sides
echo 'vm_memory_high_watermrk.relative = 0.4' >>/etc/rabbitmq/rabbitmq.conf; rabbit; sleep 2
excerpt unknown_setting "config_error LOG_ERROR" "a setting misspelt" from:error 40
sed -i '$d' /etc/rabbitmq/rabbitmq.conf; echo 'disk_free_limit.absolute = 900GB' >>/etc/rabbitmq/rabbitmq.conf; rabbit; sleep 4
excerpt disk_alarm "DISK_PRESSURE disk:watermark LOG_ERROR" "less space is free than the limit asks for" from:ree.disk.space 25
