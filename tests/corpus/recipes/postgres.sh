# PostgreSQL server and its clients
# apt: postgresql-15
export PATH=/usr/lib/postgresql/15/bin:$PATH
data=/var/lib/postgresql/data
rm -rf /var/lib/postgresql/*; mkdir -p $data /var/run/postgresql; chown -R postgres /var/lib/postgresql /var/run/postgresql
pg() { start as_user postgres postgres -D $data -c listen_addresses=127.0.0.1 "$@"; }
sql() { quiet psql -X -h 127.0.0.1 -U postgres -d "${2:-postgres}" -c "$1"; }
run as_user postgres postgres -D $data
excerpt not_initialised "missing_dependency LOG_ERROR" "the data directory is empty"
run as_user postgres initdb -D $data -A trust
excerpt initdb healthy "initialising a data directory"
pg; said 'ready to accept'; sql 'create database shop'; sql 'create user app password $$example$$' ; sql 'checkpoint'; stop INT
excerpt start_stop healthy "first start, a little work, fast shutdown"
pg -c log_connections=on -c log_disconnections=on -c log_min_duration_statement=0; said 'ready to accept'; sql 'select 1'; sql 'create table errors(error text, fatal int)' shop; sql 'insert into errors select 1, 2 from generate_series(1,9)' shop; sql 'select count(*) from errors where error is null' shop
excerpt logged_statements healthy "statements logged, with error as a table's name" 
pg; said 'ready to accept'; kill -KILL "${started[0]}"; sleep 1; stop KILL; : >/mnt/log; rm -f $data/postmaster.pid; sleep 1; pg; said 'ready to accept'
excerpt recovery_at_start healthy "start after a power cut: automatic recovery"
pg -p 5432; said 'ready to accept'; quiet psql -X -h 127.0.0.1 -U postgres shop -c 'create table t(id int primary key)'; : >/mnt/log
for s in 'insert into t values (1)' 'insert into t values (1)' 'selec 1' 'select * from no_such_table'; do sql "$s" shop; done
excerpt statement_errors "missing_dependency LOG_ERROR" "an application sends wrong statements: duplicate key, syntax, missing table"
cp $data/pg_hba.conf /tmp/hba; echo 'host all all 127.0.0.1/32 scram-sha-256' >$data/pg_hba.conf
pg; said 'ready to accept'; for p in exampel wrong; do PGPASSWORD=$p quiet psql -X -h 127.0.0.1 -U app shop -c 'select 1'; done
excerpt wrong_password "auth_failure LOG_ERROR" "an application connects with a wrong password"
pg; said 'ready to accept'; : >/mnt/mark; PGPASSWORD=wrong run psql -X -h 127.0.0.1 -U app shop -c 'select 1' ; grep psql /mnt/log >/mnt/l2; cp /mnt/l2 /mnt/log
excerpt psql_wrong_password "auth_failure LOG_ERROR" "the client's side of a wrong password"
echo 'host shop app 10.1.2.3/32 md5' >$data/pg_hba.conf
pg; said 'ready to accept'; quiet psql -X -h 127.0.0.1 -U app shop -c 'select 1'
excerpt no_hba_entry "auth_failure LOG_ERROR" "no pg_hba.conf entry for the client"
cp /tmp/hba $data/pg_hba.conf
run psql -X -h db -U app shop -c 'select 1'
excerpt psql_refused "NETWORK_ERROR net:refused LOG_ERROR" "psql, and no server listens"
names; run pg_dump -h warehouse -U app shop
excerpt pg_dump_unknown_host "NETWORK_ERROR net:dns LOG_ERROR" "pg_dump, and the name does not exist"
side silent_server 5432; sleep 0.5; pg; sleep 1.5
excerpt port_taken "port_in_use LOG_ERROR" "another process listens on 5432"
stop_sides
cp $data/postgresql.conf /tmp/pc; echo 'max_connections = lots' >>$data/postgresql.conf; pg; sleep 1
excerpt bad_value "config_error LOG_ERROR" "a setting that is no number"
cp /tmp/pc $data/postgresql.conf; echo 'max_conections = 10' >>$data/postgresql.conf; pg; sleep 1
excerpt unknown_setting "config_error LOG_ERROR" "a setting misspelt"
cp /tmp/pc $data/postgresql.conf
chmod 777 $data; pg; sleep 1
excerpt data_too_open "permission LOG_ERROR" "the data directory is open to all"
chmod 700 $data; chown root $data; pg; sleep 1
excerpt wrong_owner "permission LOG_ERROR" "the data directory belongs to another user"
chown postgres $data
pg -c max_connections=3 -c superuser_reserved_connections=0 -c max_wal_senders=0; said 'ready to accept'
for _ in 1 2 3 4 5; do side psql -X -h 127.0.0.1 -U postgres -c 'select pg_sleep(4)'; done; sleep 2
excerpt too_many_clients "LOG_ERROR res:connections" "more clients than max_connections"
stop_sides
pg -c idle_in_transaction_session_timeout=500 -c deadlock_timeout=200 -c log_lock_waits=on; said 'ready to accept'
side psql -X -h 127.0.0.1 -U postgres shop -c 'begin; truncate t; select pg_sleep(2); commit'; sleep 0.5; quiet psql -X -h 127.0.0.1 -U postgres shop -c 'select count(*) from t'
sleep 2; excerpt lock_wait healthy "a statement waits a second for a lock, then gets it"
mkdir -p /srv/small; mount -t tmpfs -o size=60m small /srv/small; cp -a $data /srv/small/; chown -R postgres /srv/small
start as_user postgres postgres -D /srv/small/data -c listen_addresses=127.0.0.1; said 'ready to accept'
sql 'create table big as select generate_series(1,2000000) n' ; sleep 1
excerpt disk_full "DISK_PRESSURE disk:full LOG_ERROR" "the file system fills while a table is made"
pg; said 'ready to accept'; sql "create table c as select generate_series(1,5000) n" shop; sql checkpoint
file=$(psql -X -At -h 127.0.0.1 -U postgres shop -c "select pg_relation_filepath('c')"); stop INT; : >/mnt/log
printf 'garbage garbage garbage garbage' | dd of=$data/$file bs=1 seek=8 conv=notrunc 2>/dev/null
pg; said 'ready to accept'; sql 'select count(*) from c' shop
excerpt corrupt_page "LOG_ERROR data:corrupt" "a page of a table was overwritten"
