# image bb:1 = a busybox tree; the volume was made by uid 999 with mode 700, the new container runs as 1001
docker run --rm -v brokerdata:/data bb:1 sh -c 'chown 999:999 /data; chmod 700 /data'
docker run -d --name broker --user 1001:1001 -v brokerdata:/data bb:1 sh -c 'echo "starting broker"; mkdir /data/store || exit 1; exec sleep 600'
sleep 6
bcon-exporter diagnose broker
