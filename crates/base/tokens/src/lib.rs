//! How many tokens a text is, counted with a real vocabulary: `o200k`, which the models of `OpenAI`
//! have.
//!
//! Other providers publish no vocabulary. Their counts differ by a fifth or so, and for what is
//! compared here (the same definitions shown in two ways) that falls out.
//!
//! The first count reads the vocabulary, some 150 ms and 46 MiB: nothing that serves a request
//! counts, and whoever has to know at once goes by bytes.

use std::iter;

use tiktoken_rs::o200k_base_singleton;

/// Bytes that are read at a time. The pattern that cuts a text into words goes back over what it
/// has read, and breaks off within a megabyte of blanks. A piece may cost a text one token more.
const PIECE: usize = 64 * 1024;

/// The tokens of a text.
pub fn count(text: &str) -> usize {
    pieces(text).map(|piece| o200k_base_singleton().count_ordinary(piece)).sum()
}

/// The text of the first so many tokens, or less: no letter is cut.
pub fn first(text: &str, most: usize) -> String {
    let mut tokens = Vec::new();
    for piece in pieces(text) {
        if tokens.len() >= most {
            break;
        }
        tokens.extend(o200k_base_singleton().encode_ordinary(piece));
    }
    tokens.truncate(most);
    // A token may end within a letter.
    loop {
        match decode(&tokens) {
            Some(text) => return text,
            None => _ = tokens.pop(),
        }
    }
}

/// The tokens of a text, by their numbers.
pub fn encode(text: &str) -> Vec<u32> {
    pieces(text).flat_map(|piece| o200k_base_singleton().encode_ordinary(piece)).collect()
}

/// The text of tokens; `None`: they end within a letter, or one of them is none.
pub fn decode(tokens: &[u32]) -> Option<String> {
    o200k_base_singleton().decode(tokens).ok()
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    iter::from_fn(move || {
        let end = rest.floor_char_boundary(PIECE);
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::{PIECE, count, decode, encode, first};

    #[test]
    fn a_text_is_cut_behind_a_token_and_never_within_a_letter() {
        assert_eq!(first("hello world, and more", 2), "hello world");
        assert_eq!(first("hello", 9), "hello");
        assert_eq!(first("hello", 0), "");
        let text = "🦀🦀 𒀀𒀁";
        for most in 0..=count(text) {
            let part = first(text, most);
            assert!(text.starts_with(&part) && count(&part) <= most, "{part:?}");
        }
        assert_eq!(encode(text).len(), count(text));
        assert_eq!(decode(&encode(text)).as_deref(), Some(text));
        assert_eq!(decode(&[u32::MAX]), None);
    }

    #[test]
    fn texts_are_as_long_as_their_models_say() {
        assert_eq!(count(""), 0);
        assert_eq!(count("hello world"), 2);
        // As the documentation of tiktoken has it for this vocabulary.
        assert_eq!(count("tiktoken is great!"), 6);
    }

    #[test]
    fn no_text_is_too_long_or_too_monotonous() {
        for letter in [" ", "\t ", "\n", "a", ".", "\u{3000}", "aA1 "] {
            let text = letter.repeat(16 * PIECE / letter.len() + 1);
            let tokens = encode(&text);
            assert_eq!(tokens.len(), count(&text), "{letter:?}");
            assert_eq!(decode(&tokens).as_deref(), Some(text.as_str()), "{letter:?}");
            assert_eq!(first(&text, 1), decode(&tokens[..1]).unwrap(), "{letter:?}");
        }
    }
}
