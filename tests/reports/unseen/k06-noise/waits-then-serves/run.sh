# image bb:1 = a busybox tree
# an entrypoint that waits for its cache, a health check that fails while it starts: both are the normal way up
docker run -d --name portal --health-interval 1s --health-timeout 2s --health-retries 2 --health-start-period 25s --health-cmd 'wget -q -O /dev/null http://127.0.0.1:8080/' bb:1 sh -c '
mkdir -p /c /w; echo ok > /c/index.html; echo ok > /w/index.html
( sleep 4; exec httpd -f -p 127.0.0.1:6379 -h /c ) &
until wget -q -O /dev/null http://127.0.0.1:6379/; do
  echo "cache is unavailable - sleeping"
  sleep 1
done
echo "cache is up - executing command"
sleep 2
echo "portal listening on :8080"
exec httpd -f -p 8080 -h /w'
sleep 16
bcon-exporter diagnose portal
