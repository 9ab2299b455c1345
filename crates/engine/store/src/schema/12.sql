-- Sessions of clients, for the process that takes them up.
CREATE TABLE client_sessions (
    -- A digest of the name that its client has: nobody can enter it by this one.
    name TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    subject TEXT NOT NULL,
    profile TEXT,
    -- What is known of its client, in the words of the door.
    greeting TEXT NOT NULL,
    began INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    -- Its client ended it. Whoever has it in memory learns that while the row is there.
    ended INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX client_sessions_of_caller ON client_sessions (tenant, subject, expires)
    WHERE NOT ended;
CREATE INDEX client_sessions_expired ON client_sessions (expires);
CREATE INDEX client_sessions_ended ON client_sessions (expires) WHERE ended;
