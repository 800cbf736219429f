# Java programs: java.util.logging, logback, log4j2, JDBC drivers, HikariCP
# apt: openjdk-17-jdk-headless liblogback-java liblog4j2-java libslf4j-java libpostgresql-jdbc-java libhikaricp-java libmariadb-java
jars=/usr/share/java
J() { cat >/srv/app/Main.java; run java -XX:TieredStopAtLevel=1 ${OPTS:-} -cp "/srv/app:$(ls $jars/{logback-core,logback-classic,slf4j-api,postgresql,HikariCP,mariadb-java-client}.jar 2>/dev/null | tr '\n' :)" /srv/app/Main.java; }
names
J <<'END'
public class Main { public static void main(String[] a) throws Exception {
  java.util.logging.Logger log = java.util.logging.Logger.getLogger("shop.Import");
  log.info("import started");
  try { new java.net.URL("http://api:9000/items").openStream(); }
  catch (java.io.IOException e) { log.log(java.util.logging.Level.SEVERE, "import failed", e); }
} }
END
excerpt jul_refused "NETWORK_ERROR net:refused LOG_ERROR" "java.util.logging: the peer does not listen"
J <<'END'
public class Main { public static void main(String[] a) throws Exception {
  java.util.logging.Logger log = java.util.logging.Logger.getLogger("shop.Batch");
  for (int i = 0; i < 4; i++) log.info("Batch " + i + " finished: 120 rows, 0 errors, 0 failures");
  log.fine("hidden"); log.config("error pages in /srv/errors"); log.warning("Property 'errorHandler' is deprecated, use 'onError'"); log.info("ExceptionMapper registered; FatalErrorHandler registered");
} }
END
excerpt jul_ok healthy "java.util.logging: 0 errors"
J <<'END'
import java.net.http.*; import java.net.*;
public class Main { public static void main(String[] a) throws Exception {
  System.out.println("fetching rates");
  HttpClient.newBuilder().connectTimeout(java.time.Duration.ofMillis(800)).build().send(HttpRequest.newBuilder(URI.create("http://slow:9000/")).build(), HttpResponse.BodyHandlers.ofString());
} }
END
excerpt httpclient_timeout "NETWORK_ERROR net:timeout LOG_ERROR" "HttpClient: packets to the peer are dropped"
J <<'END'
public class Main { public static void main(String[] a) throws Exception { new java.net.Socket("inventory.internal", 80); } }
END
excerpt unknown_host "NETWORK_ERROR net:dns LOG_ERROR" "a name that does not exist"
certificate api -1; side openssl s_server -accept 9443 -cert /srv/api.crt -key /srv/api.key -www; up 9443
J <<'END'
public class Main { public static void main(String[] a) throws Exception { new java.net.URL("https://127.0.0.1:9443/").openStream(); } }
END
excerpt certificate "NETWORK_ERROR net:tls LOG_ERROR" "a certificate without a known issuer"
stop_sides
J <<'END'
import java.util.*;
public class Main { public static void main(String[] a) {
  java.sql.Connection c; try { c = java.sql.DriverManager.getConnection("jdbc:postgresql://db:5432/shop", "app", "example"); }
  catch (java.sql.SQLException e) { throw new IllegalStateException("no database", e); } } }
