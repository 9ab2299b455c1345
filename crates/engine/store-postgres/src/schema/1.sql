-- The tables of the record. What their columns mean stands with those of SQLite.
CREATE TABLE calls (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key text COLLATE "C" NOT NULL UNIQUE,
    call_id text NOT NULL,
    tenant text NOT NULL,
    subject text NOT NULL,
    tool text NOT NULL,
    source text NOT NULL,
    effect text NOT NULL,
    fingerprint text NOT NULL,
    arguments text NOT NULL,
    -- Milliseconds since 1970, here and below.
    planned bigint NOT NULL,
    ended bigint,
    ending text,
    kind text,
    interrupted boolean NOT NULL DEFAULT false,
    attempts text,
    resolved bigint,
    dispatched boolean NOT NULL DEFAULT true,
    decided_by_tenant text,
    decided_by_subject text,
    resolved_by_tenant text,
    resolved_by_subject text
);
CREATE INDEX calls_of_caller ON calls (tenant, subject, seq);
CREATE INDEX calls_running ON calls (seq) WHERE ending IS NULL;
CREATE INDEX calls_unknown ON calls (tenant, subject, tool, arguments, ended)
    WHERE ending = 'unknown';
CREATE INDEX calls_found ON calls (tenant, subject, tool, arguments, ended)
    WHERE ending = 'succeeded' AND resolved IS NOT NULL;
CREATE INDEX calls_otherwise_of_caller ON calls (tenant, subject, ending, seq)
    WHERE ending <> 'succeeded';
CREATE INDEX calls_otherwise ON calls (ending, seq) WHERE ending <> 'succeeded';

CREATE TABLE tickets (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ticket text NOT NULL UNIQUE,
    tenant text NOT NULL,
    subject text NOT NULL,
    expires bigint NOT NULL,
    parked text,
    arguments text,
    claimed text,
    claimed_arguments text
);
CREATE INDEX tickets_open ON tickets (expires, tenant) WHERE parked IS NOT NULL;
CREATE INDEX tickets_of_caller ON tickets (tenant, subject, expires) WHERE parked IS NOT NULL;
CREATE INDEX tickets_expired ON tickets (expires);
CREATE INDEX tickets_claimed ON tickets (seq) WHERE claimed IS NOT NULL;

CREATE TABLE contents (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    hash bytea NOT NULL,
    size bigint NOT NULL,
    expires bigint NOT NULL,
    bytes bytea NOT NULL,
    UNIQUE (tenant, hash)
);
CREATE INDEX contents_by_age ON contents (tenant, id, size);
CREATE INDEX contents_expired ON contents (expires);
CREATE TABLE results (
    handle text PRIMARY KEY,
    content bigint NOT NULL,
    tenant text NOT NULL,
    subject text NOT NULL,
    expires bigint NOT NULL
);
CREATE INDEX results_of_content ON results (content);
CREATE INDEX results_expired ON results (expires);
CREATE INDEX results_of_caller ON results (tenant, subject, expires);

CREATE TABLE keys (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    subject text NOT NULL,
    tool text NOT NULL,
    key text NOT NULL,
    arguments text NOT NULL,
    state text NOT NULL,
    response text,
    expires bigint NOT NULL,
    bound boolean NOT NULL,
    checkpoint text,
    UNIQUE (tenant, subject, tool, key)
);
CREATE INDEX keys_running ON keys (seq) WHERE state = 'running';
CREATE INDEX keys_expired ON keys (expires);

CREATE TABLE runs (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL UNIQUE,
    tenant text NOT NULL,
    subject text NOT NULL,
    thread text NOT NULL,
    previous text,
    agent text NOT NULL,
    profile text,
    stage text NOT NULL,
    created bigint NOT NULL,
    changed bigint NOT NULL,
    steps bigint NOT NULL,
    items bigint NOT NULL,
    events bigint NOT NULL,
    caller text NOT NULL,
    tickets text NOT NULL,
    request text NOT NULL,
    state text NOT NULL,
    parent text
);
CREATE UNIQUE INDEX runs_open ON runs (tenant, subject, thread) WHERE stage <> 'ended';
CREATE INDEX runs_of_caller ON runs (tenant, subject, number);
CREATE INDEX runs_of_thread ON runs (tenant, subject, thread, number);
CREATE INDEX runs_ended ON runs (changed) WHERE stage = 'ended';
CREATE INDEX runs_ended_begun ON runs (number) WHERE stage = 'ended';
CREATE INDEX runs_of_parent ON runs (parent) WHERE parent IS NOT NULL;

CREATE TABLE run_contents (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    hash bytea NOT NULL,
    text text NOT NULL,
    UNIQUE (tenant, hash)
);
CREATE TABLE run_items (
    run bigint NOT NULL,
    place bigint NOT NULL,
    content bigint NOT NULL,
    PRIMARY KEY (run, place)
);
CREATE INDEX run_items_of_content ON run_items (content);
CREATE TABLE run_events (
    run bigint NOT NULL,
    number bigint NOT NULL,
    event text NOT NULL,
    PRIMARY KEY (run, number)
);
CREATE TABLE run_notes (
    run bigint NOT NULL,
    name text NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (run, name)
);
