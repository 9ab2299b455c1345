//! Texts as words: identifiers are split at case, underscores and digits.

/// Words longer than this are cut: nobody means them as words.
const LONGEST: usize = 32;

/// Calls `each` with every word of a text, in small letters, in order.
///
/// `createEvent2`, `create_event-2` and `Create event 2` are the same three words.
pub(crate) fn words(text: &str, mut each: impl FnMut(&str)) {
    let mut word = String::with_capacity(LONGEST);
    let mut before = Kind::Other;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let kind = Kind::of(letter);
        let next = letters.peek().map_or(Kind::Other, |next| Kind::of(*next));
        // `HTTPServer` is `http server`: the last capital begins a word.
        let starts = match (before, kind) {
            (Kind::Upper, Kind::Upper) => next == Kind::Lower,
            (Kind::Upper, Kind::Lower) => false,
            (Kind::Sign, Kind::Sign) => true,
            (before, kind) => before != kind,
        };
        if starts && !word.is_empty() {
            each(&word);
            word.clear();
        }
        if kind != Kind::Other && word.len() < LONGEST {
            word.extend(letter.to_lowercase().map(plain));
        }
        before = kind;
    }
    if !word.is_empty() {
        each(&word);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Upper,
    Lower,
    Digit,
    /// A letter that is a word: Chinese, Japanese.
    Sign,
    Other,
}

impl Kind {
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
fn plain(letter: char) -> char {
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

/// The word without the commonest endings.
pub(crate) fn stem(word: &str) -> &str {
    let without = |ending: &str| word.strip_suffix(ending).filter(|rest| rest.len() >= 3);
    without("ing")
        .or_else(|| without("es"))
        .or_else(|| without("ed"))
        .or_else(|| without("s"))
        .unwrap_or(word)
}
