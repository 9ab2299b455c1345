-- Calendars and lists of tasks: `kind` is 0 for calendars and 1 for lists of tasks. The one that
-- was made first is where new objects go.
CREATE TABLE calendar_collections (
    place INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    kind INTEGER NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (owner, kind, id)
) STRICT;

-- Events and tasks, each with all its repetitions as one text of iCalendar. What stands beside the
-- text is made of it, to find it by: `first` and `last` are seconds since 1970 between which it
-- occurs, with a day to spare; `done` is 1 for a task that is not open; `words` is in lower case.
CREATE TABLE calendar_objects (
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    kind INTEGER NOT NULL,
    collection TEXT NOT NULL,
    uid TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    done INTEGER NOT NULL,
    words TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (owner, id),
    UNIQUE (owner, kind, uid),
    FOREIGN KEY (owner, kind, collection) REFERENCES calendar_collections (owner, kind, id)
) STRICT;

CREATE INDEX calendar_objects_by_time ON calendar_objects (owner, kind, last, first);
