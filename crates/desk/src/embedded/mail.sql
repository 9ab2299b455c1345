-- Mail.
CREATE TABLE mail_unused (id INTEGER);
