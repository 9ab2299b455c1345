//! The text of the new file.

use std::borrow::Cow;
use std::fmt::Write;

use toolcrib_json::invisible::exact;

use super::file_format::ImportFormat;
use super::imported_source::{ImportedSource, ImportedTransport};
use super::notes::ImportNote;
use crate::file::toml_path::is_bare;

/// The whole file: every source with what is to be known of it.
pub(super) fn file(
    form: ImportFormat,
    sources: &[ImportedSource],
    assign: &[(String, Vec<String>)],
    notes: &[ImportNote],
) -> String {
    let mut out = format!("# Taken from a file of the form {}.\n", form.as_str());
    let of = |id: Option<&str>| -> Vec<&ImportNote> {
        notes.iter().filter(|note| note.source.as_deref() == id).collect()
    };
    remarks(&mut out, &of(None));
    let written: Vec<_> = sources.iter().map(|source| source.id.as_str()).collect();
    let is_left_out =
        |note: &&ImportNote| note.source.as_deref().is_some_and(|id| !written.contains(&id));
    for note in notes.iter().filter(is_left_out) {
        let id = note.source.as_deref().unwrap_or_default();
        line(&mut out, &format!("# `{id}`: {}", note.text));
    }
    if !assign.is_empty() {
        line(&mut out, "\n# As there, an agent that is not listed has nothing.");
        line(&mut out, "unlisted_agents = \"nothing\"");
    }
    for source in sources {
        out.push('\n');
        remarks(&mut out, &of(Some(&source.id)));
        self::source(&mut out, source);
    }
    if !assign.is_empty() {
        line(&mut out, "\n[assign]");
        for (agent, tools) in assign {
            line(&mut out, &format!("{} = {}", key(agent), list(tools)));
        }
    }
    out
}

fn remarks(out: &mut String, notes: &[&ImportNote]) {
    for note in notes {
        match &note.export {
            Some(variable) => line(out, &format!("# {variable}: {}", note.text)),
            None => line(out, &format!("# {}", note.text)),
        }
    }
}

fn source(out: &mut String, source: &ImportedSource) {
    if let ImportedTransport::Command { original, .. } = &source.way {
        // Every argument in full: this is what will run.
        let shown: Vec<_> = original.iter().map(|word| quoted(word)).collect();
        line(out, &format!("# runs: {}", shown.join(" ")));
    }
    line(out, "[[source]]");
    line(out, &format!("id = {}", quoted(&source.id)));
    if !source.is_enabled {
        line(out, "enabled = false");
    }
    if let Some(prefix) = &source.prefix {
        line(out, &format!("prefix = {}", quoted(prefix)));
    }
    for (key, names) in [("include", &source.include), ("exclude", &source.exclude)] {
        if !names.is_empty() {
            line(out, &format!("{key} = {}", list(names)));
        }
    }
    line(out, "\n[source.mcp]");
    match &source.way {
        ImportedTransport::Command { argv, .. } => line(out, &format!("command = {}", list(argv))),
        ImportedTransport::Url(url) => line(out, &format!("url = {}", quoted(url))),
        ImportedTransport::None => {}
    }
    if let Some(cwd) = &source.cwd {
        line(out, &format!("cwd = {}", quoted(cwd)));
    }
    for (name, values) in [("env", &source.env), ("headers", &source.headers)] {
        if !values.is_empty() {
            line(out, &format!("\n[source.mcp.{name}]"));
        }
        for (name, value) in values {
            line(out, &format!("{} = {}", key(name), quoted(value)));
        }
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn list(words: &[String]) -> String {
    let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    format!("[{}]", words.join(", "))
}

fn key(name: &str) -> String {
    if is_bare(name) { name.to_owned() } else { quoted(name) }
}

/// A TOML string on one line, in which nothing is hidden from the eye.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\'' => out.push(letter),
            letter if matches!(exact(letter.encode_utf8(&mut [0; 4])), Cow::Owned(_)) => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\U{:08X}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}
