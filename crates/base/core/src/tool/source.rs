//! An owner of tools. What changes with time is a source.

use std::sync::Arc;

use super::source_error::SourceError;
use super::toolset::Toolset;
use crate::BoxFuture;
use crate::resource::resources::Resources;
use crate::tool::Tool;

/// Yields toolsets.
pub trait Source: Send + Sync {
    /// Loads everything the source has now. An empty set means that it has nothing; a source
    /// that cannot tell fails.
    fn load(&self) -> BoxFuture<'_, Result<Toolset, SourceError>>;

    /// Resolves when the source knows that a new `load` would say something else.
    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }

    /// Resolves when its owner says once more that the tools changed, though they are the same.
    fn change_announced(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    /// How the names of its tools begin, if that is known before they are loaded.
    fn name_prefix(&self) -> Option<&str> {
        None
    }

    /// The tool that a call of this name means where the source does not list it, and its owner may
    /// answer all the same. Of such a tool no more than its name is known.
    fn unlisted_tool(&self, _name: &str) -> Option<Arc<dyn Tool>> {
        None
    }

    /// What it offers beside tools; asked once, when the source joins a crib.
    fn library(&self) -> Option<Arc<dyn Resources>> {
        None
    }
}

/// A toolset that never changes is a source too.
impl Source for Toolset {
    fn load(&self) -> BoxFuture<'_, Result<Toolset, SourceError>> {
        Box::pin(std::future::ready(Ok(self.clone())))
    }
}
