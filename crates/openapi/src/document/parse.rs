//! Text as a tree: JSON or YAML, within bounds.

use serde_json::Value;

use super::error::DocumentError;
use super::text;

/// Levels of a YAML document, whose reader takes much of the stack for each; the JSON reader has
/// a bound of 128 of its own.
const MAX_DEPTH: usize = 64;

/// Reads a document of so many bytes at the most. What begins with `{` is JSON, everything else
/// YAML.
pub(super) fn parse(text: &str, limit: usize) -> Result<Value, DocumentError> {
    if text.len() > limit {
        return Err(DocumentError::TooLarge { limit });
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|error| unreadable("JSON", &error));
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_documents: 1,
            max_events: 16_000_000,
            max_nodes: 8_000_000,
            simple_key_max_lookahead: 4_096,
            // An alias copies: those that copy much are refused, however few they are.
            max_aliases: 10_000,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 200_000,
            max_replay_stack_depth: 16,
        },
        duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::LastWins,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| unreadable("YAML", &error))
}

fn unreadable(format: &'static str, error: &dyn std::error::Error) -> DocumentError {
    DocumentError::Unreadable { format, problem: text::line(&error.to_string(), 300) }
}
