# image bb:1 = busybox
docker run -d --name lamp bb:1 sleep 3600
docker stop -t 0 lamp
bcon-exporter diagnose lamp
