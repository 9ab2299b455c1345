-- One row for each call that passed the gate. `seq` grows.
CREATE TABLE calls (
    seq INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    call_id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    subject TEXT NOT NULL,
    tool TEXT NOT NULL,
    source TEXT NOT NULL,
    effect TEXT NOT NULL,
    -- SHA-256 of the tool's spec and of the arguments, in hexadecimal digits.
    fingerprint TEXT NOT NULL,
    arguments TEXT NOT NULL,
    -- Milliseconds since 1970, here and below.
    planned INTEGER NOT NULL,
    ended INTEGER,
    -- `succeeded`, `failed`, `not_executed`, `unknown`; NULL while it runs.
    ending TEXT,
    -- Why it failed.
    kind TEXT,
    -- Whether its end was not seen, because the process ended before it did.
    interrupted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX calls_of_caller ON calls (tenant, subject, seq);
CREATE INDEX calls_running ON calls (seq) WHERE ending IS NULL;

CREATE TABLE tickets (
    seq INTEGER PRIMARY KEY,
    ticket TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    subject TEXT NOT NULL,
    expires INTEGER NOT NULL,
    -- The call and its arguments as JSON; NULL once it was claimed.
    parked TEXT,
    arguments TEXT
) STRICT;
-- Those that have expired stay for a while and must not be counted one by one.
CREATE INDEX tickets_open ON tickets (expires, tenant) WHERE parked IS NOT NULL;
CREATE INDEX tickets_of_caller ON tickets (tenant, subject, expires) WHERE parked IS NOT NULL;
CREATE INDEX tickets_expired ON tickets (expires);

-- What a tenant keeps, once for equal content.
CREATE TABLE contents (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    -- SHA-256 of the bytes.
    hash BLOB NOT NULL,
    size INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (tenant, hash)
) STRICT;
CREATE INDEX contents_by_age ON contents (tenant, id, size);
CREATE INDEX contents_expired ON contents (expires);
CREATE TABLE results (
    handle TEXT PRIMARY KEY,
    content INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    subject TEXT NOT NULL,
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX results_of_content ON results (content);
CREATE INDEX results_expired ON results (expires);

-- Keys that a caller gave a call so that a repetition is known for one.
CREATE TABLE keys (
    seq INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    subject TEXT NOT NULL,
    tool TEXT NOT NULL,
    key TEXT NOT NULL,
    arguments TEXT NOT NULL,
    -- `running`, `ended`, `unknown`.
    state TEXT NOT NULL,
    response TEXT,
    expires INTEGER NOT NULL,
    UNIQUE (tenant, subject, tool, key)
) STRICT;
CREATE INDEX keys_running ON keys (seq) WHERE state = 'running';
CREATE INDEX keys_expired ON keys (expires);
