-- Work that any replica may take. A row of work stands in `jobs` while it is ready, and in
-- `job_leases` while a replica has it, and never in both: whoever moves it locks its lane first.
CREATE SEQUENCE turns;
CREATE TABLE lanes (
    tenant text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    -- Of the payload: one that a replica does not know is left for a newer one.
    form integer NOT NULL,
    ready bigint NOT NULL DEFAULT 0,
    held bigint NOT NULL DEFAULT 0,
    -- When it was served last, in turns.
    turn bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, kind, form)
);
CREATE INDEX lanes_ready ON lanes (held, turn) WHERE ready > 0;
CREATE TABLE jobs (
    id bigint GENERATED ALWAYS AS IDENTITY,
    tenant text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    form integer NOT NULL,
    -- Of a run its id.
    payload text COLLATE "C" NOT NULL,
    since bigint NOT NULL,
    PRIMARY KEY (tenant, kind, form, id),
    UNIQUE (kind, payload)
);
CREATE INDEX jobs_oldest ON jobs (since);
CREATE TABLE job_leases (
    kind text COLLATE "C" NOT NULL,
    payload text COLLATE "C" NOT NULL,
    form integer NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    -- The replica with which it ends.
    owner bigint NOT NULL,
    -- Something happened meanwhile: it is ready again when it is given back.
    again boolean NOT NULL DEFAULT false,
    PRIMARY KEY (kind, payload)
);
CREATE INDEX job_leases_of_owner ON job_leases (owner);
-- What a run waits for: a ticket, or a moment alone, and until when at the latest.
CREATE TABLE run_waits (
    run text COLLATE "C" NOT NULL,
    ticket text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (run, ticket)
);
CREATE INDEX run_waits_of_ticket ON run_waits (ticket);
CREATE INDEX run_waits_at ON run_waits (at);
-- Rows that come and go by the thousand: what is dead of them would slow every claim.
ALTER TABLE lanes SET (autovacuum_vacuum_scale_factor = 0.01, fillfactor = 50);
ALTER TABLE jobs SET (autovacuum_vacuum_scale_factor = 0.01);
ALTER TABLE job_leases SET (autovacuum_vacuum_scale_factor = 0.01);
