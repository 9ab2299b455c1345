//! Puts effects into the text of a file, which stays as it is otherwise, word for word.
//!
//! Where an entry may stand depends on how the file says what it says. So places are tried, and a
//! text is taken only if, read again, it says the same as before and the effect besides.

use std::fmt::Write as _;
use std::ops::Range;

use toml::de::DeTable;
use toml::{Table, Value};
use toolcrib_core::{Effect, ToolName};

use crate::file::document::LARGEST_FILE;
use crate::file::toml_path::is_bare;

/// Why an effect cannot be put into a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EffectWriteError {
    #[error("it is no TOML: `toolcrib check` tells what is wrong")]
    NoToml,
    #[error("it says an effect of `{0}` already: change it there by hand")]
    Said(ToolName),
    #[error(
        "there is no place for the effect of `{tool}` in the form that the file has: write \
         `effect = \"{}\"` at what it says of that tool by hand",
        .effect.as_str()
    )]
    NoPlace { tool: ToolName, effect: Effect },
    #[error("it would be larger than {LARGEST_FILE} bytes: write shorter, or accept fewer")]
    TooLarge,
}

/// The text of a file with the effects of these tools, each under `[tool.NAME]`.
pub fn write(text: &str, effects: &[(ToolName, Effect)]) -> Result<String, EffectWriteError> {
    let said = text.parse::<Table>().map_err(|_| EffectWriteError::NoToml)?;
    for (tool, _) in effects {
        let of_tool = said.get("tool").and_then(|tools| tools.get(tool.as_str()));
        if of_tool.and_then(|tool| tool.get("effect")).is_some() {
            return Err(EffectWriteError::Said(tool.clone()));
        }
    }
    let mut now = text.to_owned();
    // Most are spoken of nowhere yet: they go to the end together, which is read again once.
    let together = appended(text, effects);
    let mut wanted = Some(said.clone());
    for (tool, effect) in effects {
        wanted = wanted.and_then(|table| with(table, tool, *effect));
    }
    if wanted.is_some() && together.parse::<Table>().ok() == wanted {
        now = together;
    } else {
        let mut said = said;
        for (tool, effect) in effects {
            let no_place = || EffectWriteError::NoPlace { tool: tool.clone(), effect: *effect };
            let wanted = with(said, tool, *effect).ok_or_else(no_place)?;
            let fits = |text: &String| text.parse::<Table>().ok().as_ref() == Some(&wanted);
            now = tries(&now, tool, *effect).into_iter().find(fits).ok_or_else(no_place)?;
            said = wanted;
        }
    }
    if now.len() > LARGEST_FILE { Err(EffectWriteError::TooLarge) } else { Ok(now) }
}

/// What the file is to say; `None`: what it says of tools is no table.
fn with(mut file: Table, tool: &ToolName, effect: Effect) -> Option<Table> {
    let empty = || Value::Table(Table::new());
    let tools = file.entry("tool").or_insert_with(empty).as_table_mut()?;
    let of_tool = tools.entry(tool.as_str()).or_insert_with(empty).as_table_mut()?;
    of_tool.insert("effect".to_owned(), effect.as_str().into());
    Some(file)
}

fn line_break(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn key(tool: &ToolName) -> String {
    let name = tool.as_str();
    if is_bare(name) { name.to_owned() } else { Value::from(name).to_string() }
}

fn appended(text: &str, effects: &[(ToolName, Effect)]) -> String {
    let end = line_break(text);
    let mut text = text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(end);
    }
    for (tool, effect) in effects {
        if !text.trim().is_empty() {
            text.push_str(end);
        }
        let (key, effect) = (key(tool), effect.as_str());
        let _ = write!(text, "[tool.{key}]{end}effect = \"{effect}\"{end}");
    }
    text
}

/// The text with the effect at each place where it may stand.
fn tries(text: &str, tool: &ToolName, effect: Effect) -> Vec<String> {
    let (end, said) = (line_break(text), format!("effect = \"{}\"", effect.as_str()));
    let mut tries = Vec::new();
    let (file, _) = DeTable::parse_recoverable(text);
    let tools = file.get_ref().get_key_value("tool");
    let of_tool =
        tools.and_then(|(_, tools)| tools.get_ref().as_table()?.get_key_value(tool.as_str()));
    if let Some((name, value)) = of_tool {
        tries.extend(inside(text, &value.span(), &said));
        tries.extend(below(text, &value.span(), &format!("{said}{end}")));
        tries.extend(beside(text, &name.span(), &said, end));
    } else if let Some((_, tools)) = tools {
        tries.extend(inside(text, &tools.span(), &format!("{} = {{ {said} }}", key(tool))));
    }
    tries.push(appended(text, &[(tool.clone(), effect)]));
    tries
}

/// Within the braces of a table on one line.
fn inside(text: &str, span: &Range<usize>, said: &str) -> Option<String> {
    let (before, table) = text.split_at_checked(span.start)?;
    let rest = table.strip_prefix('{')?;
    let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
    Some(format!("{before}{{ {said}{comma}{rest}"))
}

/// On the line below the head of a table.
fn below(text: &str, span: &Range<usize>, line: &str) -> Option<String> {
    let rest = text.get(span.start..)?;
    let at = rest.find('\n').map(|at| span.start + at + 1);
    match at {
        Some(at) => Some(format!("{}{line}{}", text.get(..at)?, text.get(at..)?)),
        None => Some(format!("{text}{}{line}", line_break(text))),
    }
}

/// Before a line that says something of the tool by a name with dots.
fn beside(text: &str, name: &Range<usize>, said: &str, end: &str) -> Option<String> {
    let start = text.get(..name.start)?.rfind('\n').map_or(0, |at| at + 1);
    let path = text.get(start..name.end)?;
    Some(format!("{}{path}.{said}{end}{}", text.get(..start)?, text.get(start..)?))
}
