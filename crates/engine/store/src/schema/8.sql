-- Runs of agents. `number` grows, and none is given twice: a page goes on behind one.
CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    subject TEXT NOT NULL,
    thread TEXT NOT NULL,
    previous TEXT,
    agent TEXT NOT NULL,
    profile TEXT,
    -- `running`, `waiting`, `ended`.
    stage TEXT NOT NULL,
    created INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    -- How many of each were written.
    steps INTEGER NOT NULL,
    items INTEGER NOT NULL,
    events INTEGER NOT NULL,
    -- The caller with scopes, and the tickets that it waits for, as JSON.
    caller TEXT NOT NULL,
    tickets TEXT NOT NULL,
    -- These may be long, and stand last so that a list need not read over them.
    request TEXT NOT NULL,
    state TEXT NOT NULL
) STRICT;
-- A thread has one writer.
CREATE UNIQUE INDEX runs_open ON runs (tenant, subject, thread) WHERE stage <> 'ended';
CREATE INDEX runs_of_caller ON runs (tenant, subject, number);
CREATE INDEX runs_of_thread ON runs (tenant, subject, thread, number);
-- Those that may be removed: the first to have ended, and the first to have begun.
CREATE INDEX runs_ended ON runs (changed) WHERE stage = 'ended';
CREATE INDEX runs_ended_begun ON runs (number) WHERE stage = 'ended';

-- What stands in the threads of a tenant, once for equal text.
CREATE TABLE run_contents (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    -- SHA-256 of the text.
    hash BLOB NOT NULL,
    -- JSON, as it came.
    text TEXT NOT NULL,
    UNIQUE (tenant, hash)
) STRICT;
CREATE TABLE run_items (
    run INTEGER NOT NULL,
    place INTEGER NOT NULL,
    content INTEGER NOT NULL,
    PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_items_of_content ON run_items (content);
CREATE TABLE run_events (
    run INTEGER NOT NULL,
    number INTEGER NOT NULL,
    -- JSON, as it came.
    event TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT;
