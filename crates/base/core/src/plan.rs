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

pub use explanation::ToolExplanation;
pub use guidance::GuidanceText;
pub use presentation::{Discovery, MetaTool, MetaTools, Presentation};
pub use presenter::Presenter;
pub use request::{ChoiceScope, HostedPlacement, PlanRequest};
pub use tools::{Plan, PlannedTool};
pub use visibility::{ExclusionReason, Exposure, InclusionReason, Visibility};
pub use warning::{PlanError, PlanWarning};
