//! How many tokens a text is, counted with a real vocabulary: `o200k`, which the models of `OpenAI`
//! have.
//!
//! Other providers publish no vocabulary. Their counts differ by a fifth or so, and for what is
//! compared here (the same definitions shown in two ways) that falls out.
//!
//! The first count reads the vocabulary, some 50 ms and 30 MiB: nothing that serves a request
//! counts, and whoever has to know at once goes by bytes.

/// The tokens of a text.
pub fn count(text: &str) -> usize {
    bpe_openai::o200k_base().count(text)
}

/// The text of the first so many tokens, or less: no letter is cut.
pub fn first(text: &str, most: usize) -> String {
    let mut tokens = bpe_openai::o200k_base().encode(text);
    tokens.truncate(most);
    // A token may end within a letter.
    loop {
        match bpe_openai::o200k_base().decode(&tokens) {
            Some(text) => return text,
            None => _ = tokens.pop(),
        }
    }
}

/// The tokens of a text, by their numbers.
pub fn encode(text: &str) -> Vec<u32> {
    bpe_openai::o200k_base().encode(text)
}

/// The text of tokens; `None`: they end within a letter, or one of them is none.
pub fn decode(tokens: &[u32]) -> Option<String> {
    bpe_openai::o200k_base().decode(tokens)
}

#[cfg(test)]
mod tests {
    use super::{count, decode, encode, first};

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
    }

    #[test]
    fn texts_are_as_long_as_their_models_say() {
        assert_eq!(count(""), 0);
        assert_eq!(count("hello world"), 2);
        // As the documentation of tiktoken has it for this vocabulary.
        assert_eq!(count("tiktoken is great!"), 6);
    }
}
