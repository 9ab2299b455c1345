-- What a door keeps beside a run, each under a name.
CREATE TABLE run_notes (
    run INTEGER NOT NULL,
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;
