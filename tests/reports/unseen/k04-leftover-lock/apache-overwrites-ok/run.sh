# image bb:1 = a busybox tree; Apache overwrites the pid file that an unclean stop left, and serves
docker run -d --name intra --health-interval 1s --health-retries 2 --health-cmd 'wget -q -O /dev/null http://127.0.0.1:8080/' bb:1 sh -c 'P=/run/apache2.pid; mkdir -p /run /w; T=$(date "+%a %b %d %H:%M:%S.114022 %Y"); if [ -s $P ]; then echo "[$T] [core:warn] [pid 1] AH00098: pid file $P overwritten -- Unclean shutdown of previous Apache run?"; fi; echo $$ > $P; echo "[$T] [mpm_prefork:notice] [pid 1] AH00163: Apache/2.4.57 (Debian) PHP/8.2.16 configured -- resuming normal operations"; printf "[%s] [core:notice] [pid 1] AH00094: Command line: \047apache2 -D FOREGROUND\047\n" "$T"; echo ok > /w/index.html; exec httpd -f -p 8080 -h /w'
sleep 3
docker restart -t 1 intra
sleep 7
bcon-exporter diagnose intra
