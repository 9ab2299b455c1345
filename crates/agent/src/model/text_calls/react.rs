//! Calls as `ReAct` has them: `Thought:`, `Action:`, `Action Input:`, `Observation:`, and
//! `Final Answer:`.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use toolcrib_core::RawArguments;

use super::bare;
use super::format::{TextCall, TextPart};
use super::tools::{TextTools, types};

/// What a line begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    Thought,
    Action,
    Input,
    Observation,
    Answer,
}

const LABELS: [(&str, Label); 5] = [
    ("thought:", Label::Thought),
    ("action:", Label::Action),
    ("action input:", Label::Input),
    ("observation:", Label::Observation),
    ("final answer:", Label::Answer),
];

/// Blanks and stars before a label at the most.
const LONGEST_MARGIN: usize = 8;

/// What a line says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineBegin {
    /// So many bytes of it are the label.
    Labelled(Label, usize),
    /// It may become a label.
    Maybe,
    Plain,
}

/// `is_end`: no more of the line comes.
pub(crate) fn line_begin(line: &str, is_end: bool) -> LineBegin {
    let margin =
        line.bytes().take(LONGEST_MARGIN).take_while(|byte| matches!(byte, b' ' | b'*')).count();
    let text = line.get(margin..).unwrap_or_default();
    let is_ended = text.contains('\n');
    let mut is_open = false;
    for (word, label) in LABELS {
        match text.get(..word.len()) {
            Some(begin) if begin.eq_ignore_ascii_case(word) => {
                let behind = text.get(word.len()..).unwrap_or_default();
                return match stars_behind(line.get(..margin).unwrap_or_default(), behind) {
                    None if !is_end => LineBegin::Maybe,
                    stars => LineBegin::Labelled(label, margin + word.len() + stars.unwrap_or(0)),
                };
            }
            Some(_) => {}
            None => {
                let begin = word.get(..text.len()).unwrap_or_default();
                is_open |= !is_ended && text.eq_ignore_ascii_case(begin);
            }
        }
    }
    if is_open { LineBegin::Maybe } else { LineBegin::Plain }
}

/// How many stars of a label in bold stand behind it; `None`: they may still come.
fn stars_behind(margin: &str, behind: &str) -> Option<usize> {
    let stars = margin.matches('*').count();
    let found = behind.bytes().take(stars).take_while(|byte| *byte == b'*').count();
    (found == stars || behind.len() > found).then_some(found)
}

pub(crate) fn instructions(tools: &TextTools) -> String {
    let mut text = "These tools are yours to call:\n".to_owned();
    for tool in tools.all() {
        // Nothing is lost: writing into a `String` cannot fail.
        let _ = write!(
            text,
            "\n{}: {} Parameters, as JSON Schema: {}",
            tool.name, tool.description, tool.parameters
        );
    }
    let names: Vec<_> = tools.all().map(|tool| tool.name).collect();
    let _ = write!(
        text,
        "\n\nWork in steps, with each label at the beginning of a line:\n\nThought: what to do \
         next, and why\nAction: one of {}\nAction Input: its parameters as a JSON object\n\
         Observation: the result of the call, which is told to you\n\nTake as many steps as you \
         need. Once you know enough, write what the user is told:\n\nFinal Answer: your \
         answer\n\nNever write an observation yourself: end your answer behind \
         an Action Input.",
        names.join(", ")
    );
    text
}

pub(crate) fn write(calls: &[(&str, Value)]) -> String {
    let all: Vec<_> = calls
        .iter()
        .map(|(name, arguments)| format!("Action: {name}\nAction Input: {arguments}"))
        .collect();
    all.join("\n")
}

/// What stands in an answer from its first action on.
pub(crate) fn read(text: &str, from: usize, tools: &TextTools) -> Vec<TextPart> {
    let mut parts = Vec::new();
    // The name of the open action, and where it begins.
    let mut action: Option<(&str, usize)> = None;
    for section in sections(text) {
        let at = from + section.at;
        if let (Some((name, begin)), true) = (action, section.label != Label::Input) {
            let fault = "has no `Action Input:` behind it: write its parameters as a JSON object";
            parts.push(TextPart::Call(TextCall::malformed(Some(name), begin, fault)));
            action = None;
        }
        match section.label {
            Label::Action => action = Some((section.text.trim_matches([' ', '\n', '`', '*']), at)),
            Label::Input => {
                let call = match action.take() {
                    Some((name, begin)) => input(name, begin, section.text, tools),
                    None => TextCall::malformed(None, at, "has no `Action:` before it"),
                };
                parts.push(TextPart::Call(call));
            }
            // A thought between two actions is told as words: nothing else is left of it.
            Label::Thought => parts.push(TextPart::Words(section.text.to_owned())),
            // From here on the model makes up what the tool said.
            Label::Observation | Label::Answer => break,
        }
    }
    if let Some((name, begin)) = action {
        let fault = "has no `Action Input:` behind it: write its parameters as a JSON object";
        parts.push(TextPart::Call(TextCall::malformed(Some(name), begin, fault)));
    }
    parts
}

/// What stands behind one label, up to the next.
struct Section<'a> {
    label: Label,
    at: usize,
    text: &'a str,
}

fn sections(text: &str) -> Vec<Section<'_>> {
    let mut begins = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let LineBegin::Labelled(label, length) = line_begin(line, true) {
            begins.push((label, at, at + length));
        }
        at += line.len();
    }
    let ends = begins.iter().skip(1).map(|(_, at, _)| *at).chain([text.len()]);
    let sections = begins.iter().zip(ends).map(|((label, at, begin), end)| Section {
        label: *label,
        at: *at,
        text: text.get(*begin..end).unwrap_or_default(),
    });
    sections.collect()
}

fn input(name: &str, at: usize, text: &str, tools: &TextTools) -> TextCall {
    let text = text.trim();
    let text = text.strip_prefix("```json").or(text.strip_prefix("```")).unwrap_or(text);
    let text = text.strip_suffix("```").unwrap_or(text).trim();
    let call = |arguments| TextCall::Read { name: name.to_owned(), arguments };
    if name.is_empty() {
        return TextCall::malformed(None, at, "names no tool: write `Action: NAME`");
    }
    if text.is_empty() {
        return call(RawArguments::Absent);
    }
    match bare::value(text) {
        Ok(Value::Object(fields)) => call(RawArguments::Value(fields.into())),
        Err(fault) if text.starts_with('{') => {
            TextCall::malformed(Some(name), at, &format!("has no JSON in its input: {fault}"))
        }
        read => {
            let Some(field) = only_text(name, tools) else {
                let fault = "has no JSON object behind `Action Input:`: write one";
                return TextCall::malformed(Some(name), at, fault);
            };
            // A tool of one text is given it as it is.
            let text = match read {
                Ok(Value::String(text)) => text,
                Ok(_) | Err(_) => text.to_owned(),
            };
            call(RawArguments::Value(Map::from_iter([(field, text.into())]).into()))
        }
    }
}

/// The parameter of a tool that has no other and is a string.
fn only_text(name: &str, tools: &TextTools) -> Option<String> {
    let tool = tools.get(name)?;
    let mut fields = tool.fields();
    let (field, schema, _) = fields.next()?;
    (fields.next().is_none() && types(schema).contains(&"string")).then(|| field.to_owned())
}
