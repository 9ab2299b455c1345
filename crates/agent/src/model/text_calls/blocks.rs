//! Blocks of calls among words: where one begins, and what stands in it.

use super::cursor::{ClosingTags, Cursor, name};
use super::format::{TextCall, TextCallFormat, TextPart};
use super::tools::TextTools;
use super::{cline, hermes, llama};

/// Whether a block begins at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockBegin {
    Yes,
    /// What comes next will tell.
    Maybe,
    No,
}

/// What may stand between the signs of a beginning, in bytes: further away it is none.
const LONGEST_GAP: usize = 64;

/// Whether a block begins with `text`, or a code fence that has a block for its content.
/// `is_line`: nothing stands before it in its line.
pub(crate) fn begin(
    format: TextCallFormat,
    tools: &TextTools,
    text: &str,
    is_line: bool,
) -> BlockBegin {
    if !text.starts_with('`') {
        return tag(format, tools, text, is_line);
    }
    if !is_line {
        return BlockBegin::No;
    }
    match content(text) {
        Ok(content) => tag(format, tools, content, true),
        Err(begin) => begin,
    }
}

/// What stands in a code fence that begins here, as far as it may be a block.
pub(crate) fn content(text: &str) -> Result<&str, BlockBegin> {
    let Some(behind) = text.strip_prefix("```") else {
        return Err(if "```".starts_with(text) { BlockBegin::Maybe } else { BlockBegin::No });
    };
    let word = name(behind);
    let behind = behind.get(word.len()..).unwrap_or_default();
    let content = behind.trim_start();
    let gap = behind.len() - content.len();
    if gap > LONGEST_GAP || (gap == 0 && !content.is_empty()) {
        return Err(BlockBegin::No);
    }
    if content.is_empty() { Err(BlockBegin::Maybe) } else { Ok(content) }
}

fn tag(format: TextCallFormat, tools: &TextTools, text: &str, is_line: bool) -> BlockBegin {
    let literal = |sign: &str| {
        if text.starts_with(sign) {
            BlockBegin::Yes
        } else if sign.starts_with(text) {
            BlockBegin::Maybe
        } else {
            BlockBegin::No
        }
    };
    match format {
        TextCallFormat::Hermes => literal(hermes::OPEN),
        TextCallFormat::Llama => match literal(llama::PYTHON_TAG) {
            BlockBegin::No => literal(llama::FUNCTION),
            begin @ (BlockBegin::Yes | BlockBegin::Maybe) => begin,
        },
        TextCallFormat::Cline if is_line => element(tools, text),
        TextCallFormat::Cline | TextCallFormat::Json | TextCallFormat::React => BlockBegin::No,
    }
}

/// A tag that is named after a tool; or after none, but it looks like one and has a tag in it.
fn element(tools: &TextTools, text: &str) -> BlockBegin {
    let Some(behind) = text.strip_prefix('<') else { return BlockBegin::No };
    let called = name(behind);
    let Some(behind) = behind.get(called.len()..).unwrap_or_default().strip_prefix('>') else {
        let is_open = called.len() + 1 == text.len();
        return if is_open { BlockBegin::Maybe } else { BlockBegin::No };
    };
    if tools.has(called) {
        return BlockBegin::Yes;
    }
    let content = behind.trim_start();
    let gap = behind.len() - content.len();
    match content.as_bytes() {
        _ if !called.contains('_') || gap > LONGEST_GAP => BlockBegin::No,
        [] | [b'<'] => BlockBegin::Maybe,
        [b'<', next, ..] if next.is_ascii_alphabetic() => BlockBegin::Yes,
        _ => BlockBegin::No,
    }
}

/// Whether nothing but blanks stands behind the last line break, or a tag ends there.
pub(crate) fn is_line_begin(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with(['\n', '>'])
}

/// What stands in an answer from its first block on. `is_fenced`: a code fence is open there.
pub(crate) fn read(
    format: TextCallFormat,
    tools: &TextTools,
    text: &str,
    (from, is_fenced): (usize, bool),
) -> Vec<TextPart> {
    let tags = ClosingTags::of(if format == TextCallFormat::Cline { text } else { "" });
    let (mut parts, mut is_unbalanced) = (Vec::new(), false);
    // A fence among the words, and one that has blocks for its content.
    let (mut is_fenced, mut is_wrapped) = (is_fenced, false);
    let mut cursor = Cursor::new(text);
    let mut words_from = 0;
    while let Some(found) = cursor.rest().find(['<', '`']) {
        cursor.skip(found);
        let place = cursor.at();
        let is_line = is_line_begin(text.get(..place).unwrap_or_default());
        let is_fence = is_line && cursor.starts_with("```");
        // In a code fence a block is no call of its own; a fence in it closes it.
        let is_block = !(is_fence && is_fenced)
            && begin(format, tools, cursor.rest(), is_line) == BlockBegin::Yes;
        if !is_block {
            is_fenced ^= is_fence;
            cursor.skip(if is_fence { 3 } else { 1 });
            continue;
        }
        parts.push(TextPart::Words(text.get(words_from..place).unwrap_or_default().to_owned()));
        if is_fence {
            let inner = content(cursor.rest()).map_or(0, str::len);
            cursor.skip(cursor.rest().len() - inner);
            is_wrapped = true;
        }
        let begun = cursor.at();
        let calls = match format {
            TextCallFormat::Cline => vec![cline::block(&mut cursor, from, tools, &tags)],
            TextCallFormat::Llama => llama::block(&mut cursor, from, &mut is_unbalanced),
            TextCallFormat::Hermes | TextCallFormat::Json | TextCallFormat::React => {
                hermes::block(&mut cursor, from, &mut is_unbalanced)
            }
        };
        let judged = calls.into_iter().map(|call| match call {
            TextCall::Read { name, .. } if is_fenced => fenced(&name, from + begun),
            call @ (TextCall::Read { .. } | TextCall::Malformed { .. }) => call,
        });
        parts.extend(judged.map(TextPart::Call));
        is_wrapped = is_wrapped && !leave_fence(&mut cursor);
        words_from = cursor.at();
    }
    parts.push(TextPart::Words(text.get(words_from..).unwrap_or_default().to_owned()));
    parts
}

/// Steps over the end of a code fence, if it comes next.
fn leave_fence(cursor: &mut Cursor<'_>) -> bool {
    let mut ahead = cursor.clone();
    ahead.skip_space();
    let is_left = ahead.eat("```");
    if is_left {
        *cursor = ahead;
    }
    is_left
}

/// A block among the lines of a code fence may be an example: nobody can tell.
fn fenced(name: &str, at: usize) -> TextCall {
    let fault = "stands in a code fence among other lines, so it was not run: to call the tool, \
                 write the call outside of a code fence";
    TextCall::malformed(Some(name), at, fault)
}
