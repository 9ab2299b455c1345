//! Why JSON does not fit, in the words of whoever wrote it: a reader of ours speaks of its own
//! types.

/// What the reader says, without names of types: `expected struct Run` is an object to whoever
/// wrote a list there.
pub fn told(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let mut words = said.split(' ').peekable();
    let mut told: Vec<&str> = Vec::new();
    let mut is_quoted = false;
    while let Some(word) = words.next() {
        // What stands between backticks or quotes is theirs.
        let was_quoted = is_quoted;
        is_quoted ^= word.matches(['`', '"']).count() % 2 == 1;
        let (bare, end) = match word.strip_suffix([',', ':']) {
            Some(bare) => (bare, word.get(bare.len()..).unwrap_or_default()),
            None => (word, ""),
        };
        let plain = match bare {
            _ if was_quoted || is_quoted || word.contains(['`', '"']) => None,
            "struct" | "enum" => {
                // Its name, and how many members a list would need to stand for it.
                words.next();
                while words.next_if(|word| is_count(word)).is_some() {}
                Some("an object")
            }
            "map" => Some("an object"),
            "sequence" | "tuple" => Some("a list"),
            "unit" => Some("null"),
            "variant" => Some("word"),
            "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => Some("a whole number from 0 on"),
            "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => Some("a whole number"),
            "f32" | "f64" => Some("a number"),
            "bool" | "boolean" => Some("true or false"),
            _ => None,
        };
        match plain {
            Some(plain) => {
                if told.last_chunk().is_some_and(|last| [["a", ""], ["an", ""]].contains(last)) {
                    told.truncate(told.len() - 2);
                }
                told.extend([plain, end]);
            }
            None => told.extend([word, ""]),
        }
    }
    let mut line = String::new();
    for pair in told.chunks(2) {
        line.push_str(if line.is_empty() { "" } else { " " });
        line.extend(pair.iter().copied());
    }
    line
}

fn is_count(word: &str) -> bool {
    ["with", "element", "elements"].contains(&word)
        || word.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::told;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[serde(rename = "count")]
        _count: u32,
        #[serde(default, rename = "list")]
        _list: Vec<bool>,
        #[serde(default, rename = "word")]
        _word: Option<Word>,
    }

    #[derive(Debug, Deserialize)]
    enum Word {
        One,
    }

    #[test]
    fn no_name_of_a_type_is_told() {
        for (text, said) in [
            ("[]", "invalid length 0, expected an object"),
            ("3", "invalid type: integer `3`, expected an object"),
            (
                r#"{"count": "u32"}"#,
                "invalid type: string \"u32\", expected a whole number from 0 on",
            ),
            (r#"{"count": 1, "list": {}}"#, "invalid type: an object, expected a list"),
            (
                r#"{"count": 1, "list": "a struct u8 b"}"#,
                "invalid type: string \"a struct u8 b\", expected a list",
            ),
            (r#"{"count": 1, "list": [3]}"#, "invalid type: integer `3`, expected true or false"),
            (r#"{"count": 1, "word": "struct"}"#, "unknown word `struct`, expected `One`"),
            (r#"{"count": 1, "struct": 1}"#, "unknown field `struct`, expected one of"),
        ] {
            let error = serde_json::from_str::<Inner>(text).unwrap_err();
            assert!(told(&error).starts_with(said), "{text}: {}", told(&error));
        }
        let _ = Word::One;
    }
}
