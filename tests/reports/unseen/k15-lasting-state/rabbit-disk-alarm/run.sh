# image bb:1 = a busybox tree
# an alarm that RabbitMQ says once: publishers stay blocked, consumers and the port go on
docker run -d --name rabbit bb:1 sh -c '
echo "2024-11-29 01:45:07.302117+00:00 [info] <0.447.0> Memory high watermark set to 1579 MiB (1656135680 bytes) of 3948 MiB (4140339200 bytes) total"
echo "2024-11-29 01:45:07.320518+00:00 [info] <0.449.0> Enabling free disk space monitoring (disk free space: 47620096, total memory: 4140339200)"
echo "2024-11-29 01:45:07.320602+00:00 [info] <0.449.0> Disk free limit set to 50MB"
echo "2024-11-29 01:45:07.322009+00:00 [info] <0.449.0> Free disk space is insufficient. Free bytes: 47620096. Limit: 50000000"
echo "2024-11-29 01:45:07.322314+00:00 [warning] <0.445.0> disk resource limit alarm set on node rabbit@b8321f1a78a6."
echo "2024-11-29 01:45:07.322314+00:00 [warning] <0.445.0> "
echo "2024-11-29 01:45:07.322314+00:00 [warning] <0.445.0> **********************************************************"
echo "2024-11-29 01:45:07.322314+00:00 [warning] <0.445.0> *** Publishers will be blocked until this alarm clears ***"
echo "2024-11-29 01:45:07.322314+00:00 [warning] <0.445.0> **********************************************************"
echo "2024-11-29 01:45:08.410977+00:00 [info] <0.9.0> Server startup complete; 4 plugins started."
i=0
while :; do
  i=$((i+1))
  echo "2024-11-29 01:46:$((10+i%49)).100417+00:00 [info] <0.$((600+i)).0> accepting AMQP connection <0.$((600+i)).0> (172.20.0.8:$((40000+i)) -> 172.20.0.3:5672)"
  echo "2024-11-29 01:46:$((10+i%49)).104302+00:00 [info] <0.$((600+i)).0> connection <0.$((600+i)).0> (172.20.0.8:$((40000+i)) -> 172.20.0.3:5672): user '"'guest'"' authenticated and granted access to vhost '"'/'"'"
  sleep 1
done'
sleep 20
bcon-exporter diagnose rabbit
