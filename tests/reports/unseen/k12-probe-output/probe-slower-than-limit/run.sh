# image bb:1 = a busybox tree
# a probe that needs three seconds and may take one
docker run -d --name ddns --health-interval 1s --health-timeout 1s --health-retries 2 --health-cmd 'sleep 3; wget -q -O /dev/null http://127.0.0.1:8000/' bb:1 sh -c 'mkdir -p /w; echo ok > /w/index.html; echo "INFO listening on :8000"; exec httpd -f -p 8000 -h /w'
sleep 12
bcon-exporter diagnose ddns
