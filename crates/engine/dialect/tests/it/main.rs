//! The dialects through their public door.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "helpers of tests may fail loudly, tell what they counted, and be told by the environment"
)]

mod calls;
mod checked;
mod checker;
mod choice;
mod corpora;
mod cut;
mod fixture;
mod golden;
mod hosted;
mod names;
mod round_trip;
mod schemas;
mod sdk;
mod streams;
