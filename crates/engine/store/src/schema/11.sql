-- What a call that runs under the key left for a process that takes it up.
ALTER TABLE keys ADD COLUMN checkpoint TEXT;
