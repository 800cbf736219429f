# image bb:1 = a busybox tree; after a restart the X server refuses because of its lock, and the container goes on without a display
docker run -d --name jdown bb:1 sh -c 'L=/tmp/.X1-lock; mkdir -p /tmp; if [ -e $L ]; then printf "(EE) \nFatal server error:\n(EE) Server is already active for display 1\n\tIf this server is no longer running, remove /tmp/.X1-lock\n\tand start again.\n(EE) \n" >&2; echo "Openbox-Message: Failed to open the display from the DISPLAY environment variable."; else printf "%10d\n" $$ > $L; fi; while :; do sleep 1; done'
sleep 3
docker restart -t 1 jdown
sleep 5
bcon-exporter diagnose jdown
