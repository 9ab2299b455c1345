//! The desk as a source: which keepers there are, whose clock and zone it has, and so its tools.

use std::sync::Arc;

use toolcrib_core::{BoxFuture, InvalidName, Source, SourceError, Tool, Toolset};

use crate::backend::{CalendarBackend, MailBackend, TasksBackend};
use crate::time_settings::DeskTimeSettings;
use crate::tools;

/// What keeps what; tools of what nothing keeps are not there.
#[derive(Clone, Default)]
pub struct DeskBackends {
    pub calendar: Option<Arc<dyn CalendarBackend>>,
    pub tasks: Option<Arc<dyn TasksBackend>>,
    pub mail: Option<Arc<dyn MailBackend>>,
}

/// Calendar, tasks and mail as a source of tools. Whose they are is the tenant of the caller.
pub struct DeskToolSource {
    tools: Toolset,
}

impl DeskToolSource {
    #[expect(clippy::expect_used, reason = "names are constants, and a test gathers them all")]
    pub fn new(settings: DeskTimeSettings, backends: DeskBackends) -> Self {
        let tools = gather(&Arc::new(settings), backends).expect("the names of tools are valid");
        Self { tools: Toolset::of(tools).expect("the names of tools differ") }
    }

    /// Its tools as a value; they are always the same.
    pub fn tools(&self) -> &Toolset {
        &self.tools
    }
}

fn gather(
    settings: &Arc<DeskTimeSettings>,
    backends: DeskBackends,
) -> Result<Vec<Arc<dyn Tool>>, InvalidName> {
    let mut tools = Vec::new();
    if let Some(keeper) = backends.calendar {
        tools.extend(tools::calendar(keeper, settings)?);
    }
    if let Some(keeper) = backends.tasks {
        tools.extend(tools::tasks(keeper, settings)?);
    }
    if let Some(keeper) = backends.mail {
        tools.extend(tools::mail(keeper, settings)?);
    }
    Ok(tools)
}

impl Source for DeskToolSource {
    fn load(&self) -> BoxFuture<'_, Result<Toolset, SourceError>> {
        Box::pin(std::future::ready(Ok(self.tools.clone())))
    }
}
