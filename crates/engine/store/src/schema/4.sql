-- Whether it may have been sent: a call that only waited for its turn was not.
ALTER TABLE calls ADD COLUMN dispatched INTEGER NOT NULL DEFAULT 1;
-- Whether something under a key may outlive the process: of one where nothing does, nothing ran.
ALTER TABLE keys ADD COLUMN bound INTEGER NOT NULL DEFAULT 1;
-- A call that was claimed, until it may have been sent or a person's no is on record: the process may
-- end before that, and then it waits again.
ALTER TABLE tickets ADD COLUMN claimed TEXT;
ALTER TABLE tickets ADD COLUMN claimed_arguments TEXT;
CREATE INDEX tickets_claimed ON tickets (seq) WHERE claimed IS NOT NULL;
