//! The ways of other programs to name a variable, besides `${NAME}`.

use std::ops::Range;

/// A variable that a text names.
pub(super) struct VariableReference<'t> {
    pub(super) range: Range<usize>,
    pub(super) name: &'t str,
    /// Nothing else can be meant by it.
    pub(super) is_sure: bool,
}

/// The first variable, as it is written.
pub(super) fn first(text: &str) -> Option<&str> {
    all(text).into_iter().next().and_then(|named| text.get(named.range))
}

/// Whether there is one.
pub(super) fn any(text: &str) -> bool {
    !all(text).is_empty()
}

/// `$NAME` and `%NAME%` in capitals, and `{env:NAME}`, in the order of the text. The first two may
/// also stand for themselves, unless they are all of the text.
pub(super) fn all(text: &str) -> Vec<VariableReference<'_>> {
    let mut all = Vec::new();
    let mut place = 0;
    while let Some(rest) = text.get(place..).filter(|rest| !rest.is_empty()) {
        let found = shell(rest).or_else(|| windows(rest)).or_else(|| braces(rest));
        if let Some((length, name, is_sure)) = found {
            let is_sure = is_sure || length == text.len();
            all.push(VariableReference { range: place..place + length, name, is_sure });
            place += length;
        } else {
            place += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    all
}

type VariableMatch<'t> = Option<(usize, &'t str, bool)>;

fn shell(text: &str) -> VariableMatch<'_> {
    let name = name(text.strip_prefix('$')?)?;
    Some((name.len() + 1, name, false))
}

fn windows(text: &str) -> VariableMatch<'_> {
    let rest = text.strip_prefix('%')?;
    // Two digits are a byte of an address.
    let is_byte =
        |name: &&str| name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let name = name(rest).filter(|name| !is_byte(name))?;
    rest.get(name.len()..)?.starts_with('%').then_some((name.len() + 2, name, false))
}

fn braces(text: &str) -> VariableMatch<'_> {
    let (name, _) = text.strip_prefix("{env:")?.split_once('}')?;
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_name = !name.is_empty() && name.bytes().all(is_legal);
    is_name.then_some((name.len() + 6, name, true))
}

/// The name at the beginning: capitals, since other letters stand in all sorts of texts.
fn name(text: &str) -> Option<&str> {
    let is_legal = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let length = text.bytes().take_while(|byte| is_legal(*byte)).count();
    let goes_on = text.as_bytes().get(length).is_some_and(u8::is_ascii_lowercase);
    let name = text.get(..length).filter(|name| name.len() > 1 && !goes_on)?;
    name.starts_with(|first: char| !first.is_ascii_digit()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::all;

    #[test]
    fn variables_are_told_from_what_only_looks_like_one() {
        let names = |text| -> Vec<(String, bool)> {
            all(text).iter().map(|named| (named.name.to_owned(), named.is_sure)).collect()
        };
        for sure in ["$HOME", "%APPDATA%", "{env:key_1}"] {
            assert_eq!(names(sure).len(), 1, "{sure}");
            assert!(names(sure)[0].1, "{sure}");
        }
        assert_eq!(names("a $HOME/b %TEMP% {env:X}").len(), 3);
        assert!(!names("$HOME/b")[0].1);
        for none in
            ["", "$", "$a", "$5", "100% %", "%20%41", "%C3%A4", "$Abc", "{env:}", "{env:a b}", "é$"]
        {
            assert_eq!(names(none), [], "{none}");
        }
    }
}
