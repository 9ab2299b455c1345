//! The one gate: every call of every door runs here, in the order that is the security model.
//!
//! 1 to 5 (`admit`): parse and repair, dedupe, cap, control guard, look up and validate.
//! 6 to 9 (a task for each call): decide and park (`decide`), wait for its turn (`schedule`),
//! record (`record`), run (`run`, with the questions of `question`), bound the result (`govern`),
//! record. 10 (`respond`): one response a call, in call order. Beside them `tickets` decides about
//! what waits, and `observe` tells others.

mod admit;
pub(crate) mod batch;
mod decide;
mod executor;
mod govern;
mod observe;
mod question;
mod record;
mod respond;
mod run;
mod schedule;
mod tickets;

pub use batch::options::{Audience, BatchOptions, MissingToolExplainer};
pub use decide::trial::CallTrial;
pub use executor::Executor;
pub use tickets::redeem::Redemption;
