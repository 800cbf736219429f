# image bb:1 = a busybox tree
# the shell itself says which variable is missing and ends; two restarts are allowed and used up
docker run -d --name billing --restart on-failure:2 bb:1 sh -c ': "${STRIPE_API_KEY:?is not set}"; exec sleep 600'
sleep 9
bcon-exporter diagnose billing
