-- Who approved it; both NULL of a call that came without a ticket.
ALTER TABLE calls ADD COLUMN decided_by_tenant TEXT;
ALTER TABLE calls ADD COLUMN decided_by_subject TEXT;
