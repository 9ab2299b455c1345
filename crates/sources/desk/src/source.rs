//! The desk as a source: which keepers there are, whose clock and zone it has, and so its tools.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use toolcrib_core::{BoxFuture, InvalidName, Source, SourceError, Tool, Toolset};

use crate::backend::{CalendarBackend, MailBackend, TasksBackend};
use crate::tools;

/// Tells what time it is.
pub type DeskClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What phrases of time are read by.
#[derive(Clone)]
pub struct DeskTimeSettings {
    /// Where the owners are: phrases are meant there and times are told there.
    pub zone: TimeZone,
    pub clock: DeskClock,
}

impl DeskTimeSettings {
    /// A zone by the clock of the system.
    pub fn new(zone: TimeZone) -> Self {
        Self { zone, clock: Arc::new(Timestamp::now) }
    }

    /// The same with another clock.
    #[must_use]
    pub fn clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }
}

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