END
excerpt jdbc_postgres_refused "NETWORK_ERROR net:refused LOG_ERROR" "JDBC: the database does not listen"
OPTS=-Xmx24m J <<'END'
import java.util.*;
public class Main { public static void main(String[] a) { System.out.println("Loading catalogue"); List<byte[]> l = new ArrayList<>(); while (true) l.add(new byte[1 << 20]); } }
END
excerpt heap "OOM_KILLED mem:heap LOG_ERROR" "the heap reaches -Xmx"
OPTS='-Xmx32m -XX:+HeapDumpOnOutOfMemoryError -XX:HeapDumpPath=/srv/dump.hprof -XX:+ExitOnOutOfMemoryError' J <<'END'
import java.util.*;
public class Main { public static void main(String[] a) { System.out.println("Loading catalogue"); List<String> l = new ArrayList<>(); for (int i = 0;; i++) l.add("item number " + i); } }
END
excerpt heap_dump "OOM_KILLED mem:heap LOG_ERROR" "the heap reaches -Xmx, with heap dump and exit"
run java -Xmx2x -version
excerpt bad_option "config_error LOG_ERROR" "a memory size that the JVM does not understand"
run java -jar /srv/app/shop.jar
excerpt jar_missing "missing_dependency LOG_ERROR" "the jar is not there"
run java -cp /srv/app shop.Main
excerpt class_missing "missing_dependency LOG_ERROR" "the main class is not there"
J <<'END'
public class Main { public static void main(String[] a) throws Exception { Class.forName("com.mysql.cj.jdbc.Driver"); } }
END
excerpt driver_missing "missing_dependency LOG_ERROR" "a driver class that is not on the class path"
side silent_server 8080; sleep 0.4
J <<'END'
public class Main { public static void main(String[] a) throws Exception { com.sun.net.httpserver.HttpServer.create(new java.net.InetSocketAddress(8080), 0).start(); } }
END
excerpt port_taken "port_in_use LOG_ERROR" "the port is taken"
stop_sides
J <<'END'
import java.nio.file.*;
public class Main { public static void main(String[] a) throws Exception { Files.readString(Path.of("/etc/app/application.properties")); } }
END
excerpt file_missing "missing_dependency LOG_ERROR" "a file that is not there"
small_disk /srv/data; fill /srv/data
J <<'END'
import java.io.*;
public class Main { public static void main(String[] a) throws Exception { try (FileOutputStream o = new FileOutputStream("/srv/data/out.bin")) { for (int i = 0; i < 100; i++) o.write(new byte[65536]); } } }
END
excerpt disk_full "DISK_PRESSURE disk:full LOG_ERROR" "the volume is full"
J <<'END'
public class Main { record Order(Integer total) {} public static void main(String[] a) { System.out.println("closing the day"); int t = 0; for (Order o : new Order[]{new Order(3), new Order(null)}) t += o.total(); } }
END
excerpt null_pointer "LOG_ERROR" "a defect: NullPointerException"
J <<'END'
import org.slf4j.*;
public class Main { static final Logger log = LoggerFactory.getLogger("shop.Pool"); public static void main(String[] a) {
  com.zaxxer.hikari.HikariConfig c = new com.zaxxer.hikari.HikariConfig(); c.setJdbcUrl("jdbc:postgresql://db:5432/shop"); c.setUsername("app"); c.setPassword("example"); c.setConnectionTimeout(1000); c.setMaximumPoolSize(2);
  log.info("opening pool"); new com.zaxxer.hikari.HikariDataSource(c); } }
END
grep -v DEBUG /mnt/log >/mnt/l2; cp /mnt/l2 /mnt/log
excerpt hikari_refused "NETWORK_ERROR net:refused LOG_ERROR" "HikariCP and logback: the database does not listen" tail 55
J <<'END'
import org.slf4j.*;
public class Main { static final Logger log = LoggerFactory.getLogger("shop.Sync"); public static void main(String[] a) throws Exception {
  log.info("sync started, error threshold 5"); log.debug("retry policy: 3 attempts on ConnectException"); for (int i = 1; i < 5; i++) log.info("page {} synced: failed=0 timeouts=0", i); log.warn("Using fallback locale, as configured"); log.info("sync finished without errors"); } }
END
excerpt logback_ok healthy "logback: failed=0 timeouts=0"
echo 'class Crash { public static void main(String[] a) throws Exception { var f = sun.misc.Unsafe.class.getDeclaredField("theUnsafe"); f.setAccessible(true); ((sun.misc.Unsafe) f.get(null)).putAddress(0, 0); } }' >Crash.java
run java -XX:ErrorFile=/srv/hs_err.log Crash.java
excerpt jvm_crash "LOG_ERROR crash" "the JVM crashes with SIGSEGV"
cat >Threads.java <<'END'
class Threads { public static void main(String[] a) { for (int i = 0; i < 400; i++) new Thread(() -> { try { Thread.sleep(9000); } catch (InterruptedException e) { } }).start(); System.exit(0); } }
END
javac Threads.java 2>/dev/null; prlimit >/dev/null; chmod a+rx /srv /srv/app; run as_user games bash -c 'ulimit -u 60; exec java -cp /srv/app Threads'
excerpt threads "LOG_ERROR res:pids" "no more threads: the limit of processes is reached" head 25
