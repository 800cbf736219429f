# image bb:1 = a busybox tree
# the probe's output holds an exception and "error", its exit code is 0
docker run -d --name orders --health-interval 1s --health-timeout 3s --health-retries 2 --health-cmd 'wget -q -O - http://127.0.0.1:8080/actuator/health || exit 1' bb:1 sh -c '
mkdir -p /w/actuator
echo "{\"status\":\"UP\",\"components\":{\"db\":{\"status\":\"UP\"},\"mail\":{\"status\":\"UNKNOWN\",\"details\":{\"error\":\"java.net.ConnectException: Connection refused\"}},\"diskSpace\":{\"status\":\"UP\",\"details\":{\"free\":81604378624,\"threshold\":10485760}}}}" > /w/actuator/health
echo "2024-02-12 09:14:02.401  INFO 1 --- [           main] o.s.b.w.embedded.tomcat.TomcatWebServer  : Tomcat started on port(s): 8080 (http) with context path '"''"'"
echo "2024-02-12 09:14:02.420  INFO 1 --- [           main] o.example.orders.OrdersApplication       : Started OrdersApplication in 6.204 seconds (JVM running for 6.9)"
exec httpd -f -p 8080 -h /w'
sleep 8
bcon-exporter diagnose orders
