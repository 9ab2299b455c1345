//! Sources as an operator wants to have them: some of their tools, under a prefix, with changes,
//! and without the secrets that they were given.

mod masked;
mod masked_resources;
mod resource_view;
mod tool_override;
mod view;
mod view_settings;

pub use masked::masked;
pub use tool_override::{GuidanceOverride, ToolOverride};
pub use view::{SharedSource, SourceView};
pub use view_settings::{SourceViewSettings, wants};
