//! For one request: which tools are visible, which are forced, and why; pinned to one snapshot.

mod again;
mod beside;
mod decide;
mod guidance;
pub(crate) mod relay;
mod request;
mod showing;
mod standing;
mod tools;
mod warning;
mod why;

pub use beside::{Beside, Discovery, Extra, Shown};
pub use guidance::GuidanceText;
pub use request::{ChoiceScope, Request};
pub use showing::Showing;
pub use standing::{Because, Exposure, Out, Standing};
pub use tools::{Plan, PlannedTool};
pub use warning::{PlanError, Warning};
pub use why::Why;
