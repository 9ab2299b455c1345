-- The run that another one works for, which drives it.
ALTER TABLE runs ADD COLUMN parent TEXT;
CREATE INDEX runs_of_parent ON runs (parent) WHERE parent IS NOT NULL;
