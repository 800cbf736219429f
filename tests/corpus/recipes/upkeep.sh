# What keeps a host going: syslog-ng, ProFTPD, snmpd, chrony, fail2ban, OpenVPN
# software: the first word of each name
# apt: syslog-ng-core proftpd-core snmpd chrony fail2ban openvpn
printf '@version: 3.38\nsource s { network(ip("127.0.0.1") port(5140) transport("udp")); internal(); };\ndestination d { file("/srv/all.log"); };\nlog { source(s); destination(d); };\n' >/etc/app/sng.conf; start syslog-ng -F -e -v --no-caps -f /etc/app/sng.conf -R /srv/sng.persist -c /run/sng.ctl; sleep 2; stop
excerpt syslogng_start_stop healthy "syslog-ng: start and stop"
sed -i 's/destination(d); };/destinatoin(d); };/' /etc/app/sng.conf; run syslog-ng -F -e --no-caps -f /etc/app/sng.conf -R /srv/sng.persist -c /run/sng.ctl; excerpt syslogng_bad_config "config_error LOG_ERROR" "syslog-ng: a word misspelt"
mkdir -p -m 755 /srv/pf; printf 'ServerName shop\nServerType standalone\nPort 2121\nDefaultAddress 127.0.0.1\nUser nobody\nGroup nogroup\nPidFile /run/pf.pid\nScoreboardFile /srv/pf/sb\nUseReverseDNS off\nWtmpLog off\n' >/etc/app/pf.conf; start proftpd -n -c /etc/app/pf.conf; up 2121; quiet curl -s -m 4 ftp://bob:wrong@127.0.0.1:2121/; sleep 1; stop
excerpt proftpd_wrong_password "auth_failure" "ProFTPD: a person's wrong password"
echo 'MaxClintes 3' >>/etc/app/pf.conf; run proftpd -n -c /etc/app/pf.conf; excerpt proftpd_bad_option "config_error LOG_ERROR" "ProFTPD: an option misspelt"
printf 'agentaddress udp:127.0.0.1:1161\nrocommunity example 127.0.0.1\n' >/etc/app/snmpd.conf; mkdir -p /srv/snmp; export SNMP_PERSISTENT_DIR=/srv/snmp MIBS=; start snmpd -f -Lo -C -c /etc/app/snmpd.conf; sleep 2; stop
excerpt snmpd_start_stop healthy "snmpd: start and stop"
echo 'rocomunity example' >>/etc/app/snmpd.conf; start snmpd -f -Lo -C -c /etc/app/snmpd.conf; sleep 2; stop; excerpt snmpd_bad_option "config_error LOG_ERROR" "snmpd: an option misspelt"
mkdir -p /run/chrony /srv/chrony; chmod 750 /run/chrony; printf 'server 127.0.0.1 port 11123 iburst\ndriftfile /srv/chrony/drift\nport 0\ncmdport 0\nbindcmdaddress /\n' >/etc/app/chrony.conf; start chronyd -d -x -u root -f /etc/app/chrony.conf; sleep 3; stop
excerpt chrony_start_stop healthy "chrony: start without a source that answers yet, stop"
echo 'drftfile x' >>/etc/app/chrony.conf; run chronyd -d -x -u root -f /etc/app/chrony.conf; excerpt chrony_bad_option "config_error LOG_ERROR" "chrony: an option misspelt"
: >/srv/auth.log; printf '[DEFAULT]\nbackend = polling\nbantime = 60\nfindtime = 600\nmaxretry = 2\nbanaction = noop\n[sshd]\nenabled = true\nlogpath = /srv/auth.log\n' >/etc/fail2ban/jail.local; rm -f /etc/fail2ban/jail.d/*; printf '[Definition]\nactionstart =\nactionstop =\nactioncheck =\nactionban =\nactionunban =\n' >/etc/fail2ban/action.d/noop.conf; mkdir -p /run/fail2ban
start fail2ban-server -f -x --logtarget=STDOUT -s /run/fail2ban/f.sock -p /run/fail2ban/f.pid --loglevel INFO start; said 'Jail .sshd. started|started'; d=$(LC_ALL=C date '+%b %e %T'); for i in 1 2 3; do echo "$d app sshd[7]: Failed password for root from 203.0.113.9 port 5000 ssh2" >>/srv/auth.log; done; sleep 3; stop
excerpt fail2ban_ban healthy "fail2ban: start, somebody else's wrong passwords, a ban, stop"
printf '[sshd\nenabled = true\n' >/etc/fail2ban/jail.local; run fail2ban-server -f -x --logtarget=STDOUT -s /run/fail2ban/f.sock -p /run/fail2ban/f.pid start; excerpt fail2ban_bad_config "config_error LOG_ERROR" "fail2ban: a bracket left out"
printf 'port 1194\nproto udp\ndev null\ntls-server\nca /srv/none.crt\ncert /srv/none.crt\nkey /srv/none.key\ndh none\n' >/etc/app/vpn.conf; run openvpn --config /etc/app/vpn.conf; excerpt openvpn_no_certificate "missing_dependency LOG_ERROR" "OpenVPN: the certificate's file is not there"
printf 'prot 1194\n' >/etc/app/vpn2.conf; run openvpn --config /etc/app/vpn2.conf; excerpt openvpn_bad_option "config_error LOG_ERROR" "OpenVPN: an option misspelt"
certificate vpn; printf 'client\ndev null\nproto tcp\nremote 127.0.0.1 11940\nconnect-retry 1\nconnect-retry-max 2\nca /srv/vpn.crt\ncert /srv/vpn.crt\nkey /srv/vpn.key\n' >/etc/app/vpn3.conf; LIMIT=12 run openvpn --config /etc/app/vpn3.conf; excerpt openvpn_refused "NETWORK_ERROR LOG_ERROR net:refused" "OpenVPN: the server does not listen"
