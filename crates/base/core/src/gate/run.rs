//! Step 8: a call runs, with its attempts, its deadline, and what may still come after it.
pub(crate) mod attempt;
pub(crate) mod late_answer;
pub(crate) mod lookup;
pub(crate) mod redaction;
pub(crate) mod spawn_on_drop;
pub(crate) mod supervise;
pub(crate) mod timeout;
