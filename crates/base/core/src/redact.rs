//! Takes secrets out of what leaves: results, errors, questions, records.

mod forms;
mod learned_secrets;
mod mask;
mod prefilter;
mod redactor;
pub(crate) mod secret;
mod view;

pub use learned_secrets::Secrets;
pub use mask::Mask;
pub use redactor::Redactor;
