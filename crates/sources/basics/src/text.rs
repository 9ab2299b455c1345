//! Texts: count, change the case, replace, cut out lines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolcrib_core::ToolError;

use crate::tool::{BasicToolInfo, BasicToolsResult, LONGEST_TEXT, basic};

pub(crate) fn tools() -> BasicToolsResult {
    let count = BasicToolInfo {
        name: "text_count",
        category: "text",
        action: "count",
        summary: "Counts the characters, words and lines of a text.",
        description: "Counts the characters, words, lines and bytes of a text. Use it when a text \
                      must keep to a length: your own count is a guess.",
        steady: true,
    };
    let case = BasicToolInfo {
        name: "text_case",
        category: "text",
        action: "transform",
        summary: "Writes a text in another case, such as upper or snake.",
        description: "Writes a text in upper, lower or title case, or as one identifier in camel, \
                      kebab or snake case. Use it for headings and for names in code.",
        steady: true,
    };
    let replace = BasicToolInfo {
        name: "text_replace",
        category: "text",
        action: "transform",
        summary: "Replaces every occurrence of a literal text by another.",
        description: "Replaces every occurrence of a literal text and tells how many there were. \
                      Use it to change a long text without writing it again; patterns are not \
                      read.",
        steady: true,
    };
    let lines = BasicToolInfo {
        name: "text_lines",
        category: "text",
        action: "read",
        summary: "Gives a range of the lines of a text.",
        description: "Gives the lines of a text from `first` to `last`, and how many there are in \
                      all. Use it to look at a part of a long text.",
        steady: true,
    };
    Ok(vec![
        basic(&count, |arguments| Ok(text_count(arguments)))?,
        basic(&case, |arguments| Ok(text_case(arguments)))?,
        basic(&replace, text_replace)?,
        basic(&lines, text_lines)?,
    ])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TextCountArguments {
    /// The text to count.
    #[schemars(length(max = LONGEST_TEXT))]
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct TextCountResult {
    /// Unicode characters.
    characters: usize,
    /// What stands between white space.
    words: usize,
    lines: usize,
    /// Bytes in UTF-8.
    bytes: usize,
}

fn text_count(TextCountArguments { text }: TextCountArguments) -> TextCountResult {
    TextCountResult {
        characters: text.chars().count(),
        words: text.split_whitespace().count(),
        lines: text.lines().count(),
        bytes: text.len(),
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TextCaseArguments {
    /// The text to write anew.
    #[schemars(length(max = LONGEST_TEXT))]
    text: String,
    /// The case: camel, kebab and snake make one identifier of all words.
    case: TextCase,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum TextCase {
    Upper,
    Lower,
    Title,
    Camel,
    Kebab,
    Snake,
}

#[derive(Serialize, JsonSchema)]
struct TextCaseResult {
    text: String,
}

fn text_case(TextCaseArguments { text, case }: TextCaseArguments) -> TextCaseResult {
    let lower = || words(&text).map(str::to_lowercase);
    let text = match case {
        TextCase::Upper => text.to_uppercase(),
        TextCase::Lower => text.to_lowercase(),
        TextCase::Title => text.split_inclusive(char::is_whitespace).map(capitalised).collect(),
        TextCase::Camel => {
            let cased = |(place, word): (usize, String)| match place {
                0 => word,
                _ => capitalised(&word),
            };
            lower().enumerate().map(cased).collect()
        }
        TextCase::Kebab => lower().collect::<Vec<_>>().join("-"),
        TextCase::Snake => lower().collect::<Vec<_>>().join("_"),
    };
    TextCaseResult { text }
}

/// The words of a sentence or an identifier: runs of letters and digits, cut before a capital
/// that follows a small letter or a digit.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .flat_map(|run| {
            let mut before = ' ';
            let mut starts = vec![0];
            for (at, c) in run.char_indices() {
                if c.is_uppercase() && (before.is_lowercase() || before.is_numeric()) {
                    starts.push(at);
                }
                before = c;
            }
            let ends = starts.clone().into_iter().skip(1).chain([run.len()]);
            starts.into_iter().zip(ends).filter_map(|(start, end)| run.get(start..end))
        })
        .filter(|word| !word.is_empty())
}

fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters.as_str().to_lowercase().chars()).collect()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TextReplaceArguments {
    /// The text to search.
    #[schemars(length(max = LONGEST_TEXT))]
    text: String,
    /// What to look for, letter by letter.
    #[schemars(length(min = 1, max = 10_000))]
    find: String,
    /// What to put in its place; empty to remove it.
    #[schemars(length(max = 10_000))]
    replacement: String,
}

#[derive(Serialize, JsonSchema)]
struct TextReplaceResult {
    text: String,
    /// How many occurrences were replaced.
    replaced: usize,
}

/// Bytes of a text after replacing: a short find and a long replacement multiply.
const LARGEST_REPLACED: usize = 1_000_000;

fn text_replace(
    TextReplaceArguments { text, find, replacement }: TextReplaceArguments,
) -> Result<TextReplaceResult, ToolError> {
    let replaced = text.matches(&find).count();
    let grown = replacement.len().saturating_sub(find.len()).saturating_mul(replaced);
    let size = text.len().saturating_add(grown);
    if size > LARGEST_REPLACED {
        return Err(ToolError::told(format!(
            "the text would grow to {size} bytes, and {LARGEST_REPLACED} is the limit: replace in \
             a part of it, or by something shorter"
        )));
    }
    Ok(TextReplaceResult { text: text.replace(&find, &replacement), replaced })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TextLinesArguments {
    /// The text to take lines from.
    #[schemars(length(max = LONGEST_TEXT))]
    text: String,
    /// The first line to give; the text starts with line 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    first: usize,
    /// The last line to give; left out, the last of the text.
    #[schemars(range(min = 1))]
    last: Option<usize>,
}

fn one() -> usize {
    1
}

#[derive(Serialize, JsonSchema)]
struct TextLinesResult {
    text: String,
    first: usize,
    last: usize,
    /// How many lines the whole text has.
    total: usize,
}

fn text_lines(
    TextLinesArguments { text, first, last }: TextLinesArguments,
) -> Result<TextLinesResult, ToolError> {
    let total = text.lines().count();
    let last = last.unwrap_or(total).min(total);
    if first > total {
        let lines = if total == 1 { "line" } else { "lines" };
        let message = format!("the text has {total} {lines}, so there is no line {first}");
        return Err(ToolError::told(message));
    }
    if last < first {
        let message = format!("`last` ({last}) must not come before `first` ({first})");
        return Err(ToolError::told(message));
    }
    let given: Vec<&str> =
        text.lines().skip(first.saturating_sub(1)).take(last - first + 1).collect();
    Ok(TextLinesResult { text: given.join("\n"), first, last, total })
}
