# image bb:1 = a busybox tree; celerybeat.pid survives the kill, pid 1 is the new process itself; on-failure:3 is used up
docker run -d --name beat --restart on-failure:3 bb:1 sh -c 'mkdir -p /srv/app; cd /srv/app; P=celerybeat.pid; echo "celery beat v4.4.2 (cliffs) is starting."; if [ -s $P ] && kill -0 $(cat $P) 2>/dev/null; then echo "ERROR: Pidfile ($P) already exists." >&2; printf "Seems we\047re already running? (pid: %s)\n" "$(cat $P)" >&2; exit 73; fi; echo $$ > $P; while :; do sleep 1; done'
sleep 3
docker kill beat
sleep 1
docker start beat
sleep 9
bcon-exporter diagnose beat
