//! The tools of a source in groups of a size that a model can look over.
//!
//! Read in this order: [`ToolsetGrouping`] (what is wished), `facts` (what a tool says of itself),
//! `groups` (which group each tool is in), `parts` (how a group that is too large is split), `splits` (what a model is
//! asked about such a group) and `answer` (what it says),
//! `wording` (what groups are called), `ids`; beside them [`toolsets()`] (what a caller may know).
//!
//! What must stay true: every tool is in exactly one group; the same tools give the same groups,
//! in whatever order they come; and a group keeps its id while other tools and other sources come
//! and go, since an id is made of what its own tools have in common.

mod answer;
mod facts;
mod groups;
mod ids;
mod listing;
mod parts;
mod settings;
mod splits;
mod wording;

pub use answer::{SplitGroup, SplitOutcome};
pub use groups::in_groups;
pub use listing::{ListedTool, ListedToolset, ToolsetListing, ToolsetOverlap, maker, toolsets};
pub use settings::{ToolsetBy, ToolsetGrouping, ToolsetSplit};
pub use splits::{SharedSplits, SplitQuestion, ToolsetSplits};
