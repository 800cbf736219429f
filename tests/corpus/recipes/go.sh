# Go programs with the standard log and slog packages
# apt: golang-go
export GOPATH=/srv/go GOCACHE=/srv/gocache GOFLAGS=-mod=mod GO111MODULE=off GOTOOLCHAIN=local
go_() { cat >/srv/app/main.go; LIMIT=120 quiet go build -o /srv/app/server main.go; run ./server; }
names
go_ <<'E2'
package main
import ("log"; "net/http")
func main() { log.Println("starting worker"); _, err := http.Get("http://api:9000/jobs"); if err != nil { log.Fatalf("fetch jobs: %v", err) } }
E2
excerpt refused "NETWORK_ERROR net:refused LOG_ERROR" "the peer does not listen"
go_ <<'E2'
package main
import ("log"; "net"; "time")
func main() { log.SetFlags(log.LstdFlags | log.Lmicroseconds | log.Lshortfile); for i := 0; i < 3; i++ { _, err := net.DialTimeout("tcp", "slow:5432", 400*time.Millisecond); log.Println("ping database:", err) }; log.Fatal("database not reachable, giving up") }
E2
excerpt timeout "NETWORK_ERROR net:timeout LOG_ERROR" "packets to the peer are dropped"
go_ <<'E2'
package main
import ("log"; "net/http")
func main() { _, err := http.Get("http://inventory.internal/"); log.Printf("error: could not load inventory: %v", err) }
E2
excerpt unknown_host "NETWORK_ERROR net:dns LOG_ERROR" "a name that does not exist"
go_ <<'E2'
package main
import "fmt"
type Order struct{ Total *int }
func sum(o []Order) int { t := 0; for _, x := range o { t += *x.Total }; return t }
func main() { fmt.Println("closing the day"); fmt.Println(sum([]Order{{}})) }
E2
excerpt nil_pointer "LOG_ERROR crash" "a nil pointer dereference"
go_ <<'E2'
package main
import "fmt"
func main() { q := []int{1, 2}; n := 5; fmt.Println("draining queue"); fmt.Println(q[n]) }
E2
excerpt index_panic "LOG_ERROR crash" "an index out of range"
go_ <<'E2'
package main
import "sync"
func main() { var m sync.Mutex; m.Lock(); m.Lock() }
E2
excerpt deadlock "LOG_ERROR crash" "all goroutines are asleep"
side silent_server 8080; sleep 0.4
go_ <<'E2'
package main
import ("log"; "net/http")
func main() { log.Println("listening on :8080"); log.Fatal(http.ListenAndServe(":8080", nil)) }
E2
excerpt port_taken "port_in_use LOG_ERROR" "the port is taken"
stop_sides
go_ <<'E2'
package main
import ("log"; "os")
func main() { if _, err := os.ReadFile("/etc/app/config.yaml"); err != nil { log.Fatal(err) } }
E2
excerpt file_missing "missing_dependency LOG_ERROR" "a file that is not there"
go_ <<'E2'
package main
import ("log"; "os"; "strconv")
func main() { n, err := strconv.Atoi(os.Getenv("POOL_SIZE")); if err != nil { log.Fatalf("invalid POOL_SIZE: %v", err) }; log.Println(n) }
E2
excerpt bad_variable "config_error LOG_ERROR" "an environment variable that should be a number is not set"
go_ <<'E2'
package main
import "log"
func main() { log.Println("Starting error reporter"); for i := 1; i < 8; i++ { log.Printf("[INFO] batch %d: ok=%d failed=0 errors=0 timeout=5s", i, i*10) }; log.Println("[WARN] flag -on-error is deprecated"); log.Println("drained, exit without error") }
E2
excerpt batches healthy "failed=0 errors=0"
go_ <<'E2'
package main
import ("log"; "net"; "net/http"; "time"; "context")
func main() { s := &http.Server{Addr: "127.0.0.1:8081"}; go func() { log.Println("listening"); log.Println(s.ListenAndServe()) }(); time.Sleep(300*time.Millisecond); r, e := http.Get("http://127.0.0.1:8081/x"); log.Println("self check", r.Status, e); s.Shutdown(context.Background()); time.Sleep(100*time.Millisecond); log.Println("context canceled, shutting down"); _ = net.IPv4len }
E2
excerpt shutdown healthy "graceful shutdown: http: Server closed"
go_ <<'E2'
package main
import ("crypto/tls"; "log")
func main() { _, err := tls.Dial("tcp", "127.0.0.1:9443", nil); log.Println("level=error msg=\"push failed\" err=\"" + err.Error() + "\"") }
E2
: >/mnt/log; certificate api -1; side openssl s_server -accept 9443 -cert /srv/api.crt -key /srv/api.key -www; up 9443; run ./server
excerpt certificate "NETWORK_ERROR net:tls LOG_ERROR" "a certificate that is not trusted"
