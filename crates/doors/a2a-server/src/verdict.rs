//! What a person says in words to a call that waits for a yes or a no.

const YES: &[&str] =
    &["yes", "y", "yes please", "approve", "approved", "i approve", "ok", "okay", "go ahead"];
const NO: &[&str] =
    &["no", "n", "no thanks", "deny", "denied", "reject", "cancel", "stop", "do not"];

/// A yes or a no; `None`: these words are neither, and nobody guesses.
pub fn verdict(words: &str) -> Option<bool> {
    // More cannot be one of these.
    let words = words.get(..words.floor_char_boundary(40)).unwrap_or_default();
    let is_mark = |letter: char| letter.is_whitespace() || ".,!".contains(letter);
    let words = words.trim_matches(is_mark).replace(',', "").to_lowercase();
    if YES.contains(&words.as_str()) {
        return Some(true);
    }
    NO.contains(&words.as_str()).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::verdict;

    #[test]
    fn only_plain_words_are_a_yes_or_a_no() {
        for yes in ["yes", " Yes. ", "OK!", "Yes, please"] {
            assert_eq!(verdict(yes), Some(true), "{yes}");
        }
        for no in ["no", "Deny", "No, thanks."] {
            assert_eq!(verdict(no), Some(false), "{no}");
        }
        for neither in ["", "yes, but not today", "yesterday", "not ok", "maybe", "no problem, yes"]
        {
            assert_eq!(verdict(neither), None, "{neither}");
        }
        assert_eq!(verdict(&"yes ".repeat(100)), None);
    }
}
