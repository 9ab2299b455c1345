//! A source as it is taken over, before it is written.

use super::notes::ImportNotes;

/// A source in the making.
#[derive(Debug, Default)]
pub(super) struct ImportedSource {
    pub(super) id: String,
    pub(super) is_enabled: bool,
    pub(super) prefix: Option<String>,
    pub(super) include: Vec<String>,
    pub(super) exclude: Vec<String>,
    pub(super) way: ImportedTransport,
    pub(super) env: Vec<(String, String)>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) cwd: Option<String>,
}

/// How the server is come by.
#[derive(Debug, Default)]
pub(super) enum ImportedTransport {
    #[default]
    None,
    Command {
        argv: Vec<String>,
        /// As the other program has it.
        original: Vec<String>,
    },
    Url(String),
}

impl ImportedSource {
    /// The source is kept, and not used before a person looked at it.
    pub(super) fn turn_off(&mut self, text: impl Into<String>, notes: &mut ImportNotes) {
        self.is_enabled = false;
        notes.add(format!("{}; then set `enabled = true`", text.into()));
    }
}
