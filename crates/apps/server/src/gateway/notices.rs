//! What a gateway has to say beside its answers, to whoever runs it.

use std::fmt::Display;
use std::sync::Arc;

use anyhow::Error;

use crate::secrets;

/// How much a word of a gateway matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeLevel {
    /// It is good to know.
    Info,
    /// Something is not as it should be, and the gateway goes on.
    Warning,
    /// Something that was asked for cannot be done.
    Error,
}

/// Tells them to somebody.
pub(crate) trait NoticeReporter: Send + Sync {
    fn note(&self, text: &str);
    fn warning(&self, text: &str);
    fn error(&self, error: &Error);
}

/// Where they go.
#[derive(Clone)]
pub(crate) struct Notices(Arc<dyn NoticeReporter>);

impl Notices {
    pub(crate) fn to(reporter: impl NoticeReporter + 'static) -> Self {
        Self(Arc::new(reporter))
    }

    pub(crate) fn note(&self, text: &str) {
        self.0.note(text);
    }

    pub(crate) fn warn(&self, warnings: &[impl Display]) {
        for warning in warnings {
            self.0.warning(&warning.to_string());
        }
    }

    pub(crate) fn error(&self, error: &Error) {
        self.0.error(error);
    }
}

/// A function of a program; what it is told holds no secret that is known.
pub(super) struct ReporterFunction<F>(pub(super) F);

impl<F: Fn(NoticeLevel, &str) + Send + Sync> NoticeReporter for ReporterFunction<F> {
    fn note(&self, text: &str) {
        (self.0)(NoticeLevel::Info, &secrets::masked(text));
    }

    fn warning(&self, text: &str) {
        (self.0)(NoticeLevel::Warning, &secrets::masked(text));
    }

    fn error(&self, error: &Error) {
        (self.0)(NoticeLevel::Error, &secrets::masked(&format!("{error:#}")));
    }
}

/// For whoever collects the events of the process, as the libraries below do.
pub(super) fn traced(level: NoticeLevel, text: &str) {
    match level {
        NoticeLevel::Info => tracing::info!(target: "toolcrib", "{text}"),
        NoticeLevel::Warning => tracing::warn!(target: "toolcrib", "{text}"),
        NoticeLevel::Error => tracing::error!(target: "toolcrib", "{text}"),
    }
}
