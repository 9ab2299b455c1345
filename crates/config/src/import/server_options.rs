//! What a server of another program's file says besides: told where it cannot be taken.

use serde_json::{Map, Value};

use super::imported_source::{ImportedSource, ImportedTransport};
use super::names;
use super::notes::ImportNotes;

/// Keys that have their own place below, or that say nothing which is not known already.
const KNOWN: [&str; 23] = [
    "active",
    "args",
    "command",
    "cwd",
    "description",
    "disabled",
    "disabledTools",
    "enabled",
    "env",
    "environment",
    "excludeTools",
    "headers",
    "httpUrl",
    "includeTools",
    "isActive",
    "name",
    "path",
    "serverUrl",
    "source",
    "transport",
    "transportType",
    "type",
    "url",
];

const WAYS: [&str; 3] = ["type", "transport", "transportType"];

/// The ways that are known, without letters that some leave out.
const KNOWN_WAYS: [&str; 6] = ["stdio", "local", "http", "streamablehttp", "remote", "sse"];

/// What says of a server that it is used or not, and what it says of one that is.
const SWITCHES: [(&str, bool); 4] =
    [("disabled", false), ("enabled", true), ("isActive", true), ("active", true)];

impl ImportedSource {
    /// Whether it is used at all.
    pub(super) fn switches(&mut self, server: &Map<String, Value>, notes: &mut ImportNotes) {
        for (key, means_used) in SWITCHES {
            match server.get(key) {
                None | Some(Value::Null) => {}
                Some(Value::Bool(said)) => self.is_enabled &= *said == means_used,
                Some(_) => self.turn_off(format!("`{key}` is neither true nor false"), notes),
            }
        }
    }

    /// An object of names and values, if it is one.
    pub(super) fn members<'v>(
        &mut self,
        holder: &'v Map<String, Value>,
        key: &str,
        notes: &mut ImportNotes,
    ) -> Option<&'v Map<String, Value>> {
        match holder.get(key) {
            None | Some(Value::Null) => None,
            Some(Value::Object(members)) => Some(members),
            Some(value) if is_nothing(value) => None,
            Some(_) => {
                let text = format!("`{key}` is no object of names and values, and is not taken");
                self.turn_off(text, notes);
                None
            }
        }
    }

    /// Which tools are wanted.
    pub(super) fn tools(&mut self, server: &Map<String, Value>, notes: &mut ImportNotes) {
        let mut names = |key: &str| -> Vec<String> {
            let list = match server.get(key) {
                None | Some(Value::Null) => return Vec::new(),
                Some(Value::Array(list)) => list,
                Some(_) => {
                    self.turn_off(format!("`{key}` is no list, and is not taken"), notes);
                    return Vec::new();
                }
            };
            let names = list.iter().filter_map(Value::as_str);
            let is_legal = |name: &&str| toolcrib_core::ToolName::new(name).is_ok();
            let names: Vec<_> = names.filter(is_legal).map(str::to_owned).collect();
            if names.len() < list.len() {
                let many = list.len() - names.len();
                self.turn_off(format!("{many} of `{key}` are no names of tools"), notes);
            }
            names
        };
        let include = names("includeTools");
        let exclude = [names("excludeTools"), names("disabledTools")].concat();
        (self.include, self.exclude) = (include, exclude);
    }

    /// How the other program speaks to it.
    pub(super) fn way(&mut self, server: &Map<String, Value>, notes: &mut ImportNotes) {
        for key in WAYS {
            let plain = match server.get(key) {
                None | Some(Value::Null) => continue,
                Some(Value::String(way)) => way.to_ascii_lowercase().replace(['-', '_', ' '], ""),
                Some(_) => {
                    self.turn_off(format!("`{key}` is no text, and is not taken"), notes);
                    continue;
                }
            };
            let is_program = ["stdio", "local"].contains(&plain.as_str());
            if plain == "sse" {
                notes.add("it speaks the older SSE transport: ask for its streamable HTTP address");
            } else if !KNOWN_WAYS.contains(&plain.as_str()) {
                self.turn_off(format!("`{key}` names a way that is not spoken here"), notes);
            } else if is_program != matches!(self.way, ImportedTransport::Command { .. }) {
                self.turn_off(format!("`{key}` says another way than the rest"), notes);
            }
        }
    }

    /// What belongs to a way that it does not go.
    pub(super) fn misplaced(
        &self,
        server: &Map<String, Value>,
        program: &Map<String, Value>,
        notes: &mut ImportNotes,
    ) {
        let is_there = |holder: &Map<String, Value>, key: &str| {
            holder.get(key).is_some_and(|it| !is_nothing(it))
        };
        let of_programs = ["args", "env", "environment", "cwd"];
        if matches!(self.way, ImportedTransport::Command { .. }) {
            if is_there(server, "headers") {
                notes.add("`headers` is not taken: a program is sent none");
            }
            if !std::ptr::eq(server, program) {
                for key in of_programs.iter().filter(|key| is_there(server, key)) {
                    notes.add(format!("`{key}` beside `command` is not taken: it stands within"));
                }
                let known = ["path", "args", "env", "environment", "cwd"];
                for key in program.keys().filter(|key| !known.contains(&key.as_str())) {
                    notes.add(format!("`command.{}` is not taken", names::shown(key)));
                }
            }
        } else {
            for key in of_programs.iter().filter(|key| is_there(server, key)) {
                notes.add(format!("`{key}` is not taken: what has an address starts no program"));
            }
        }
    }
}

/// Keys that have no place in the new file.
pub(super) fn others(server: &Map<String, Value>, notes: &mut ImportNotes) {
    for (key, value) in server.iter().filter(|(key, _)| !KNOWN.contains(&key.as_str())) {
        match (key.as_str(), value) {
            ("autoApprove" | "alwaysAllow" | "trust", value) if is_nothing(value) => {}
            ("autoApprove" | "alwaysAllow" | "trust", _) => notes.add(format!(
                "`{key}` is not taken: what runs without a question is said by `allow`"
            )),
            ("timeout", Value::Number(number)) => notes.add(format!(
                "`timeout = {number}` is not taken, since programs count it differently: set \
                 `call_timeout`"
            )),
            ("envFile", _) => {
                notes.add("`envFile` is not taken: export what stands in that file");
            }
            (key, _) => notes.add(format!("`{}` is not taken", names::shown(key))),
        }
    }
}

pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}
