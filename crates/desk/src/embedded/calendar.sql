-- Calendars, events, lists and tasks.
CREATE TABLE calendar_unused (id INTEGER);
