-- Those that did not succeed are the few that somebody looks for: of one caller, and of all.
CREATE INDEX calls_otherwise_of_caller ON calls (tenant, subject, ending, seq)
    WHERE ending <> 'succeeded';
CREATE INDEX calls_otherwise ON calls (ending, seq) WHERE ending <> 'succeeded';
