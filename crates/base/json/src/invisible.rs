//! Characters that nobody sees, or that turn a line around: what a person reads in a text with
//! them is not what a model reads. Here they are found, and written out for whoever decides.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character is a control character, is not seen, or changes the direction of writing.
///
/// Those are the control characters, the separators of lines, the format characters and whatever
/// else the property `Default_Ignorable_Code_Point` of Unicode 17 has, and letters that look like a
/// blank. Spaces of other widths are none of them: they are seen as spaces.
pub fn is_unseen(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    matches!(
        character,
        '\u{80}'..='\u{9f}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{16fe4}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d159}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// A text on one line exactly as it is, for whoever decides by it: every letter that is not seen,
/// that looks like another, or that hangs on what stands before the text is written out
/// (`\u{202e}`, `\n`). Signs that join or colour two pictures stay, since they are seen in them.
pub fn exact(text: &str) -> Cow<'_, str> {
    written(text, ReadingMode::Exact)
}

/// The same for prose of several lines: line breaks and tabs stay, and so do the marks that scripts
/// and pictures need, and spaces of every width.
pub fn prose(text: &str) -> Cow<'_, str> {
    written(text, ReadingMode::Prose)
}

/// The same as [`exact`] for JSON, which stays the same JSON: only a string can hold such letters.
pub fn exact_json(json: &str) -> Cow<'_, str> {
    written(json, ReadingMode::Json)
}

/// Drawn around a digit.
const KEY: char = '\u{20e3}';

#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadingMode {
    Exact,
    Prose,
    Json,
}

impl ReadingMode {
    /// Whether this one would not see it, standing between these two.
    fn misses(self, character: char, (before, after): (char, Option<char>)) -> bool {
        if matches!(character, ' '..='~') || (character == '\n' && self != Self::Exact) {
            return false;
        }
        if matches!(character, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}') {
            return !self.sees_joiner(character, (before, after));
        }
        match self {
            Self::Prose => character != '\t' && (is_unseen(character) || hangs(character, before)),
            Self::Exact | Self::Json => {
                is_unseen(character) || is_odd(character) || hangs(character, before)
            }
        }
    }

    /// A mark is seen that colours the picture before it, or joins it with the next one. Prose of
    /// other scripts needs one behind a letter too; a run of them spells something.
    fn sees_joiner(self, character: char, (before, after): (char, Option<char>)) -> bool {
        // The picture of a key, such as that of a telephone.
        if (character, after) == ('\u{fe0f}', Some(KEY)) {
            return before.is_ascii_digit() || matches!(before, '#' | '*');
        }
        let joins = character != '\u{200d}' || after.is_some_and(is_picture);
        let is_coloured = character == '\u{200d}' && before == '\u{fe0f}';
        let is_of_picture = character != '\u{200c}' && (is_picture(before) || is_coloured) && joins;
        let is_mark = matches!(before, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
        is_of_picture || (self == Self::Prose && !before.is_ascii() && !is_mark)
    }
}

/// Pictures, symbols and their colours of skin, as they stand in texts.
fn is_picture(character: char) -> bool {
    matches!(character,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2194}'..='\u{27ff}' | '\u{2900}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// A mark that is drawn over what stands before it, where nothing stands there that could bear it.
fn hangs(mark: char, before: char) -> bool {
    !mark.is_ascii()
        && (before, mark) != ('\u{fe0f}', KEY)
        && (before.is_ascii_punctuation() || before.is_whitespace())
        // The standard library writes out marks, and of all others what has no shape.
        && mark.escape_debug().len() > 1
        && !is_odd(mark)
}

/// No shape of its own: a space that is none of ours, a letter that is in no standard.
fn is_odd(character: char) -> bool {
    // Behind another letter the standard library leaves marks as they are.
    let pair = String::from_iter(['a', character]);
    // Signs of Arabic and the like that stand before a number are formats by name, and are seen.
    let is_sign = matches!(character,
        '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
        | '\u{110bd}' | '\u{110cd}');
    !is_sign && pair.escape_debug().count() > 2
}

fn written(text: &str, reader: ReadingMode) -> Cow<'_, str> {
    let is_plain =
        |byte: u8| (b' '..=b'~').contains(&byte) || (byte == b'\n' && reader != ReadingMode::Exact);
    // Most texts have nothing to look at.
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    // What is shown stands behind words of ours.
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if reader.misses(letter, (before, letters.peek().copied())) {
            write_out(&mut shown, letter, reader);
            before = '}';
        } else {
            shown.push(letter);
            before = letter;
        }
    }
    if shown == text { Cow::Borrowed(text) } else { Cow::Owned(shown) }
}

fn write_out(shown: &mut String, letter: char, reader: ReadingMode) {
    match letter {
        // A string takes whatever is written into it.
        _ if reader == ReadingMode::Json => {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        }
        '\n' => shown.push_str("\\n"),
        '\r' => shown.push_str("\\r"),
        '\t' => shown.push_str("\\t"),
        _ => shown.extend(letter.escape_unicode()),
    }
}
