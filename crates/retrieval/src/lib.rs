//! How well tools are found, on labelled sets, beside plain searches in the same run.
//!
//! Read in this order: the sets (`set`), what they are asked of (`plain` and the search itself),
//! the figures (`figures`), abstention (`abstention`), what a model adds (`meaning`), size (`scale`),
//! and what is printed (`report`).

mod abstention;
mod figures;
mod meaning;
mod plain;
mod report;
mod scale;
mod set;

pub use abstention::{Abstention, abstention};
pub use figures::{Figures, Found, figures};
pub use meaning::Model;
pub use plain::{Bm25, Kind};
pub use report::{measure, of_set, table};
pub use scale::scale;
pub use set::{Question, SETS, Set, Tool, folder};

/// Why nothing could be measured.
pub type Fault = Box<dyn std::error::Error>;
