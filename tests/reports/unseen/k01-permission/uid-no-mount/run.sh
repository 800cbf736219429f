# image bb:1 = a busybox tree; no mount at all, the program runs as uid 1000
docker run -d --name reports --user 1000:1000 bb:1 sh -c 'echo "starting"; mkdir /data && mkdir /data/cache || exit 1; exec sleep 600'
sleep 4
bcon-exporter diagnose reports
