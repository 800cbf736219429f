# image bb:1 = a busybox tree
# tmpfs of 64 KiB, really full; the words are tor's
docker run -d --name onion --read-only --tmpfs /var/lib/tor:size=64k bb:1 sh -c '
echo "Feb 08 10:11:02.000 [notice] Tor 0.4.6.9 running on Linux with Libevent 2.1.12-stable, OpenSSL 1.1.1l, Zlib 1.2.11, Liblzma N/A, Libzstd N/A and Unknown N/A as libc."
echo "Feb 08 10:11:04.000 [notice] Bootstrapped 0% (starting): Starting"
dd if=/dev/zero of=/var/lib/tor/cached-microdescs.new bs=4k count=64 2>/dev/null ||
  echo "Feb 08 10:11:09.000 [warn] Couldn'"'"'t dump microdescriptor (wrote 0 out of 3532): No space left on device"
echo x > /var/lib/tor/state 2>/dev/null ||
  { echo "Feb 08 10:11:09.000 [warn] Error writing to \"/var/lib/tor/state\": No space left on device"
    echo "Feb 08 10:11:09.000 [warn] Unable to write state to file \"/var/lib/tor/state\"; will try again later"; }
while :; do sleep 1; done'
sleep 6
bcon-exporter diagnose onion
