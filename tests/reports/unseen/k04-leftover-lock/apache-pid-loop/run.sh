# image bb:1 = a busybox tree; the pid file survives docker restart, pid 1 is the new process itself, httpd ends with 0, restart: always
docker run -d --name web --restart always bb:1 sh -c 'P=/run/apache2.pid; mkdir -p /run; printf "AH00558: apache2: Could not reliably determine the server\047s fully qualified domain name, using 172.17.0.2. Set the \047ServerName\047 directive globally to suppress this message\n"; if [ -s $P ] && kill -0 $(cat $P) 2>/dev/null; then echo "httpd (pid $(cat $P)) already running"; exit 0; fi; echo $$ > $P; while :; do sleep 1; done'
sleep 3
docker restart -t 1 web
sleep 12
bcon-exporter diagnose web
