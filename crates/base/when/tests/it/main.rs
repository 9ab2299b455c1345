//! Times through the public door.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests may fail loudly, and be told by the environment to write tables"
)]

mod any;
mod document;
mod nights;
mod phrases;
mod recurrence;
