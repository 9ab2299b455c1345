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

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn texts_are_as_long_as_their_models_say() {
        assert_eq!(count(""), 0);
        assert_eq!(count("hello world"), 2);
        // As the documentation of tiktoken has it for this vocabulary.
        assert_eq!(count("tiktoken is great!"), 6);
    }
}
