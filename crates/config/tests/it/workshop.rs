//! A process around a file: an environment, real files, and sources that count.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;
use toolcrib_config::{Config, SecretLookup, SourceFactory};
use toolcrib_core::{
    BoxFuture, Content, Effect, Source, SourceError, ToolOutcome, Toolset, raw_tool,
};
use toolcrib_mcp::{McpSourceSettings, McpTransport};
use toolcrib_openapi::ApiSettings;
use toolcrib_testkit::spec;

/// Shared by cloning.
#[derive(Clone, Default)]
pub(crate) struct Workshop {
    environment: Arc<Mutex<HashMap<String, String>>>,
    /// Every source that was made, by its name.
    made: Arc<Mutex<Vec<Made>>>,
}

/// A source and its name.
type Made = (String, Arc<Counting>);

/// A source with a tool that waits for leave.
pub(crate) struct Counting {
    pub(crate) loads: AtomicUsize,
    pub(crate) changed: Notify,
    pub(crate) leave: Arc<Notify>,
    pub(crate) started: Arc<Notify>,
    long: bool,
}

pub(crate) fn config(text: &str) -> Config {
    let read = Config::read(text, "crib.toml");
    assert_eq!(read.problems, vec![]);
    read.config.unwrap()
}

impl Workshop {
    pub(crate) fn set(&self, name: &str, value: &str) {
        self.environment.lock().unwrap().insert(name.to_owned(), value.to_owned());
    }

    /// The names of the sources that were made, in that order.
    pub(crate) fn made(&self) -> Vec<String> {
        self.made.lock().unwrap().iter().map(|(id, _)| id.clone()).collect()
    }

    /// The last source of a name.
    pub(crate) fn last(&self, id: &str) -> Arc<Counting> {
        let made = self.made.lock().unwrap();
        Arc::clone(&made.iter().rfind(|(made, _)| made == id).unwrap().1)
    }

    fn make(&self, id: &str, long: bool) -> Arc<dyn Source> {
        let source = Arc::new(Counting {
            loads: AtomicUsize::new(0),
            changed: Notify::new(),
            leave: Arc::default(),
            started: Arc::default(),
            long,
        });
        self.made.lock().unwrap().push((id.to_owned(), Arc::clone(&source)));
        source
    }
}

impl SourceFactory for Workshop {
    fn mcp(&self, id: &str, settings: McpSourceSettings) -> Arc<dyn Source> {
        let is_long = |command: &Path| command.as_os_str() == "long";
        self.make(id, matches!(settings.transport, McpTransport::Stdio(s) if is_long(&s.command)))
    }

    fn api(&self, id: &str, _: ApiSettings) -> Arc<dyn Source> {
        self.make(id, false)
    }
}

impl SecretLookup for Workshop {
    fn env(&self, name: &str) -> Option<String> {
        self.environment.lock().unwrap().get(name).cloned()
    }

    fn file(&self, path: &Path) -> io::Result<String> {
        std::fs::read_to_string(path)
    }

    fn is_open_to_others(&self, path: &Path) -> bool {
        path.ends_with("open.key")
    }
}

impl Source for Counting {
    fn load(&self) -> BoxFuture<'_, Result<Toolset, SourceError>> {
        Box::pin(async {
            let loads = self.loads.fetch_add(1, Ordering::SeqCst) + 1;
            // Long enough for a change to come between.
            tokio::time::sleep(Duration::from_millis(5)).await;
            let (leave, started) = (Arc::clone(&self.leave), Arc::clone(&self.started));
            let wait = raw_tool(spec("wait", Effect::Read), move |_, _| {
                let (leave, started) = (Arc::clone(&leave), Arc::clone(&started));
                async move {
                    started.notify_one();
                    leave.notified().await;
                    ToolOutcome::Done(Content::text("left"))
                }
            });
            let echo = raw_tool(spec("echo", Effect::Read), move |_, _| async move {
                ToolOutcome::Done(Content::text(format!("load {loads}")))
            });
            let long = "n".repeat(if self.long { 126 } else { 3 });
            let long = raw_tool(spec(&long, Effect::Read), |_, _| async {
                ToolOutcome::Done(Content::text("x"))
            });
            Toolset::of([wait, echo, long]).map_err(|error| SourceError::new("no").because(error))
        })
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.changed.notified())
    }
}
