//! Catalogs, rules, pins and records: the rooms around the gate.
