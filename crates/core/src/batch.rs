//! The one gate: every call of every door runs here, in the order that is the security model.
//!
//! 1 to 5 (`admit`): parse and repair, dedupe, cap, control guard, look up and validate.
//! 6 to 9 (`run_one`, a task for each call): decide, park, wait for its turn, record, run, govern,
//! record. 10 (`answer`): one response a call, in call order.

mod admit;
mod answer;
mod answered;
mod asked;
mod asking;
mod attempt;
mod bounds;
mod consent;
mod decide;
mod ended;
mod executor;
mod form;
mod going_on;
mod govern;
mod inquire;
mod late;
mod leash;
mod once;
pub(crate) mod options;
mod order;
mod plainly;
mod preview;
mod read;
mod reader;
mod record;
mod recorded;
mod redeem;
mod run;
mod run_one;
mod shared;
mod standing;
mod tickets;
mod turn;
mod undeclared;
mod verify;
mod watch;
mod within;
mod witnessed;

pub use executor::Executor;
pub use options::{Audience, BatchOptions, Missing};
pub use redeem::Redemption;
