# image bb:1 = a busybox tree
# the limit is real (64 open files), the words are nginx's
docker run -d --name edge --ulimit nofile=64:64 bb:1 sh -c '
echo "/docker-entrypoint.sh: Configuration complete; ready for start up"
echo "2024/05/14 08:02:11 [warn] 1#1: 1024 worker_connections exceed open file resource limit: $(ulimit -n)"
echo "2024/05/14 08:02:11 [notice] 1#1: using the \"epoll\" event method"
echo "2024/05/14 08:02:11 [notice] 1#1: nginx/1.25.5"
echo "2024/05/14 08:02:11 [notice] 1#1: start worker processes"
sleep 1
i=0
while :; do
  i=$((i+1))
  echo "2024/05/14 08:05:1$((i%10)) [alert] 22#22: *$((4700+i)) socket() failed (24: Too many open files) while connecting to upstream, client: 10.0.0.$i, server: shop.example.net, request: \"GET /cart HTTP/1.1\", upstream: \"http://172.20.0.5:3000/cart\", host: \"shop.example.net\""
  sleep 1
done'
sleep 8
bcon-exporter diagnose edge
