//! A text as BERT's tokenizer wants it: cleaned, without accents, in small letters, cut into words.

use icu_normalizer::DecomposingNormalizerBorrowed;
use serde::Deserialize;
use unicode_general_category::{GeneralCategory, get_general_category};

/// What is done to a text before it is cut: the `BertNormalizer` of a `tokenizer.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct BertNormalizer {
    #[serde(default = "yes")]
    clean_text: bool,
    #[serde(default = "yes")]
    handle_chinese_chars: bool,
    /// Left open, accents go where capitals go.
    strip_accents: Option<bool>,
    #[serde(default = "yes")]
    pub(crate) lowercase: bool,
}

fn yes() -> bool {
    true
}

impl BertNormalizer {
    /// The words of a text in order; a mark of punctuation is a word of its own.
    pub(crate) fn words(self, text: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut is_open = false;
        for letter in self.letters(text) {
            let is_alone = is_punctuation(letter);
            if letter.is_whitespace() || is_alone {
                is_open = false;
            }
            if letter.is_whitespace() {
                continue;
            }
            match words.last_mut().filter(|_| is_open) {
                Some(word) => word.push(letter),
                None => words.push(letter.to_string()),
            }
            is_open = !is_alone;
        }
        words.retain(|word| !word.is_empty());
        words
    }

    fn letters(self, text: &str) -> Vec<char> {
        let mut letters = Vec::with_capacity(text.len());
        for letter in text.chars() {
            match letter {
                _ if self.clean_text && is_noise(letter) => {}
                _ if self.clean_text && letter.is_whitespace() => letters.push(' '),
                _ if self.handle_chinese_chars && is_ideograph(letter) => {
                    letters.extend([' ', letter, ' ']);
                }
                _ => letters.push(letter),
            }
        }
        if self.strip_accents.unwrap_or(self.lowercase) {
            let whole = DecomposingNormalizerBorrowed::new_nfd();
            let is_mark =
                |letter: char| get_general_category(letter) == GeneralCategory::NonspacingMark;
            letters =
                whole.normalize_iter(letters.into_iter()).filter(|it| !is_mark(*it)).collect();
        }
        if self.lowercase {
            letters = letters.into_iter().flat_map(char::to_lowercase).collect();
        }
        letters
    }
}

/// What nobody sees: controls that are no space, what Unicode gives no meaning, and its sign for
/// what could not be read.
fn is_noise(letter: char) -> bool {
    use GeneralCategory::{Control, Format, PrivateUse, Surrogate, Unassigned};
    match letter {
        '\t' | '\n' | '\r' => false,
        '\0' | '\u{fffd}' => true,
        _ => matches!(
            get_general_category(letter),
            Control | Format | PrivateUse | Surrogate | Unassigned
        ),
    }
}

/// The blocks of Unicode whose signs BERT reads each as a word.
fn is_ideograph(letter: char) -> bool {
    matches!(
        u32::from(letter),
        0x4E00..=0x9FFF
            | 0x3400..=0x4DBF
            | 0x2_0000..=0x2_A6DF
            | 0x2_A700..=0x2_B73F
            | 0x2_B740..=0x2_B81F
            | 0x2_B920..=0x2_CEAF
            | 0xF900..=0xFAFF
            | 0x2_F800..=0x2_FA1F
    )
}

fn is_punctuation(letter: char) -> bool {
    use GeneralCategory::{
        ClosePunctuation, ConnectorPunctuation, DashPunctuation, FinalPunctuation,
        InitialPunctuation, OpenPunctuation, OtherPunctuation,
    };
    letter.is_ascii_punctuation()
        || matches!(
            get_general_category(letter),
            ClosePunctuation
                | ConnectorPunctuation
                | DashPunctuation
                | FinalPunctuation
                | InitialPunctuation
                | OpenPunctuation
                | OtherPunctuation
        )
}
