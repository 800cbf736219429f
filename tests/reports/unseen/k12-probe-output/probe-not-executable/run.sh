# image bb:1 = a busybox tree
# "Permission denied" is that of the probe's script (mode 644); no mount, no owner
docker run -d --name tubes --health-interval 1s --health-timeout 3s --health-retries 2 --health-cmd /app/healthcheck.sh bb:1 sh -c '
mkdir -p /app /w
printf "#!/bin/sh\nexec wget -q -O /dev/null http://127.0.0.1:4848/\n" > /app/healthcheck.sh
chmod 644 /app/healthcheck.sh
echo ok > /w/index.html
echo "[INFO] Listening at: http://0.0.0.0:4848"
exec httpd -f -p 4848 -h /w'
sleep 8
bcon-exporter diagnose tubes
