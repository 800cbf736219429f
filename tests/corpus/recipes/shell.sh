# Shell scripts and the command-line tools that containers start with
# software: the first word of each name
# apt: curl git rsync openssh-client restic rclone borgbackup sqlite3 redis-tools
names
sh_() { cat >/srv/app/entrypoint.sh; chmod +x entrypoint.sh; run "${SHELL_:-sh}" ./entrypoint.sh; }
sh_ <<'E2'
set -e
echo "==> starting backup"
aws s3 sync /srv/data s3://backup/
E2
excerpt sh_command_missing "missing_dependency LOG_ERROR" "a command that is not installed" 
SHELL_=bash sh_ <<'E2'
echo "Applying migrations"
./migrate --all
E2
excerpt bash_missing "missing_dependency LOG_ERROR" "a program of the image that is not there"
echo 'exit 0' >tool; chmod 644 tool
sh_ <<'E2'
echo "starting"
./tool
E2
excerpt sh_not_executable "permission LOG_ERROR" "a script without the x bit"
printf '#!/bin/nosuchshell\n' >tool; chmod 755 tool
SHELL_=bash sh_ <<'E2'
./tool
E2
excerpt bash_interpreter_missing "missing_dependency LOG_ERROR" "a script whose interpreter is not there"
head -c 200 /dev/urandom | tr -d '\0#' >/srv/app/blob; printf '\177ELFxxxxxxxxxxxxxxxxxx' >tool
SHELL_=bash sh_ <<'E2'
./tool
E2
excerpt bash_exec_format "LOG_ERROR exec:format" "a program for another machine"
sh_ <<'E2'
: "${DATABASE_URL:?must be set}"
E2
excerpt sh_variable_unset "config_error LOG_ERROR" "a required environment variable is not set"
sh_ <<'E2'
echo "waiting for api"
curl -sS --max-time 2 http://api:9000/health || exit 1
E2
excerpt curl_refused "NETWORK_ERROR net:refused LOG_ERROR" "curl: the peer does not listen"
sh_ <<'E2'
curl -fsS http://inventory.internal/export.csv -o /tmp/x
E2
excerpt curl_unknown_host "NETWORK_ERROR net:dns LOG_ERROR" "curl: a name that does not exist"
sh_ <<'E2'
echo "Downloading plugin"
curl -sS --connect-timeout 1 -O http://slow/plugin.tgz
E2
excerpt curl_timeout "NETWORK_ERROR net:timeout LOG_ERROR" "curl: packets are dropped"
certificate api -1; side openssl s_server -accept 9443 -cert /srv/api.crt -key /srv/api.key -www; up 9443
sh_ <<'E2'
curl -sS https://127.0.0.1:9443/
E2
excerpt curl_certificate "NETWORK_ERROR net:tls LOG_ERROR" "curl: a self-signed certificate"
sh_ <<'E2'
wget -q -O- http://api:9000/ || echo "wget gave up"
wget -T 1 -t 1 http://api:9000/
E2
excerpt wget_refused "NETWORK_ERROR net:refused LOG_ERROR" "wget: the peer does not listen"
sh_ <<'E2'
git clone http://git.internal/shop.git /srv/shop
E2
excerpt git_unknown_host "NETWORK_ERROR net:dns LOG_ERROR" "git: a name that does not exist"
sh_ <<'E2'
ssh -o BatchMode=yes -o ConnectTimeout=2 deploy@api true
E2
excerpt ssh_refused "NETWORK_ERROR net:refused LOG_ERROR" "ssh: the peer does not listen"
small_disk /srv/backup; fill /srv/backup
sh_ <<'E2'
echo "Backup of /etc"
tar cf /srv/backup/etc.tar /etc/ssl
E2
excerpt tar_disk_full "DISK_PRESSURE disk:full LOG_ERROR" "tar: the volume is full"
sh_ <<'E2'
cp /bin/bash /srv/backup/x
echo done > /srv/backup/marker
E2
excerpt coreutils_disk_full "DISK_PRESSURE disk:full LOG_ERROR" "cp: the volume is full"
mount -o remount,ro /srv/backup
sh_ <<'E2'
touch /srv/backup/marker
mkdir /srv/backup/new
E2
excerpt coreutils_read_only "permission disk:readonly LOG_ERROR" "the volume was remounted read-only"
echo 'mkdir /srv/app/state; echo x > /etc/app/state' >e.sh; chmod 755 /srv/app; run as_user nobody sh e.sh
excerpt coreutils_forbidden "permission LOG_ERROR" "the user may not write"
sh_ <<'E2'
set -e
tries=0
until curl -sS -o /dev/null http://127.0.0.4:9100/; do
  tries=$((tries+1)); echo "api is not ready, waiting ($tries)"
  [ $tries = 2 ] && (python3 -m http.server -b 127.0.0.4 9100 >/dev/null 2>&1 &)
  sleep 1
done
echo "api is ready, starting"
echo "server started, 0 errors"
E2
excerpt sh_waited_for_peer healthy "a wait loop: the peer came up after three seconds"
sqlite3 /srv/app/shop.db 'create table t(x)'; sh_ <<'E2'
sqlite3 /srv/app/shop.db 'select * from orders'
sqlite3 /srv/none/shop.db 'select 1'
E2
excerpt sqlite_errors "missing_dependency LOG_ERROR" "sqlite: a missing table, a file that cannot be opened"
export RESTIC_PASSWORD=example; quiet restic init -r /srv/repo; sh_ <<'E2'
restic -r /srv/repo backup /etc/ssl/openssl.cnf
restic -r /srv/repo check
E2
excerpt restic_ok healthy "restic: backup and check: no errors were found"
RESTIC_PASSWORD=wrong sh_ <<'E2'
restic -r /srv/repo snapshots
E2
excerpt restic_wrong_password "auth_failure LOG_ERROR" "restic: a wrong password"
sh_ <<'E2'
restic -r /srv/norepo backup /etc/ssl
E2
excerpt restic_no_repository "missing_dependency LOG_ERROR" "restic: the repository is not there"
sh_ <<'E2'
rsync -a /etc/ssl/ rsync://api:8730/backup/
E2
excerpt rsync_refused "NETWORK_ERROR net:refused LOG_ERROR" "rsync: the peer does not listen"
sh_ <<'E2'
rsync -av --stats /etc/ssl/openssl.cnf /srv/copy/
echo "rsync finished, errors: 0"
E2
excerpt rsync_ok healthy "rsync with statistics"
