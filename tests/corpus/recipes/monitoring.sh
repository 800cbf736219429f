# Prometheus, node exporter, Alertmanager, Pushgateway, Docker registry
# software: the first word of each name
# apt: prometheus prometheus-node-exporter prometheus-alertmanager prometheus-pushgateway docker-registry
printf 'global:\n  scrape_interval: 1s\nscrape_configs:\n- job_name: self\n  static_configs:\n  - targets: ["127.0.0.1:9090"]\n' >/etc/app/p.yml
prom() { start prometheus --config.file=/etc/app/p.yml --storage.tsdb.path=/srv/tsdb --web.listen-address=127.0.0.1:9090 "$@"; }
cd /srv
prom; said 'ready to receive'; sleep 1.5; kill -HUP "${started[0]}"; sleep 1; stop
excerpt prometheus_start_reload_stop healthy "Prometheus: start, reload, stop" tail 60
printf 'remote_write:\n- url: http://api:9000/write\n' >>/etc/app/p.yml
prom; said 'msg="Failed to send batch' 200; sleep 4
excerpt prometheus_remote_write_refused "NETWORK_ERROR net:refused LOG_ERROR" "Prometheus: the receiver of remote writes does not listen" tail 12
printf 'scrape_configs:\n- job_nam: self\n' >/etc/app/p.yml; run prometheus --config.file=/etc/app/p.yml --storage.tsdb.path=/srv/tsdb
excerpt prometheus_bad_config "config_error LOG_ERROR" "Prometheus: a misspelt field"
run prometheus --config.file=/etc/prometheus/none.yml
excerpt prometheus_config_missing "missing_dependency LOG_ERROR" "Prometheus: the configuration file is not there"
printf 'scrape_configs: []\n' >/etc/app/p.yml; side silent_server 9090; sleep 0.4; prom; sleep 2
excerpt prometheus_port "port_in_use LOG_ERROR" "Prometheus: the port is taken" tail 30
stop_sides
mkdir -p /srv/closed; chmod 755 /srv/closed; start as_user nobody prometheus --config.file=/etc/app/p.yml --storage.tsdb.path=/srv/closed --web.listen-address=127.0.0.1:9090; sleep 2
excerpt prometheus_data_forbidden "permission LOG_ERROR" "Prometheus: the user may not write into the data folder" tail 40
start prometheus-node-exporter --no-collector.systemd --web.listen-address=127.0.0.1:9100; up 9100; quiet curl -s http://127.0.0.1:9100/metrics; stop
excerpt node_exporter_start healthy "node exporter: start, a scrape" tail 60
side silent_server 9100; sleep 0.4; run prometheus-node-exporter --web.listen-address=127.0.0.1:9100
excerpt node_exporter_port "port_in_use LOG_ERROR" "node exporter: the port is taken" tail 20
stop_sides
am() { printf 'route:\n  receiver: web\n  group_wait: 0s\nreceivers:\n- name: web\n  webhook_configs:\n  - url: %s\n' "$1" >/etc/app/am.yml; start prometheus-alertmanager --config.file=/etc/app/am.yml --storage.path=/srv/am --web.listen-address=127.0.0.1:9093 --cluster.listen-address=; up 9093; }
alert() { quiet curl -s -H 'Content-Type: application/json' -d '[{"labels":{"alertname":"DiskError","severity":"critical"}}]' http://127.0.0.1:9093/api/v2/alerts; }
am http://127.0.0.1:9/; sleep 0.5; stop
excerpt alertmanager_start_stop healthy "Alertmanager: start and stop"
am http://api:9000/hook; alert; sleep 5; stop
excerpt alertmanager_hook_refused "NETWORK_ERROR net:refused LOG_ERROR" "Alertmanager: the web hook's server does not listen"
names; am http://hooks.internal/x; alert; sleep 5; stop
excerpt alertmanager_hook_unknown "NETWORK_ERROR net:dns LOG_ERROR" "Alertmanager: the web hook's name does not exist"
printf 'route:\n  receiver: nobody\nreceivers: []\n' >/etc/app/am2.yml; run prometheus-alertmanager --config.file=/etc/app/am2.yml --storage.path=/srv/am --cluster.listen-address=
excerpt alertmanager_bad_config "config_error LOG_ERROR" "Alertmanager: a receiver that is not defined"
start prometheus-pushgateway --web.listen-address=127.0.0.1:9091; up 9091; echo 'errors_total 0' | quiet curl -s --data-binary 'errors_total 0' http://127.0.0.1:9091/metrics/job/x; stop
excerpt pushgateway_start_stop healthy "Pushgateway: start, stop"
printf 'version: 0.1\nlog:\n  level: info\nstorage:\n  filesystem:\n    rootdirectory: /srv/registry\nhttp:\n  addr: 127.0.0.1:5000\n' >/etc/app/reg.yml
start docker-registry serve /etc/app/reg.yml; up 5000; for p in /v2/ /v2/shop/manifests/latest /; do quiet curl -s http://127.0.0.1:5000$p; done; stop
excerpt registry_traffic healthy "Docker registry: start, a tag that does not exist"
printf 'version: 0.1\nstorage:\n  filesystm: {}\n' >/etc/app/reg2.yml; run docker-registry serve /etc/app/reg2.yml
excerpt registry_bad_config "config_error LOG_ERROR" "Docker registry: a storage driver misspelt"
small_disk /srv/registry; fill /srv/registry; start docker-registry serve /etc/app/reg.yml; up 5000; quiet curl -s -X POST http://127.0.0.1:5000/v2/shop/blobs/uploads/; quiet curl -s -X POST http://127.0.0.1:5000/v2/shop/blobs/uploads/
excerpt registry_disk_full "DISK_PRESSURE disk:full LOG_ERROR" "Docker registry: the volume is full" tail 12
