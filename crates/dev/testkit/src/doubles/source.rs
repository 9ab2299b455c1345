//! A source that a test plays: each load gives the next answer of the script.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use toolcrib_core::{BoxFuture, Source, SourceError, Toolset};

/// After a pause, a list or a failure.
type ScriptedAnswer = (Duration, Result<Toolset, String>);

/// Shared with the crib by cloning.
#[derive(Clone, Default)]
pub struct ScriptedSource {
    script: Arc<Mutex<VecDeque<ScriptedAnswer>>>,
    changed: Arc<Notify>,
}

impl ScriptedSource {
    /// The next load answers so after a pause; the last answer of a script stays.
    #[must_use]
    pub fn then(self, pause: Duration, answer: Result<Toolset, &str>) -> Self {
        let answer = answer.map_err(str::to_owned);
        self.script.lock().unwrap_or_else(PoisonError::into_inner).push_back((pause, answer));
        self
    }

    /// Says that the list is another one now.
    pub fn change(&self) {
        self.changed.notify_one();
    }

    fn next(&self) -> ScriptedAnswer {
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        let next = if script.len() > 1 { script.pop_front() } else { script.front().cloned() };
        next.unwrap_or_else(|| (Duration::ZERO, Err("the script is empty".to_owned())))
    }
}

impl Source for ScriptedSource {
    fn load(&self) -> BoxFuture<'_, Result<Toolset, SourceError>> {
        Box::pin(async {
            let (pause, answer) = self.next();
            tokio::time::sleep(pause).await;
            answer.map_err(|error| SourceError::new(error).because("the scripted fault"))
        })
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.changed.notified())
    }
}
