//! Takes secrets out of what leaves: results, errors, questions, records.

mod forms;
mod learned;
mod mask;
mod redactor;
mod sieve;
mod view;

pub use learned::Secrets;
pub use mask::Mask;
pub use redactor::Redactor;
