# image bb:1 = a busybox tree
# the server works; the probe asks for a path that it does not have (any more)
docker run -d --name dash --health-interval 1s --health-timeout 3s --health-retries 2 --health-cmd 'wget -q -O /dev/null http://127.0.0.1:3000/health || exit 1' bb:1 sh -c 'mkdir -p /w/api; echo up > /w/api/health; echo dash > /w/index.html; echo "dashboard ready on http://0.0.0.0:3000"; exec httpd -f -p 3000 -h /w'
sleep 8
bcon-exporter diagnose dash
