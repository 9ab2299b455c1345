//! Texts as words: identifiers are split at case, underscores and digits.

use super::porter2::stem;
use super::short_forms::several;
use super::stop_words::is_silent;

/// Words longer than this are cut: nobody means them as words.
const LONGEST: usize = 32;

/// Calls `each` with every word of a text, in small letters, in order, and whether it began with a
/// capital or a digit.
///
/// `createEvent2`, `create_event-2` and `Create event 2` are the same three words.
pub(crate) fn cased(text: &str, mut each: impl FnMut(&str, bool)) {
    let mut word = String::with_capacity(LONGEST);
    let mut is_capital = false;
    let mut before = CharacterClass::Other;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let kind = CharacterClass::of(letter);
        let next = letters.peek().map_or(CharacterClass::Other, |next| CharacterClass::of(*next));
        // `HTTPServer` is `http server`: the last capital begins a word. `URLs` is one word.
        let starts = match (before, kind) {
            (CharacterClass::Upper, CharacterClass::Upper) => {
                next == CharacterClass::Lower && !is_plural(letters.clone())
            }
            (CharacterClass::Upper, CharacterClass::Lower) => false,
            (CharacterClass::Sign, CharacterClass::Sign) => true,
            (before, kind) => before != kind,
        };
        if starts && !word.is_empty() {
            each(&word, is_capital);
            word.clear();
        }
        if word.is_empty() {
            is_capital = matches!(kind, CharacterClass::Upper | CharacterClass::Digit);
        }
        if kind != CharacterClass::Other && word.len() < LONGEST {
            word.extend(letter.to_lowercase().map(plain));
        }
        before = kind;
    }
    if !word.is_empty() {
        each(&word, is_capital);
    }
}

/// Whether what follows a capital is the `s` of several, and no word goes on behind it.
fn is_plural(mut rest: impl Iterator<Item = char>) -> bool {
    let is_mark = rest.next() == Some('s');
    is_mark && rest.next().is_none_or(|letter| CharacterClass::of(letter) != CharacterClass::Lower)
}

#[derive(Clone, Copy, PartialEq)]
enum CharacterClass {
    Upper,
    Lower,
    Digit,
    /// A letter that is a word: Chinese, Japanese.
    Sign,
    Other,
}

impl CharacterClass {
    fn of(letter: char) -> Self {
        match letter {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => {
                if letter.is_alphabetic() {
                    Self::Sign
                } else {
                    Self::Other
                }
            }
            _ if letter.is_numeric() => Self::Digit,
            _ if letter.is_uppercase() => Self::Upper,
            _ if letter.is_alphabetic() => Self::Lower,
            _ => Self::Other,
        }
    }
}

/// The letter without its accent, for what Western languages write.
pub(crate) fn plain(letter: char) -> char {
    match letter {
        'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'è'..='ë' | 'ē' | 'ę' | 'ě' => 'e',
        'ì'..='ï' | 'ī' => 'i',
        'ñ' | 'ń' | 'ň' => 'n',
        'ò'..='ö' | 'ø' | 'ō' | 'ő' => 'o',
        'ù'..='ü' | 'ū' | 'ů' | 'ű' => 'u',
        'ý' | 'ÿ' => 'y',
        'ś' | 'š' => 's',
        'ź' | 'ż' | 'ž' => 'z',
        'ł' => 'l',
        _ => letter,
    }
}

/// Calls `each` with every word of a text, in small letters, in order.
pub fn each(text: &str, mut each: impl FnMut(&str)) {
    cased(text, |word, _| each(word));
}

/// Calls `each` with every word of a text that is no silent one, and its stem.
pub fn stems(text: &str, mut each: impl FnMut(&str, &str)) {
    let mut stemmed = String::with_capacity(LONGEST);
    cased(text, |word, _| {
        if !is_silent(word) {
            stem_of(word, &mut stemmed);
            each(word, &stemmed);
        }
    });
}

/// Puts the stem of a word into `stemmed`.
pub(crate) fn stem_of(word: &str, stemmed: &mut String) {
    stemmed.clear();
    if let Some(one) = several().get(word) {
        stemmed.push_str(one);
        return;
    }
    stemmed.push_str(word);
    stem(stemmed);
}

/// The sentences of a text and the lines of a list, without those that have no letter.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let (mut from, mut letters) = (0, text.char_indices().peekable());
    while let Some((at, letter)) = letters.next() {
        let before_space = letters.peek().is_none_or(|(_, next)| next.is_whitespace());
        let ends = match letter {
            '\n' | '。' | '！' | '？' | '；' => true,
            '.' | '!' | '?' | ';' => before_space,
            _ => false,
        };
        if ends {
            let to = at + letter.len_utf8();
            sentences.extend(text.get(from..to));
            from = to;
        }
    }
    sentences.extend(text.get(from..));
    sentences.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    sentences
}
