//! Where whoever embeds the gate has commands and addresses of which its words should tell.

use crate::call::name::SourceId;

/// What an embedding program adds to the words of the gate. Without it they name no command and no
/// address, since there are none.
#[derive(Debug, Clone, Copy, Default)]
pub struct DoorHints {
    /// How an operator declares what the tools of a source do, so that nobody is asked about them:
    /// a part of a sentence.
    pub declare_effects: Option<fn(&SourceId) -> String>,
    /// How a program says that it means a call once more that it cancelled itself, besides a new
    /// key: a part of a sentence.
    pub call_again: Option<&'static str>,
    /// What a client declares that can put a form to a person.
    pub takes_forms: Option<&'static str>,
    /// Where the record of a call is read, or, of one that nobody can name, where calls are.
    pub record: Option<fn(Option<&str>) -> String>,
}
