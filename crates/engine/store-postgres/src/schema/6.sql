-- Tasks of clients, for whoever is asked about one whose process is gone. `state` is what its client
-- is told. The moments of `expires` are of the clock of the database.
CREATE TABLE client_tasks (
    name text COLLATE "C" PRIMARY KEY,
    tenant text NOT NULL,
    subject text NOT NULL,
    profile text,
    state text NOT NULL,
    ended boolean NOT NULL,
    expires bigint NOT NULL
);
CREATE INDEX client_tasks_expired ON client_tasks (expires);
