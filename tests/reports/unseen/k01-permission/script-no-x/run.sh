# image bb:1 = a busybox tree; the start script on the volume lacks the execute bit
docker run --rm -v wrksrc:/app bb:1 sh -c 'printf "#!/bin/sh\necho ready\nexec sleep 600\n" > /app/start.sh; chmod 644 /app/start.sh; chmod 755 /app'
docker run -d --name worker -v wrksrc:/app bb:1 sh -c '/app/start.sh'
sleep 4
bcon-exporter diagnose worker
