-- The replicas that share a record. One that is alone has the number 0, and no row here.
CREATE TABLE replicas (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Nobody else's: a number is given again where a database went back in time.
    name text NOT NULL,
    version text NOT NULL,
    address text,
    -- The digest of the secret that all replicas have.
    secret text NOT NULL,
    -- `live`; `dead`: nothing is begun under it any more, and what it had is put in order; `over`.
    state text NOT NULL DEFAULT 'live',
    started timestamptz NOT NULL DEFAULT clock_timestamp(),
    lease_until timestamptz NOT NULL,
    beat bigint NOT NULL DEFAULT 0,
    said jsonb NOT NULL
);
CREATE INDEX replicas_not_over ON replicas (id) WHERE state <> 'over';
-- How many groups each has written: apart from its lease, which is renewed while it writes.
CREATE TABLE replica_groups (
    replica bigint PRIMARY KEY,
    groups bigint NOT NULL
);

ALTER TABLE calls ADD COLUMN owner bigint NOT NULL DEFAULT 0;
ALTER TABLE keys ADD COLUMN owner bigint NOT NULL DEFAULT 0;
ALTER TABLE tickets ADD COLUMN claimed_by bigint NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN owner bigint NOT NULL DEFAULT 0;
DROP INDEX calls_running;
CREATE INDEX calls_running ON calls (owner, seq) WHERE ending IS NULL;
DROP INDEX keys_running;
CREATE INDEX keys_running ON keys (owner, seq) WHERE state = 'running';
DROP INDEX tickets_claimed;
CREATE INDEX tickets_claimed ON tickets (claimed_by, seq) WHERE claimed IS NOT NULL;
