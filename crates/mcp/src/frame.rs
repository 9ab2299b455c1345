//! One message as it came in: bounded in size and depth before anything is made of it.

use serde_json::Value;

/// Longest line or event, in bytes.
pub(crate) const LONGEST: usize = 8 * 1024 * 1024;
/// Deepest nesting of objects and arrays.
pub(crate) const DEEPEST: usize = 64;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("a message is nested deeper than {DEEPEST} levels")]
    TooDeep,
    #[error("a message is no JSON")]
    NoJson(#[source] serde_json::Error),
}

pub(crate) fn read(text: &[u8]) -> Result<Value, Unreadable> {
    // A byte order mark is allowed to be there, and to be ignored.
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    if is_deeper_than(text, DEEPEST) {
        return Err(Unreadable::TooDeep);
    }
    serde_json::from_slice(text).map_err(Unreadable::NoJson)
}

fn is_deeper_than(text: &[u8], most: usize) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > most {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_bounded_and_brackets_in_strings_do_not_count() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(read(nested(DEEPEST).as_bytes()).is_ok());
        assert!(matches!(read(nested(DEEPEST + 1).as_bytes()), Err(Unreadable::TooDeep)));
        let text = format!(r#""\"{}""#, "[".repeat(200));
        assert!(read(text.as_bytes()).is_ok());
        assert!(matches!(read(b"{"), Err(Unreadable::NoJson(_))));
    }
}
