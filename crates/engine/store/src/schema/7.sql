-- A call that took effect after all, which its caller was not told: one like it is held back too.
CREATE INDEX calls_found ON calls (tenant, subject, tool, arguments, ended)
    WHERE ending = 'succeeded' AND resolved IS NOT NULL;
