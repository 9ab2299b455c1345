-- Sessions of clients, for the process that takes them up. What the columns mean stands with those
-- of SQLite. The moments of `expires` are of the clock of the database.
CREATE TABLE client_sessions (
    name text COLLATE "C" PRIMARY KEY,
    tenant text NOT NULL,
    subject text NOT NULL,
    profile text,
    greeting text NOT NULL,
    began bigint NOT NULL,
    expires bigint NOT NULL,
    ended boolean NOT NULL DEFAULT false
);
CREATE INDEX client_sessions_of_caller ON client_sessions (tenant, subject, expires)
    WHERE NOT ended;
CREATE INDEX client_sessions_expired ON client_sessions (expires);
CREATE INDEX client_sessions_ended ON client_sessions (expires) WHERE ended;
