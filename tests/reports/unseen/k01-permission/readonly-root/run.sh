# image bb:1 = a busybox tree; the root file system is read-only, nginx wants its cache directory
docker run -d --name edge --read-only bb:1 sh -c 'echo "/docker-entrypoint.sh: Configuration complete; ready for start up"; if mkdir -p /var/cache/nginx/client_temp 2>/dev/null; then exec sleep 600; fi; echo "$(date "+%Y/%m/%d %H:%M:%S") [emerg] 1#1: mkdir() \"/var/cache/nginx/client_temp\" failed (30: Read-only file system)"; echo "nginx: [emerg] mkdir() \"/var/cache/nginx/client_temp\" failed (30: Read-only file system)" >&2; exit 1'
sleep 4
bcon-exporter diagnose edge
