# image bb:1 = a busybox tree
# the probe names a program that the image does not have; the server answers
d=$(mktemp -d)
cat > "$d/docker-compose.yml" <<'E'
services:
  api:
    image: bb:1
    pull_policy: never
    container_name: shelf-api
    command: ["sh", "-c", "mkdir -p /w; echo ok > /w/health; echo 'api listening on :8080'; exec httpd -f -p 8080 -h /w"]
    healthcheck:
      test: ["CMD", "curl", "-f", "http://localhost:8080/health"]
      interval: 1s
      timeout: 3s
      retries: 2
E
cd "$d"
docker-compose -p shelf up -d
sleep 8
bcon-exporter diagnose shelf-api
