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
    /// Whether it is about a secret, or what looks like one, that stood there word for word.
    #[serde(skip)]
    pub is_secret: bool,
}

/// Collects notes while one source after the other is read.
#[derive(Debug, Default)]
pub(super) struct ImportNotes {
    pub(super) source: Option<String>,
    pub(super) list: Vec<ImportNote>,
}

impl ImportNotes {
    pub(super) fn add(&mut self, text: impl Into<String>) {
        let note = self.note(text.into());
        self.list.push(note);
    }

    /// A secret that is taken as it stands, or left out.
    pub(super) fn secret(&mut self, text: impl Into<String>) {
        let note = self.note(text.into());
        self.list.push(ImportNote { is_secret: true, ..note });
    }

    /// What is right as it stands, unless the reader knows better.
    pub(super) fn remark(&mut self, text: impl Into<String>) {
        let note = self.note(text.into());
        self.list.push(ImportNote { is_remark: true, ..note });
    }

    pub(super) fn export(&mut self, variable: &str, text: impl Into<String>) {
        let note = self.note(text.into());
        self.list.push(ImportNote { export: Some(variable.to_owned()), ..note });
    }

    /// A secret in whose place the variable stands.
    pub(super) fn secret_export(&mut self, variable: &str, text: impl Into<String>) {
        let (note, export) = (self.note(text.into()), Some(variable.to_owned()));
        self.list.push(ImportNote { export, is_secret: true, ..note });
    }

    fn note(&self, text: String) -> ImportNote {
        let source = self.source.clone();
        ImportNote { source, text, export: None, is_remark: false, is_secret: false }
    }
}
