# image bb:1 = a busybox tree; two containers on one volume, the first really runs (the lock is a directory, made by mkdir)
docker run -d --name btc-a -v chaindata:/home/bitcoin/.bitcoin bb:1 sh -c 'D=/home/bitcoin/.bitcoin; mkdir $D/.lock; echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) Bitcoin Core version v0.21.1 (release build)"; echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) Using data directory $D"; while :; do sleep 1; done'
sleep 3
docker run -d --name btc-b -v chaindata:/home/bitcoin/.bitcoin bb:1 sh -c 'D=/home/bitcoin/.bitcoin; echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) Bitcoin Core version v0.21.1 (release build)"; if mkdir $D/.lock 2>/dev/null; then exec sleep 600; fi; echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) Error: Cannot obtain a lock on data directory $D. Bitcoin Core is probably already running."; echo "Error: Cannot obtain a lock on data directory $D. Bitcoin Core is probably already running." >&2; echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) Shutdown: In progress..."; echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) Shutdown: done"; exit 1'
sleep 4
bcon-exporter diagnose btc-b
