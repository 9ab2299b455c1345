-- Mail: each message once, whatever labels it has. An id is never used again.
CREATE TABLE mail_message (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL,
    -- Its `Message-ID`, or the digest of its bytes: what an import knows it by.
    fingerprint TEXT NOT NULL,
    thread INTEGER NOT NULL,
    -- Its subject without `Re:`, in lower case.
    topic TEXT NOT NULL,
    -- Microseconds since 1970.
    date INTEGER NOT NULL,
    -- `received`, `sent` or `draft`: where it belongs when it is taken out of the trash.
    origin TEXT NOT NULL,
    unread INTEGER NOT NULL,
    attachments INTEGER NOT NULL,
    -- From, to, subject and snippet as JSON.
    head TEXT NOT NULL,
    -- The message as it travels; last, since lists do not read it.
    raw BLOB NOT NULL
) STRICT;
CREATE INDEX mail_by_date ON mail_message (owner, date, id);
CREATE UNIQUE INDEX mail_by_fingerprint ON mail_message (owner, fingerprint);
CREATE INDEX mail_by_thread ON mail_message (owner, thread);
CREATE INDEX mail_by_topic ON mail_message (owner, topic);

CREATE TABLE mail_label (
    message INTEGER NOT NULL REFERENCES mail_message (id) ON DELETE CASCADE,
    name TEXT NOT NULL COLLATE NOCASE,
    PRIMARY KEY (message, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_by_label ON mail_label (name, message);

-- Labels that owners made, also those on no message.
CREATE TABLE mail_own_label (
    owner TEXT NOT NULL,
    name TEXT NOT NULL COLLATE NOCASE,
    PRIMARY KEY (owner, name)
) STRICT, WITHOUT ROWID;

-- Which conversation a `Message-ID` belongs to, whether or not the message is here.
CREATE TABLE mail_thread (
    owner TEXT NOT NULL,
    message_id TEXT NOT NULL,
    thread INTEGER NOT NULL,
    PRIMARY KEY (owner, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_thread_by_thread ON mail_thread (owner, thread);

CREATE VIRTUAL TABLE mail_words USING fts5 (
    subject, text, sender, receivers,
    content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
