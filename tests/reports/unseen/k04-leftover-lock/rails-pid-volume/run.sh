# image bb:1 = a busybox tree; tmp/ is on a volume, so the pid file even survives a new container
W='P=/app/tmp/pids/server.pid; mkdir -p /app/tmp/pids; echo "=> Booting Puma"; echo "=> Rails 7.1.2 application starting in production "; printf "=> Run \140bin/rails server --help\140 for more startup options\n"; if [ -s $P ] && kill -0 $(cat $P) 2>/dev/null; then echo "A server is already running (pid: $(cat $P), file: $P)."; echo "Exiting"; exit 1; fi; echo $$ > $P; echo "* Listening on http://0.0.0.0:3000"; while :; do sleep 1; done'
docker run -d --name shop -v shoptmp:/app/tmp bb:1 sh -c "$W"
sleep 3
docker rm -f shop
docker run -d --name shop -v shoptmp:/app/tmp bb:1 sh -c "$W"
sleep 4
bcon-exporter diagnose shop
