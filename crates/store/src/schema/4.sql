-- Whether it may have been sent: a call that only waited for its turn was not.
ALTER TABLE calls ADD COLUMN dispatched INTEGER NOT NULL DEFAULT 1;
-- Whether something under a key may outlive the process: of one where nothing does, nothing ran.
ALTER TABLE keys ADD COLUMN bound INTEGER NOT NULL DEFAULT 1;
