//! The seam to the crates that own sources: settings in, a source out.

use std::sync::{Arc, LazyLock};

use toolcrib_a2a_client::A2aSettings;
use toolcrib_core::{BoxFuture, Secrets, Source, SourceError, Toolset};
use toolcrib_engine::toolsets::ToolsetSplits;
use toolcrib_mcp::McpSourceSettings;
use toolcrib_openapi::ApiSettings;

use crate::settings::{DeskSettings, SourceSettings};
use crate::source::builtin;
use crate::source::handle::SourceHandle;

/// The tools that are built in; making them takes a while.
pub(crate) static BASICS: LazyLock<Toolset> = LazyLock::new(toolcrib_basics::tools);

/// Makes the sources that reach out of the process. Nothing is started before the first `load`.
pub trait SourceFactory: Send + Sync {
    fn mcp(&self, id: &str, settings: McpSourceSettings) -> Arc<dyn Source>;
    fn api(&self, id: &str, settings: ApiSettings) -> Arc<dyn Source>;

    /// A host that reaches no agents has a source that says so.
    fn agent(&self, id: &str, settings: A2aSettings) -> Arc<dyn Source> {
        let _ = (id, settings);
        Arc::new(FailingSource("this program reaches no agents".to_owned()))
    }

    /// A host without a place for one has a source that says so.
    fn desk(&self, id: &str, settings: DeskSettings) -> Arc<dyn Source> {
        let _ = (id, settings);
        Arc::new(FailingSource("this program has no desk".to_owned()))
    }

    /// Where its sources ask a model how to split their toolsets, always the same; `None`: nobody
    /// asks one, and they are split without.
    fn splits(&self) -> Option<Arc<ToolsetSplits>> {
        None
    }

    /// What stands behind a source of this name now, where the factory knows.
    fn handle(&self, id: &str) -> Option<SourceHandle> {
        let _ = id;
        None
    }

    /// What its sources learn of secrets while they run; what was one in a file before is kept
    /// there too.
    fn learned(&self) -> Secrets {
        Secrets::default()
    }
}

/// The source of resolved settings.
pub(crate) fn make(
    id: &str,
    settings: &SourceSettings,
    maker: &dyn SourceFactory,
) -> Arc<dyn Source> {
    match settings {
        SourceSettings::Mcp(server) => maker.mcp(id, McpSourceSettings::clone(server)),
        SourceSettings::OpenApi(api) => maker.api(id, ApiSettings::clone(api)),
        SourceSettings::A2a(agent) => maker.agent(id, A2aSettings::clone(agent)),
        SourceSettings::Desk(desk) => maker.desk(id, DeskSettings::clone(desk)),
        SourceSettings::Builtin(specs) => match builtin::tools(specs) {
            Ok(tools) => Arc::new(tools),
            Err(error) => Arc::new(FailingSource(error.to_string())),
        },
        SourceSettings::Basics(names) => {
            let is_named = |name: &str| names.iter().any(|named| named == name);
            Arc::new(BASICS.filter(|spec| is_named(spec.name.as_str())))
        }
    }
}

/// A source that cannot be made: it is there, so that the operator sees why it gives no tools.
pub(crate) struct FailingSource(pub(crate) String);

impl Source for FailingSource {
    fn load(&self) -> BoxFuture<'_, Result<Toolset, SourceError>> {
        Box::pin(std::future::ready(Err(SourceError::new(self.0.clone()))))
    }
}
