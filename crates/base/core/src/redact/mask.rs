//! The secrets of one source, taken out of whatever that source says.

use std::borrow::Cow;
use std::sync::Arc;

use super::learned_secrets::Secrets;
use super::redactor::Redactor;
use crate::call::host::{HostQuestion, LogEntry, Progress};
use crate::outcome::{ToolError, ToolOutcome};

/// The secrets that a source was given, and what came to be one since. Cheap to clone.
#[derive(Clone)]
pub struct Mask {
    given: Arc<Redactor>,
    learned: Secrets,
}

impl Mask {
    pub fn new(given: Redactor, learned: Secrets) -> Self {
        Self { given: Arc::new(given), learned }
    }

    /// Those that were learned first: one may hold another, and would not be known without it.
    pub fn each(&self, mut mask: impl FnMut(&Redactor)) {
        mask(&self.learned.redactor());
        mask(&self.given);
    }

    pub fn text(&self, text: &str) -> String {
        let mut masked = Cow::Borrowed(text);
        self.each(|redactor| {
            if let Cow::Owned(text) = redactor.text(&masked) {
                masked = Cow::Owned(text);
            }
        });
        masked.into_owned()
    }

    pub(crate) fn outcome(&self, outcome: &mut ToolOutcome) {
        self.each(|redactor| match outcome {
            ToolOutcome::Done(said) => redactor.content(said),
            ToolOutcome::Failed(error) => redactor.error(error),
            ToolOutcome::Pending(_) | ToolOutcome::Denied { .. } => {}
        });
    }

    pub(crate) fn error(&self, error: &mut ToolError) {
        self.each(|redactor| redactor.error(error));
    }

    pub(crate) fn ask(&self, ask: &mut HostQuestion) {
        let HostQuestion { params, name, besides, around, .. } = ask;
        if let Some(name) = name {
            *name = self.text(name);
        }
        self.each(|redactor| {
            redactor.value(params);
            redactor.fields(besides);
            redactor.fields(Arc::make_mut(around));
        });
    }

    pub(crate) fn progress(&self, progress: &mut Progress) {
        if let Some(message) = &mut progress.message {
            *message = self.text(message);
        }
    }

    pub(crate) fn log(&self, entry: &mut LogEntry) {
        if let Some(logger) = &mut entry.logger {
            *logger = self.text(logger);
        }
        self.each(|redactor| redactor.value(&mut entry.data));
    }
}
