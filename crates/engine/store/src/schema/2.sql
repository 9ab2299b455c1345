-- What was tried, as a list of JSON; NULL where nobody wrote it down.
ALTER TABLE calls ADD COLUMN attempts TEXT;
-- When an answer that came too late gave a call its end after all.
ALTER TABLE calls ADD COLUMN resolved INTEGER;
-- A call like one of these is held back for a while.
CREATE INDEX calls_unknown ON calls (tenant, subject, tool, arguments, ended)
    WHERE ending = 'unknown';
CREATE INDEX results_of_caller ON results (tenant, subject, expires);
