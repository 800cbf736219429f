# image bb:1 = a busybox tree; supervisord finds its stale socket, removes it itself and runs well
docker run -d --name panel --health-interval 1s --health-retries 2 --health-cmd 'wget -q -O /dev/null http://127.0.0.1:8080/' bb:1 sh -c 'S=/run/supervisor.sock; mkdir -p /run /w; if [ -e $S ]; then echo "Unlinking stale socket $S"; rm -f $S; fi; : > $S; T=$(date "+%Y-%m-%d %H:%M:%S"); echo "$T,112 INFO supervisord started with pid 1"; printf "%s,115 INFO spawned: \047web\047 with pid 8\n" "$T"; echo "$T,118 INFO success: web entered RUNNING state, process has stayed up for > than 1 seconds (startsecs)"; echo ok > /w/index.html; exec httpd -f -p 8080 -h /w'
sleep 4
docker restart -t 1 panel
sleep 7
bcon-exporter diagnose panel
