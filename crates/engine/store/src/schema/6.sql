-- Who said how it ended; both NULL where an answer told it, or nobody.
ALTER TABLE calls ADD COLUMN resolved_by_tenant TEXT;
ALTER TABLE calls ADD COLUMN resolved_by_subject TEXT;
