"""Values that people set as passwords and that are words all the same: to hide them would hide what is wrong."""

PLAIN_WORDS = (
    *("postgres", "admin", "root", "true", "5432", "false", "yes", "on", "off", "none", "null", "test", "dev", "prod"),
    *(
        "production",
        "staging",
        "development",
        "localhost",
        "changeme",
        "password",
        "secret",
        "guest",
        "user",
        "default",
    ),
    *("example", "mysql", "mariadb", "redis", "mongo", "rabbitmq", "minio", "3306", "6379", "8080", "443", "0", "1"),
    *("12345", "123456", "12345678", "debug", "info", "latest", "main", "web", "app", "db", "api", "worker", "backend"),
    *("Admin", "ROOT", "TRUE", "None", "utf8", "sha256", "HS256", "aes-256-gcm", "s3", "eu-west-1", "v1", "1.2.3"),
    *("127.0.0.1", "0.0.0.0", "10.0.0.5:5432", "30s", "64m", "my-app", "not_a_secret", "db.example.com", "python3"),
    *(
        "/run/secrets/db_password",
        "/var/lib/data",
        "http://localhost:8080",
        "https://example.com/",
        "xxxxxxxx",
        "admin123",
    ),
    *(
        "keycloak",
        "nextcloud",
        "wordpress",
        "grafana",
        "postgresql",
        "administrator",
        "authentication",
        "${DB_PASSWORD}",
    ),
)

ORDINARY_TEXTS = (
    "connected to postgres on db.example.com:5432 as admin",
    "level=info msg=listening addr=0.0.0.0:8080 tls=true",
    "root       1  0.0  0.1  /var/lib/data/main --default --debug",
    "using sha256, HS256 and aes-256-gcm; region eu-west-1, bucket s3, python3 1.2.3",
    "waiting 30s for rabbitmq and redis at 127.0.0.1, 64m left",
    "test dev prod production staging development user guest example secret changeme",
    "GET http://localhost:8080 /run/secrets/db_password not_a_secret my-app worker backend",
)
