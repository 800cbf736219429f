# OpenSSH, Dropbear, Postfix, Dovecot, rsync daemon, OpenLDAP
# software: the first word of each name
# apt: openssh-server dropbear-bin postfix dovecot-imapd rsync slapd ldap-utils
mkdir -p /run/sshd /srv/keys; ssh-keygen -q -t ed25519 -N '' -f /srv/keys/host; ssh-keygen -q -t ed25519 -N '' -f /srv/keys/user
mkdir -p /srv/.ssh; useradd -m -d /srv/alice -s /bin/sh alice 2>/dev/null; echo alice:example | chpasswd; mkdir -p /srv/alice/.ssh; cp /srv/keys/user.pub /srv/alice/.ssh/authorized_keys; chown -R alice /srv/alice; chmod 700 /srv/alice/.ssh
o="-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
sshd() { start /usr/sbin/sshd -D -e -p 2222 -h /srv/keys/host -o ListenAddress=127.0.0.1 "$@"; up 2222; }
sshd; quiet ssh $o -p 2222 -i /srv/keys/user alice@127.0.0.1 true; timeout 1 bash -c 'exec 3<>/dev/tcp/127.0.0.1/2222; echo "GET / HTTP/1.0" >&3; sleep 0.3'; quiet ssh $o -p 2222 -i /srv/keys/user alice@127.0.0.1 id; stop
excerpt sshd_logins healthy "sshd: logins with a key, a scanner, stop"
cat >/srv/askpass <<'E2'
#!/bin/sh
echo wrong
E2
chmod +x /srv/askpass; export SSH_ASKPASS=/srv/askpass SSH_ASKPASS_REQUIRE=force
sshd -o UsePAM=no; for u in alice alice root admin; do quiet ssh $o -o PubkeyAuthentication=no -o NumberOfPasswordPrompts=1 -p 2222 $u@127.0.0.1 true; done
excerpt sshd_wrong_password auth_failure "sshd: people give wrong passwords"
side silent_server 2222; sleep 0.4; run /usr/sbin/sshd -D -e -p 2222 -h /srv/keys/host -o ListenAddress=127.0.0.1
excerpt sshd_port "port_in_use LOG_ERROR" "sshd: the port is taken"
stop_sides
run /usr/sbin/sshd -D -e -p 2222 -h /srv/keys/none
excerpt sshd_no_host_keys "missing_dependency LOG_ERROR" "sshd: there are no host keys"
echo 'PermitRootLogn no' >/etc/app/sshd; run /usr/sbin/sshd -D -e -f /etc/app/sshd
excerpt sshd_bad_config "config_error LOG_ERROR" "sshd: an option misspelt"
cp /srv/keys/host /srv/keys/open; chmod 644 /srv/keys/open; run /usr/sbin/sshd -D -e -p 2222 -h /srv/keys/open
excerpt sshd_open_key "permission LOG_ERROR" "sshd: the host key is readable by all"
dropbearkey -t ed25519 -f /srv/keys/db >/dev/null 2>&1; start dropbear -F -E -r /srv/keys/db -p 127.0.0.1:2223; up 2223; quiet ssh $o -p 2223 -i /srv/keys/user alice@127.0.0.1 true; stop
excerpt dropbear_login healthy "Dropbear: a login with a key, stop"
start dropbear -F -E -r /srv/keys/db -p 127.0.0.1:2223; up 2223; for u in alice bob; do quiet ssh $o -o PubkeyAuthentication=no -o NumberOfPasswordPrompts=2 -p 2223 $u@127.0.0.1 true; done; sleep 1
excerpt dropbear_wrong_password auth_failure "Dropbear: wrong passwords"
conf() { mkdir -p /run/dovecot /srv/mail; printf '%s\n' 'protocols = imap' 'log_path = /dev/stderr' 'info_log_path = /dev/stderr' 'ssl = no' 'disable_plaintext_auth = no' 'mail_location = maildir:/srv/mail/%u' 'first_valid_uid = 1' 'passdb {' ' driver = static' ' args = password=example' '}' 'userdb {' ' driver = static' ' args = uid=mail gid=mail home=/srv/mail' '}' 'service imap-login {' ' inet_listener imap {' '  port = 1430' ' }' '}' "$1" >/etc/app/d.conf; chown -R mail /srv/mail; }
imap() { timeout 4 bash -c "exec 3<>/dev/tcp/127.0.0.1/1430; printf 'a login alice $1\r\n' >&3; sleep 0.5; printf 'b logout\r\n' >&3; sleep ${2:-0.5}"; }
conf ''; start dovecot -F -c /etc/app/d.conf; up 1430; imap example; timeout 1 bash -c 'exec 3<>/dev/tcp/127.0.0.1/1430; sleep 0.2'; stop
excerpt dovecot_login healthy "Dovecot: a login, a client that leaves without one, stop"
start dovecot -F -c /etc/app/d.conf; up 1430; imap wrong 2.5; imap exampel 2.5
excerpt dovecot_wrong_password auth_failure "Dovecot: wrong passwords"
conf 'protocls = imap'; run dovecot -F -c /etc/app/d.conf
excerpt dovecot_bad_config "config_error LOG_ERROR" "Dovecot: an option misspelt"
conf ''; side silent_server 1430; sleep 0.4; LIMIT=4 run dovecot -F -c /etc/app/d.conf
excerpt dovecot_port "port_in_use LOG_ERROR" "Dovecot: the port is taken"
stop_sides
cat >/etc/postfix/main.cf <<'E2'
compatibility_level = 3.6
maillog_file = /dev/stdout
myhostname = app.example
mydestination = app.example
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
smtp_host_lookup = native
smtp_connect_timeout = 2s
default_transport = smtp:[remote]:25
alias_maps =
E2
mkdir -p /var/spool/postfix; cp /usr/share/postfix/master.cf.dist /etc/postfix/master.cf; grep -q ^postlog /etc/postfix/master.cf || echo 'postlog unix-dgram n - n - 1 postlogd' >>/etc/postfix/master.cf
quiet newaliases; quiet postfix check
mailto() { timeout 4 bash -c "exec 3<>/dev/tcp/127.0.0.1/25; sleep 0.3; printf 'HELO x\r\nMAIL FROM:<a@app.example>\r\nRCPT TO:<$1>\r\nDATA\r\nSubject: error report\r\n\r\n0 errors\r\n.\r\nQUIT\r\n' >&3; sleep 1"; }
start postfix start-fg; up 25; mailto alice@app.example; sleep 1; quiet postfix stop; stop
excerpt postfix_mail healthy "Postfix: start, a mail is delivered, stop"
start postfix start-fg; up 25; mailto bob@other.example; sleep 3; quiet postfix stop; stop
excerpt postfix_unreachable "NETWORK_ERROR net:unreachable LOG_ERROR" "Postfix: the relay cannot be reached, mail is deferred"
printf 'port = 8730\naddress = 127.0.0.1\nuse chroot = no\n[data]\npath = /srv/keys\n' >/etc/app/rs.conf
start rsync --daemon --no-detach --config=/etc/app/rs.conf --log-file=/dev/stdout; up 8730; quiet rsync rsync://127.0.0.1:8730/data/user.pub /tmp/; quiet rsync rsync://127.0.0.1:8730/nothing/ /tmp/; stop
excerpt rsyncd_traffic healthy "rsync daemon: a file is read, a module that does not exist is asked for"
mkdir -p /srv/ldap; printf 'include /etc/ldap/schema/core.schema\nmodulepath /usr/lib/ldap\nmoduleload back_mdb\ndatabase mdb\nsuffix "dc=shop"\nrootdn "cn=admin,dc=shop"\nrootpw example\ndirectory /srv/ldap\n' >/etc/app/slapd.conf
start slapd -d 256 -h ldap://127.0.0.1:3890 -f /etc/app/slapd.conf; up 3890; quiet ldapsearch -x -H ldap://127.0.0.1:3890 -b dc=shop; stop
excerpt slapd_search healthy "OpenLDAP: a search without a result, stop"
start slapd -d 256 -h ldap://127.0.0.1:3890 -f /etc/app/slapd.conf; up 3890; for p in wrong exampel; do quiet ldapwhoami -x -H ldap://127.0.0.1:3890 -D cn=admin,dc=shop -w $p; done
excerpt slapd_wrong_password auth_failure "OpenLDAP: people give wrong passwords (err=49)"
run ldapsearch -x -H ldap://api:389 -b dc=shop
excerpt ldapsearch_refused "NETWORK_ERROR net:refused LOG_ERROR" "ldapsearch: the server does not listen"
sed -i 's#/srv/ldap#/srv/nothing#' /etc/app/slapd.conf; run slapd -d 256 -h ldap://127.0.0.1:3890 -f /etc/app/slapd.conf
excerpt slapd_no_folder "missing_dependency LOG_ERROR" "OpenLDAP: the data folder is not there"
