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
    /// Whether it is right as it stands, unless the reader knows better.
    #[serde(skip)]
    pub is_remark: bool,
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
        self.list.push(ImportNote { source, text: text.into(), export: None, is_remark: false });
    }

    /// What is right as it stands, unless the reader knows better.
    pub(super) fn remark(&mut self, text: impl Into<String>) {
        let source = self.source.clone();
        self.list.push(ImportNote { source, text: text.into(), export: None, is_remark: true });
    }

    pub(super) fn export(&mut self, variable: &str, text: impl Into<String>) {
        let export = Some(variable.to_owned());
        let (source, text) = (self.source.clone(), text.into());
        self.list.push(ImportNote { source, text, export, is_remark: false });
    }
}
