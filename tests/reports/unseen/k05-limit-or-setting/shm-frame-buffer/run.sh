# image bb:1 = a busybox tree
# a real ENOSPC in /dev/shm; the program goes on
docker run -d --name grabber --shm-size 2m bb:1 sh -c '
echo "grabber 2.4.1 starting, 4 cameras"
dd if=/dev/zero of=/dev/shm/frames-front bs=64k count=24
dd if=/dev/zero of=/dev/shm/frames-yard bs=64k count=24
echo "camera yard: no frame buffer, recording without it"
while :; do sleep 1; done'
sleep 6
bcon-exporter diagnose grabber
