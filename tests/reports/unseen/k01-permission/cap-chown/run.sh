# image bb:1 = a busybox tree; the entrypoint chowns its data directory, the capability for it was dropped
docker run -d --name cache --cap-drop CHOWN -v cachedata:/data bb:1 sh -c 'mkdir -p /data/db; chown 999:999 /data/db || exit 1; exec sleep 600'
sleep 4
bcon-exporter diagnose cache
