//! Who decides how a plan is shown.

use super::presentation::{MetaTools, Presentation};
use super::tools::Plan;
use crate::catalog::Catalog;
use crate::tool::spec::ToolSpec;

/// Decides how a plan is shown. It cannot make a tool visible: it is asked about those that are.
pub trait Presenter: Send + Sync {
    /// How the plan is shown, by the places of the tools that are visible.
    fn shown(&self, catalog: &Catalog, visible: &mut dyn Iterator<Item = usize>) -> Presentation;

    /// Whether a tool belongs to the core.
    fn is_core(&self, tool: &ToolSpec) -> bool;

    /// What stands beside the tools of the catalog; asked once a plan, when all else is decided.
    fn meta_tools(&self, plan: &Plan) -> MetaTools;

    /// Which way of showing this is, of all that there are for a snapshot, if it shows what is the
    /// same in the same way each time. `None`: it may not.
    fn way(&self) -> Option<u64> {
        None
    }
}

/// Everything in full, and nothing beside it.
pub(super) struct ShowAll;

impl Presenter for ShowAll {
    fn shown(&self, _: &Catalog, _: &mut dyn Iterator<Item = usize>) -> Presentation {
        Presentation::default()
    }

    fn is_core(&self, _: &ToolSpec) -> bool {
        true
    }

    fn meta_tools(&self, _: &Plan) -> MetaTools {
        MetaTools::default()
    }

    fn way(&self) -> Option<u64> {
        Some(0)
    }
}
