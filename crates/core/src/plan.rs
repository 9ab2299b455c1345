//! For one request: which tools are visible, which are forced, and why; pinned to one snapshot.

mod cache;
mod decide;
mod explanation;
mod guidance;
mod presentation;
mod presenter;
pub(crate) mod relay;
mod request;
mod similar_names;
mod tools;
mod visibility;
mod warning;

pub use explanation::Why;
pub use guidance::GuidanceText;
pub use presentation::{Beside, Discovery, Extra, Shown};
pub use presenter::Showing;
pub use request::{ChoiceScope, Request};
pub use tools::{Plan, PlannedTool};
pub use visibility::{Because, Exposure, Out, Standing};
pub use warning::{PlanError, Warning};
