# image bb:1 = a busybox tree; /tmp is a tmpfs with noexec, and the program runs a helper from there
docker run -d --name indexer --tmpfs /tmp:rw,noexec,nosuid,size=16m bb:1 sh -c 'echo "unpacking helper"; printf "#!/bin/sh\necho helper up\n" > /tmp/helper; chmod 755 /tmp/helper; /tmp/helper'
sleep 4
bcon-exporter diagnose indexer
