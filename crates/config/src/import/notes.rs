//! What has to be done or known about a file that was taken.

use serde::Serialize;

/// Something that the new file cannot say by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportNote {
    /// The source that it is about, by its new name.
    pub source: Option<String>,
    pub text: String,
    /// A variable of the environment that has to be set.
    pub export: Option<String>,
}

/// Collects notes while one source after the other is read.
#[derive(Debug, Default)]
pub(super) struct ImportNotes {
    pub(super) source: Option<String>,
    pub(super) list: Vec<ImportNote>,
}

impl ImportNotes {
    pub(super) fn add(&mut self, text: impl Into<String>) {
        let source = self.source.clone();
        self.list.push(ImportNote { source, text: text.into(), export: None });
    }

    pub(super) fn export(&mut self, variable: &str, text: impl Into<String>) {
        let export = Some(variable.to_owned());
        self.list.push(ImportNote { source: self.source.clone(), text: text.into(), export });
    }
}
