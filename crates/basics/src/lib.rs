//! Harmless tools for trying things out: time, arithmetic, text, identifiers, JSON queries.
