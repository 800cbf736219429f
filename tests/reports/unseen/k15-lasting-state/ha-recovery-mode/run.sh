# image bb:1 = a busybox tree
# Home Assistant gave up its configuration and runs in recovery mode; its port answers and the check is content
docker run -d --name homeassistant --health-interval 2s --health-timeout 3s --health-retries 3 --health-cmd 'wget -q -O /dev/null http://127.0.0.1:8123/' bb:1 sh -c '
mkdir -p /w; echo ok > /w/index.html
echo "2024-07-07 03:18:20.924 ERROR (MainThread) [homeassistant.auth.providers] Unable to load auth provider legacy_api_password: No module named '"'"'homeassistant.auth.providers.legacy_api_password'"'"'"
echo "2024-07-07 03:18:20.925 ERROR (MainThread) [homeassistant.bootstrap] Home Assistant core failed to initialize. Further initialization aborted"
echo "2024-07-07 03:18:20.925 WARNING (MainThread) [homeassistant.bootstrap] Unable to set up core integrations. Activating recovery mode"
httpd -f -p 8123 -h /w &
i=0
while :; do
  i=$((i+1))
  echo "2024-07-07 03:18:$((21+i%38)).118 INFO (MainThread) [homeassistant.components.http.view] Serving /api/states to 192.168.7.20 (auth: True)"
  sleep 1
done'
sleep 20
bcon-exporter diagnose homeassistant
