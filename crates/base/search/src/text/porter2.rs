//! The stems of English words, by the published rules of the Porter2 stemmer
//! (<https://snowballstem.org/algorithms/english/stemmer.html>).

/// Words that the rules would spoil.
const APART: [(&str, &str); 18] = [
    ("skis", "ski"),
    ("skies", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("idly", "idl"),
    ("gently", "gentl"),
    ("ugly", "ugli"),
    ("early", "earli"),
    ("only", "onli"),
    ("singly", "singl"),
    ("sky", "sky"),
    ("news", "news"),
    ("howe", "howe"),
    ("atlas", "atlas"),
    ("cosmos", "cosmos"),
    ("bias", "bias"),
    ("andes", "andes"),
];

/// Words that are left as they are after the first step.
const DONE: [&str; 8] =
    ["inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"];

/// Endings and what becomes of them; the longest come first.
type Endings = &'static [(&'static str, &'static str)];

const SECOND: Endings = &[
    ("ational", "ate"),
    ("fulness", "ful"),
    ("iveness", "ive"),
    ("ization", "ize"),
    ("ousness", "ous"),
    ("biliti", "ble"),
    ("lessli", "less"),
    ("tional", "tion"),
    ("alism", "al"),
    ("aliti", "al"),
    ("ation", "ate"),
    ("entli", "ent"),
    ("fulli", "ful"),
    ("iviti", "ive"),
    ("ousli", "ous"),
    ("abli", "able"),
    ("alli", "al"),
    ("anci", "ance"),
    ("ator", "ate"),
    ("enci", "ence"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("ogi", "og"),
    ("li", ""),
];

const THIRD: Endings = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("alize", "al"),
    ("ative", ""),
    ("icate", "ic"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ness", ""),
    ("ful", ""),
];

const FOURTH: [&str; 18] = [
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
    "ive", "ize", "ion", "al", "er", "ic",
];

/// Makes a word in small letters its stem; words of other scripts stay as they are.
pub(crate) fn stem(word: &mut String) {
    if word.len() <= 2 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    if let Some((_, stem)) = APART.iter().find(|(apart, _)| apart == word) {
        word.clear();
        word.push_str(stem);
        return;
    }
    let mut word = StemmerWord::of(word);
    word.plural();
    if !DONE.contains(&word.text.as_str()) {
        word.past();
        word.y();
        word.second();
        word.third();
        word.fourth();
        word.last();
    }
    word.text.make_ascii_lowercase();
}

/// A word on its way; `Y` is one that is no vowel.
struct StemmerWord<'a> {
    text: &'a mut String,
    /// Where what is behind the first vowel group and its consonant begins, and the same again.
    first: usize,
    second: usize,
}

impl<'a> StemmerWord<'a> {
    fn of(text: &'a mut String) -> Self {
        let mut before = b'a';
        let plain = std::mem::take(text);
        let marked = plain.bytes().map(|byte| {
            let letter = if byte == b'y' && is_vowel(before) { b'Y' } else { byte };
            before = letter;
            char::from(letter)
        });
        text.extend(marked);
        let start = ["gener", "commun", "arsen"].iter().find(|start| text.starts_with(**start));
        let first = start.map_or_else(|| region(text.as_bytes(), 0), |start| start.len());
        let second = region(text.as_bytes(), first);
        Self { text, first, second }
    }

    fn ends(&self, ending: &str) -> bool {
        self.text.ends_with(ending)
    }

    fn cut(&mut self, letters: usize) {
        self.text.truncate(self.text.len().saturating_sub(letters));
    }

    /// The letter that many places from the end.
    fn back(&self, places: usize) -> u8 {
        let at = self.text.len().checked_sub(places);
        at.and_then(|at| self.text.as_bytes().get(at)).copied().unwrap_or_default()
    }

    fn has_vowel_before(&self, letters: usize) -> bool {
        let end = self.text.len().saturating_sub(letters);
        self.text.bytes().take(end).any(is_vowel)
    }

    /// Whether it ends as `hop`, `trap` or `at` do.
    fn ends_short(&self) -> bool {
        let (vowel, last) = (self.back(2), self.back(1));
        if self.text.len() == 2 {
            return is_vowel(vowel) && !is_vowel(last);
        }
        let closed = !is_vowel(last) && !matches!(last, b'w' | b'x' | b'Y');
        self.text.len() > 2 && !is_vowel(self.back(3)) && is_vowel(vowel) && closed
    }

    fn plural(&mut self) {
        if self.ends("sses") {
            self.cut(2);
        } else if self.ends("ied") || self.ends("ies") {
            self.cut(if self.text.len() > 4 { 2 } else { 1 });
        } else if self.ends("s") && !self.ends("us") && !self.ends("ss") && self.has_vowel_before(2)
        {
            self.cut(1);
        }
    }

    fn past(&mut self) {
        for (ending, cut) in [("eedly", 3), ("eed", 1)] {
            if self.ends(ending) {
                if self.text.len() - ending.len() >= self.first {
                    self.cut(cut);
                }
                return;
            }
        }
        let ending = ["ingly", "edly", "ing", "ed"].into_iter().find(|ending| self.ends(ending));
        let Some(ending) = ending.filter(|ending| self.has_vowel_before(ending.len())) else {
            return;
        };
        self.cut(ending.len());
        let doubled = self.back(1) == self.back(2) && b"bdfgmnprt".contains(&self.back(1));
        if ["at", "bl", "iz"].iter().any(|ending| self.ends(ending)) {
            self.text.push('e');
        } else if doubled {
            self.cut(1);
        } else if self.ends_short() && self.first >= self.text.len() {
            self.text.push('e');
        }
    }

    fn y(&mut self) {
        let ends_in_y = matches!(self.back(1), b'y' | b'Y');
        if self.text.len() > 2 && ends_in_y && !is_vowel(self.back(2)) {
            self.cut(1);
            self.text.push('i');
        }
    }

    fn second(&mut self) {
        let Some((ending, new)) = SECOND.iter().find(|(ending, _)| self.ends(ending)) else {
            return;
        };
        let before = self.back(ending.len() + 1);
        let fits = match *ending {
            "ogi" => before == b'l',
            "li" => b"cdeghkmnrt".contains(&before),
            _ => true,
        };
        if fits && self.text.len() - ending.len() >= self.first {
            self.cut(ending.len());
            self.text.push_str(new);
        }
    }

    fn third(&mut self) {
        let Some((ending, new)) = THIRD.iter().find(|(ending, _)| self.ends(ending)) else {
            return;
        };
        let from = if *ending == "ative" { self.second } else { self.first };
        if self.text.len() - ending.len() >= from {
            self.cut(ending.len());
            self.text.push_str(new);
        }
    }

    fn fourth(&mut self) {
        let Some(ending) = FOURTH.into_iter().find(|ending| self.ends(ending)) else { return };
        let fits = ending != "ion" || matches!(self.back(4), b's' | b't');
        if fits && self.text.len() - ending.len() >= self.second {
            self.cut(ending.len());
        }
    }

    fn last(&mut self) {
        let length = self.text.len();
        if self.ends("e") {
            self.cut(1);
            let goes = length > self.second || (length > self.first && !self.ends_short());
            if !goes {
                self.text.push('e');
            }
        } else if self.ends("ll") && length > self.second {
            self.cut(1);
        }
    }
}

fn is_vowel(letter: u8) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

/// What is behind the next vowel and the consonant after it.
fn region(word: &[u8], from: usize) -> usize {
    let rest = word.get(from..).unwrap_or_default();
    let Some(vowel) = rest.iter().position(|letter| is_vowel(*letter)) else { return word.len() };
    let behind = rest.get(vowel..).unwrap_or_default();
    let consonant = behind.iter().position(|letter| !is_vowel(*letter));
    consonant.map_or(word.len(), |consonant| from + vowel + consonant + 1)
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        let stems = |words: &str| {
            let stem = |word: &str| {
                let mut word = word.to_owned();
                stem(&mut word);
                word
            };
            words.split(' ').map(stem).collect::<Vec<_>>().join(" ")
        };
        // From the vocabulary that the rules are published with.
        assert_eq!(
            stems("consign consigned consigning consignment consist consistency consistently"),
            "consign consign consign consign consist consist consist"
        );
        assert_eq!(
            stems("knack knackeries knightly knives knots knotted kneeling knitting"),
            "knack knackeri knight knive knot knot kneel knit"
        );
        assert_eq!(
            stems("generate generously communication news hopping hoping playful enjoyed succeed"),
            "generat generous communic news hop hope play enjoy succeed"
        );
        assert_eq!(
            stems("analogously sensational relational ties cries 2019 été by"),
            "analog sensat relat tie cri 2019 été by"
        );
    }
}
