//! The files of other programs as a `crib.toml`.
//!
//! Nothing is started, no variable is looked up, and no secret of a variable, a header or a query
//! passes: what a file holds as a literal becomes a reference, with a note that says what to
//! export. Arguments and paths have no references: they are copied as they will run, with a note on
//! each that looks like a secret.

mod address;
pub(crate) mod comments;
mod file_format;
mod imported_source;
mod names;
mod notes;
mod relative_paths;
mod secrets;
mod server;
mod server_options;
mod variables;
mod write;

use serde::Serialize;
use serde_json::{Map, Value};
use toolcrib_json::repair::{RepairBounds, UnreadableJson};

use self::notes::ImportNotes;
use self::secrets::ImportSecrets;
use crate::file::document::LARGEST_FILE;
pub use address::{AddressKind, of_address};
pub use file_format::ImportFormat;
pub(crate) use file_format::MOST_ASSIGNED;
pub use notes::ImportNote;
pub(crate) use write::quoted;

/// A file of another program, written anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportedConfig {
    /// The text of a `crib.toml` without problems.
    pub toml: String,
    /// Which program's file it was taken for.
    pub form: ImportFormat,
    /// What has to be done or known, in the order of the file.
    pub notes: Vec<ImportNote>,
}

/// Why a file is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    #[error("the file is larger than {LARGEST_FILE} bytes: make it shorter")]
    TooLarge,
    #[error("line {line}, column {column}: this is not JSON: correct the syntax")]
    NotJson { line: usize, column: usize },
    /// Nothing says which of the two is meant.
    #[error(
        "line {line}, column {column}: the key `{key}` stands twice in one object with different \
         values: write it once"
    )]
    Twice { key: String, line: usize, column: usize },
    #[error(
        "there are no servers in it: they are looked for under `mcpServers`, `servers`, \
         `mcp.servers`, `context_servers` and `mcp`, or at the top beside `tool_assignment`"
    )]
    NoServers,
    #[error("there are more than {0} servers in it: split the file")]
    TooMany(usize),
}

/// As many sources as a `crib.toml` may have.
const MOST_SERVERS: usize = 1000;

/// Reads a file of another program: JSON, with comments and trailing commas if it has any.
/// `form`: which program's; `None` finds it out.
pub fn import(text: &str, form: Option<ImportFormat>) -> Result<ImportedConfig, ImportError> {
    if text.len() > LARGEST_FILE {
        return Err(ImportError::TooLarge);
    }
    let plain = comments::without(text.trim_start_matches('\u{feff}'));
    let whole = read(&plain)?;
    let none = Map::new();
    let whole = whole.as_object().unwrap_or(&none);
    let found = file_format::find(whole, form).ok_or(ImportError::NoServers)?;
    if found.servers.len() > MOST_SERVERS {
        return Err(ImportError::TooMany(MOST_SERVERS));
    }
    let mut secrets = ImportSecrets::new(found.inputs);
    let mut ids = names::SourceIds::default();
    let mut notes = ImportNotes::default();
    let mut sources = Vec::new();
    for (name, server) in found.servers {
        if found.form == ImportFormat::MasArena && name == "tool_assignment" {
            continue;
        }
        let id = ids.legal(name);
        notes.source = Some(id.clone());
        if id != *name {
            notes.remark(format!("it was named `{}`", names::shown(name)));
        }
        let Some(mut source) = server::read(id, server, &mut secrets, &mut notes) else { continue };
        if let Some(key) = file_format::switched_off(whole, name) {
            source.turn_off(format!("`{key}` has it switched off"), &mut notes);
        }
        if found.form == ImportFormat::MasArena || found.assign.is_some() {
            // The assignment names the tools as the servers do.
            source.prefix = Some(String::new());
        }
        sources.push(source);
    }
    notes.source = None;
    let assign = found.assign.map(|assign| file_format::assignments(assign, &mut notes));
    found.others.iter().for_each(|key| notes.add(format!("`{}` is not taken", names::shown(key))));
    let toml = write::file(found.form, &sources, &assign.unwrap_or_default(), &notes.list);
    Ok(ImportedConfig { toml, form: found.form, notes: notes.list })
}

/// One document in which no key stands for two values.
fn read(plain: &str) -> Result<Value, ImportError> {
    // The column counts bytes, and an editor shows characters; the line tells enough.
    let not_json = |line: usize, column: usize| ImportError::NotJson {
        line: line.max(1),
        column: column.max(1),
    };
    let usual = |error: serde_json::Error| not_json(error.line(), error.column());
    let bounds = RepairBounds { bytes: LARGEST_FILE, ..RepairBounds::default() };
    bounds.read_strict(plain).map_err(|refused| match refused {
        UnreadableJson::Duplicate { key, line, column } => ImportError::Twice { key, line, column },
        UnreadableJson::TooDeep { line, column, .. }
        | UnreadableJson::TooMany { line, column, .. } => not_json(line, column),
        UnreadableJson::TooLong { .. } | UnreadableJson::Syntax { .. } | _ => {
            serde_json::from_str::<Value>(plain).err().map_or_else(|| not_json(1, 1), usual)
        }
    })
}
