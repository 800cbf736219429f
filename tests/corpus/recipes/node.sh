# Node.js programs, with and without the common loggers
# npm: express pino winston bunyan log4js fastify ioredis pg mysql2 amqplib kafkajs axios nodemon mongodb morgan ws koa mqtt undici http-proxy
js() { cat >/srv/app/index.js; run node index.js; }
names
js <<'END'
const net = require('net');
console.log('worker booting');
net.connect(9000, 'api');
END
excerpt connect_refused "NETWORK_ERROR net:refused LOG_ERROR" "an unhandled error event: the peer does not listen"
js <<'END'
console.log('Sync job started');
fetch('http://catalog.internal/items').then(r => r.json());
END
excerpt fetch_unknown_host "NETWORK_ERROR net:dns LOG_ERROR" "fetch asks a name that does not exist"
js <<'END'
const axios = require('axios');
axios.get('http://slow:9000/report', { timeout: 1500 }).catch(e => { console.error('report failed:', e.message); process.exit(1); });
END
excerpt axios_timeout "NETWORK_ERROR net:timeout LOG_ERROR" "packets to the peer are dropped"
side resetting_server 9001; sleep 0.4
js <<'END'
const http = require('http');
http.request({ host: '127.0.0.1', port: 9001, method: 'POST' }, () => {}).end('x'.repeat(500));
END
excerpt http_reset "NETWORK_ERROR net:reset LOG_ERROR" "the peer resets the connection"
certificate api -1; side openssl s_server -accept 9443 -cert /srv/api.crt -key /srv/api.key -www; up 9443
js <<'END'
const https = require('https'); const fs = require('fs');
console.log('checking licence');
https.get({ host: '127.0.0.1', port: 9443, servername: 'api', ca: fs.readFileSync('/srv/api.crt') });
END
excerpt https_expired "NETWORK_ERROR net:tls LOG_ERROR" "the peer's certificate has expired"
stop_sides
js <<'END'
require('./config/production');
END
excerpt module_missing "missing_dependency LOG_ERROR" "a module of the program is not there"
js <<'END'
const fs = require('fs');
const conf = JSON.parse(fs.readFileSync('/etc/app/config.json', 'utf8'));
END
excerpt file_missing "missing_dependency LOG_ERROR" "a file that is not there"
echo '{"port": 80,}' >/etc/app/config.json
js <<'END'
console.log('reading /etc/app/config.json');
const conf = JSON.parse(require('fs').readFileSync('/etc/app/config.json', 'utf8'));
END
excerpt config_syntax "config_error LOG_ERROR" "a comma too many in the configuration file"
js <<'END'
if (!process.env.DATABASE_URL) { throw new Error('Missing required environment variable: DATABASE_URL'); }
END
excerpt variable_missing "config_error LOG_ERROR" "a required environment variable is not set"
side silent_server 3000; sleep 0.4
js <<'END'
const app = require('express')();
app.listen(3000, () => console.log('listening'));
require('http').createServer().listen(3000);
END
excerpt port_taken "port_in_use LOG_ERROR" "the port is taken"
stop_sides
cat >index.js <<'END'
const fs = require('fs'); fs.mkdirSync('/srv/uploads/2026', { recursive: true });
END
chmod 755 /srv /srv/app; chmod 644 index.js; run as_user nobody node index.js
excerpt mkdir_forbidden "permission LOG_ERROR" "the user may not make a folder"
small_disk /srv/data; fill /srv/data
js <<'END'
const s = require('fs').createWriteStream('/srv/data/out.csv');
for (let i = 0; i < 1e5; i++) s.write('line ' + i + '\n');
END
excerpt disk_full "DISK_PRESSURE disk:full LOG_ERROR" "the volume is full"
cat >index.js <<'END'
const kept = []; console.log('building index'); setInterval(() => { for (let i = 0; i < 2e5; i++) kept.push({ i, s: 'x' + i }); }, 1);
END
run node --max-old-space-size=40 index.js
excerpt heap "OOM_KILLED mem:heap LOG_ERROR" "the heap grows past --max-old-space-size"
js <<'END'
const orders = undefined;
console.log('closing the day');
for (const o of orders.items) console.log(o);
END
excerpt type_error "LOG_ERROR" "a defect: property of undefined"
js <<'END'
async function settle() { throw new RangeError('amount must not be negative'); }
console.log('settling 3 invoices'); settle();
END
excerpt unhandled_rejection "LOG_ERROR" "an unhandled rejection"
cat >index.js <<'END'
const express = require('express'), morgan = require('morgan'), app = express();
app.use(morgan('combined'));
app.get('/', (q, r) => r.send('ok')); app.get('/boom', () => { throw new Error('template "cart" not compiled'); });
const s = app.listen(3000, '127.0.0.1', () => console.log('listening on 3000'));
process.on('SIGTERM', () => { console.log('SIGTERM received, closing'); s.close(() => { console.log('closed, bye'); process.exit(0); }); });
END
ask() { for p in "$@"; do quiet curl -s -m 4 http://127.0.0.1:3000$p; done; }
start node index.js; up 3000; ask / /nope /favicon.ico /error.html /; stop
excerpt express_traffic healthy "Express with morgan: traffic with 404s, graceful stop"
start node index.js; up 3000; ask / /boom /
excerpt express_exception "LOG_ERROR" "Express: a route throws"
cat >index.js <<'END'
const log = require('pino')({ base: undefined });
const Redis = require('ioredis');
log.info({ errors: 0, failed: 0 }, 'warm-up finished');
const r = new Redis({ host: 'cache', retryStrategy: n => n < 4 ? 100 : null, maxRetriesPerRequest: 1 });
r.on('error', err => log.error({ err }, 'cache'));
r.on('end', () => { log.fatal('cache gave up'); process.exit(1); });
END
run node index.js
excerpt pino_redis_refused "NETWORK_ERROR net:refused LOG_ERROR" "pino: redis does not listen"
cat >index.js <<'END'
const log = require('pino')();
log.info({ port: 3000 }, 'server started');
for (let i = 0; i < 6; i++) log.info({ req: { id: i, method: 'GET', url: '/orders?status=failed' }, res: { statusCode: i % 3 ? 200 : 404 }, err: null, responseTime: 3 + i }, 'request completed');
log.debug('not shown'); log.warn({ deprecated: true }, 'option "onError" is deprecated'); log.info({ errorCount: 0 }, 'flush');
END
run node index.js
excerpt pino_requests healthy "pino: requests, fields named err and errorCount"
cat >index.js <<'END'
const { createLogger, format, transports } = require('winston');
const log = createLogger({ format: format.combine(format.timestamp(), format.errors({ stack: true }), format.json()), transports: [new transports.Console()] });
log.info('job queue connected', { host: 'queue', retries: 0 });
log.info('no errors since last run'); log.verbose('x');
if (process.argv[2]) { const { Client } = require('pg'); new Client({ host: 'db', user: 'app' }).connect().catch(e => { log.error(e); process.exit(1); }); }
else { log.warn('slow template cache, 12 ms'); log.info('error pages loaded: 404, 500'); }
END
run node index.js; run node index.js
excerpt winston_ok healthy "winston JSON: start messages that speak of errors"
run node index.js db
excerpt winston_pg_refused "NETWORK_ERROR net:refused LOG_ERROR" "winston JSON: the database does not listen"
cat >index.js <<'END'
const log = require('bunyan').createLogger({ name: 'mailer', hostname: 'app' });
log.info({ pool: 5 }, 'started'); log.info({ failed: 0, sent: 12 }, 'batch sent');
if (process.argv[2]) { const c = require('net').connect(25, 'remote'); c.on('error', err => { log.error({ err }, 'smtp connection failed'); process.exit(1); }); }
else { for (let i = 0; i < 5; i++) log.info({ failed: 0, sent: i }, 'batch sent'); log.warn('3 addresses look unusual'); log.info('shutting down, no errors'); }
END
run node index.js
excerpt bunyan_ok healthy "bunyan: failed: 0"
run node index.js x
excerpt bunyan_unreachable "NETWORK_ERROR net:unreachable LOG_ERROR" "bunyan: no route to the mail server"
cat >index.js <<'END'
const l4 = require('log4js'); l4.configure({ appenders: { o: { type: 'stdout', layout: { type: 'basic' } } }, categories: { default: { appenders: ['o'], level: 'info' } } });
const log = l4.getLogger('queue'); log.info('starting, error handler installed'); log.info('0 failed jobs found');
if (process.argv[2]) require('amqplib').connect('amqp://app:example@queue').catch(e => { log.fatal('broker:', e); l4.shutdown(() => process.exit(1)); });
else { log.info('consumed 40 messages, 0 rejected'); log.warn('prefetch is 1, throughput will be low'); log.info('stopped'); }
END
run node index.js
excerpt log4js_ok healthy "log4js: 0 failed jobs"
run node index.js x
excerpt log4js_amqp_refused "NETWORK_ERROR net:refused LOG_ERROR" "log4js: the broker does not listen"
cat >index.js <<'END'
const f = require('fastify')({ logger: true });
f.get('/', async () => ({ ok: true })); f.get('/teapot', async (q, r) => { r.code(418); return { error: 'teapot' }; }); f.get('/boom', async () => { throw new Error('ledger is out of balance'); });
f.listen({ port: 3000 });
process.on('SIGTERM', () => f.close());
END
start node index.js; up 3000; ask / /teapot /nope / ; stop
excerpt fastify_traffic healthy "Fastify: traffic with client errors, stop"
start node index.js; up 3000; ask / /boom
excerpt fastify_exception "LOG_ERROR" "Fastify: a route throws"
cat >index.js <<'END'
const { Kafka } = require('kafkajs');
new Kafka({ clientId: 'app', brokers: ['queue:9092'], retry: { retries: 2, initialRetryTime: 50 } }).producer().connect().catch(e => { console.error(e.name + ': ' + e.message); process.exit(1); });
END
run node index.js
excerpt kafkajs_refused "NETWORK_ERROR net:refused LOG_ERROR" "kafkajs: the broker does not listen"
cat >index.js <<'END'
const { MongoClient } = require('mongodb');
console.log('Connecting to MongoDB…');
MongoClient.connect('mongodb://db:27017/shop', { serverSelectionTimeoutMS: 1200 });
END
run node index.js
excerpt mongodb_refused "NETWORK_ERROR net:refused LOG_ERROR" "mongodb driver: the server does not listen"
cat >index.js <<'END'
const express = require('express'), app = express(), proxy = require('http-proxy').createProxyServer({});
proxy.on('error', (e, q, r) => { console.error(`[HPM] Error occurred while proxying request ${q.headers.host}${q.url} to http://api:9000/ [${e.code}]`); r.writeHead(502); r.end(); });
app.use((q, r) => proxy.web(q, r, { target: 'http://api:9000' })); app.listen(3000, () => console.log('proxy ready'));
END
start node index.js; up 3000; ask /a /b
excerpt proxy_refused "NETWORK_ERROR net:refused LOG_ERROR" "a proxy whose target does not listen"
echo '{"name":"app","version":"1.0.0","scripts":{"start":"node server.js","build":"webpack --mode production"}}' >package.json
run npm start
excerpt npm_start_missing "missing_dependency LOG_ERROR" "npm start: the program's file is not there"
run npm run build
excerpt npm_command_missing "missing_dependency LOG_ERROR" "npm run: a command that is not installed"
run node --no-such-option index.js
excerpt bad_option "config_error LOG_ERROR" "an option that node does not know"
