# Ruby: plain programs, Puma, WEBrick, Sinatra
# apt: ruby puma ruby-sinatra ruby-webrick
rb() { cat >/srv/app/app.rb; run ruby app.rb; }
names
rb <<'E2'
require 'net/http'
puts 'Fetching rates'
Net::HTTP.get(URI('http://api:9000/rates'))
E2
excerpt refused "NETWORK_ERROR net:refused LOG_ERROR" "the peer does not listen"
rb <<'E2'
require 'logger'; require 'socket'
log = Logger.new($stdout); log.info('sync starts')
begin
  TCPSocket.new('inventory.internal', 80)
rescue => e
  log.error("sync failed: #{e.class}: #{e.message}")
  exit 1
end
E2
excerpt logger_unknown_host "NETWORK_ERROR net:dns LOG_ERROR" "Logger: a name that does not exist"
rb <<'E2'
require 'net/http'
h = Net::HTTP.new('slow', 80); h.open_timeout = 1; h.get('/')
E2
excerpt timeout "NETWORK_ERROR net:timeout LOG_ERROR" "packets to the peer are dropped"
rb <<'E2'
require 'sidekiq_not_there'
E2
excerpt load_error "missing_dependency LOG_ERROR" "a gem that is not installed"
rb <<'E2'
File.read('config/database.yml')
E2
excerpt file_missing "missing_dependency LOG_ERROR" "a file that is not there"
rb <<'E2'
ENV.fetch('SECRET_KEY_BASE')
E2
excerpt variable_missing "config_error LOG_ERROR" "a required environment variable is not set"
rb <<'E2'
def total(order) = order[:items].sum
puts total({ id: 1 })
E2
excerpt no_method "LOG_ERROR" "a defect: a method of nil"
rb <<'E2'
require 'logger'
log = Logger.new($stdout)
log.info('import: 120 rows, 0 errors'); log.info('ErrorReporter ready'); log.warn('option :on_fail is deprecated'); log.debug('retry 0'); log.info('failed=0 timeout=30'); log.info('bye')
E2
excerpt logger_ok healthy "Logger: 0 errors"
cat >config.ru <<'E2'
run ->(env) { env['PATH_INFO'] == '/boom' ? raise('cart template is empty') : [env['PATH_INFO'] == '/' ? 200 : 404, {}, ['x']] }
E2
start puma -b tcp://127.0.0.1:9292 config.ru; up 9292; for p in / /none; do quiet curl -s http://127.0.0.1:9292$p; done; stop
excerpt puma_start_stop healthy "Puma: start, traffic, stop"
start puma -b tcp://127.0.0.1:9292 config.ru; up 9292; quiet curl -s http://127.0.0.1:9292/boom
excerpt puma_exception "LOG_ERROR" "Puma: a request handler raises"
side silent_server 9292; sleep 0.4; run puma -b tcp://127.0.0.1:9292 config.ru
excerpt puma_port "port_in_use LOG_ERROR" "Puma: the port is taken"
stop_sides
rm config.ru; run puma -b tcp://127.0.0.1:9292
excerpt puma_no_rackup "missing_dependency LOG_ERROR" "Puma: config.ru is not there"
echo 'require "webrick"; s = WEBrick::HTTPServer.new(Port: 8080, BindAddress: "127.0.0.1", DocumentRoot: "/srv/app"); trap("TERM") { s.shutdown }; s.start' >app.rb
start ruby app.rb; up 8080; for p in / /none /app.rb; do quiet curl -s http://127.0.0.1:8080$p; done; stop
excerpt webrick_traffic healthy "WEBrick: traffic with 404s, stop"
