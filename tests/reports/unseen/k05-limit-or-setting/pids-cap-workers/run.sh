# image bb:1 = a busybox tree
# a real refusal: the inner shell cannot fork more workers at its limit of 20 processes; the outer one goes on
docker run -d --name queue-workers --pids-limit 20 bb:1 sh -c '
echo "starting 30 workers"
sh -c "i=0; while [ \$i -lt 30 ]; do sleep 600 & i=\$((i+1)); done; echo \"all \$i workers started\"; wait"
echo "worker pool incomplete (exit $?), serving with what there is"
exec sleep 600'
sleep 6
bcon-exporter diagnose queue-workers
