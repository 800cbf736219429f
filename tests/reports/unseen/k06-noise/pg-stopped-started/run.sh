# image bb:1 = a busybox tree
# a database that was stopped and started by its operator: FATAL lines of the shutdown, and all is well
docker run -d --name shopdb --stop-signal INT bb:1 sh -c '
bye() {
  echo "2025-03-02 04:10:31.020 UTC [1] LOG:  received fast shutdown request"
  echo "2025-03-02 04:10:31.025 UTC [1] LOG:  aborting any active transactions"
  echo "2025-03-02 04:10:31.026 UTC [88] FATAL:  terminating connection due to administrator command"
  echo "2025-03-02 04:10:31.026 UTC [91] FATAL:  terminating connection due to administrator command"
  echo "2025-03-02 04:10:31.041 UTC [1] LOG:  background worker \"logical replication launcher\" (PID 33) exited with exit code 1"
  echo "2025-03-02 04:10:31.052 UTC [28] LOG:  shutting down"
  echo "2025-03-02 04:10:31.130 UTC [1] LOG:  database system is shut down"
  exit 0
}
trap bye INT
echo "PostgreSQL Database directory appears to contain a database; Skipping initialization"
echo "2025-03-02 04:10:01.101 UTC [1] LOG:  starting PostgreSQL 16.8 (Debian 16.8-1.pgdg120+1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit"
echo "2025-03-02 04:10:01.101 UTC [1] LOG:  listening on IPv4 address \"0.0.0.0\", port 5432"
echo "2025-03-02 04:10:01.131 UTC [1] LOG:  database system is ready to accept connections"
while :; do sleep 1; done'
sleep 4
docker stop shopdb
sleep 2
docker start shopdb
sleep 6
bcon-exporter diagnose shopdb
