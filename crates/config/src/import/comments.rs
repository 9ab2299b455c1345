//! JSON with comments and trailing commas becomes JSON; every place stays where it was.

/// The text with blanks instead of comments and of commas that nothing follows.
pub(crate) fn without(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    // Where the last comma is, if only blanks came after it.
    let mut comma = None;
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('"', _) => {
                comma = None;
                out.push('"');
                string(&mut letters, &mut out);
            }
            ('/', Some('/')) => {
                out.push(' ');
                while let Some(letter) = letters.next_if(|letter| *letter != '\n') {
                    blank(letter, &mut out);
                }
            }
            ('/', Some('*')) => {
                out.push(' ');
                out.extend(letters.next().map(|_| ' '));
                let mut before = ' ';
                for letter in letters.by_ref() {
                    blank(letter, &mut out);
                    if before == '*' && letter == '/' {
                        break;
                    }
                    before = letter;
                }
            }
            (',', _) => {
                comma = Some(out.len());
                out.push(',');
            }
            (']' | '}', _) => {
                if let Some(at) = comma.take() {
                    out.replace_range(at..=at, " ");
                }
                out.push(letter);
            }
            (letter, _) => {
                if !letter.is_ascii_whitespace() {
                    comma = None;
                }
                out.push(letter);
            }
        }
    }
    out
}

fn string(letters: &mut impl Iterator<Item = char>, out: &mut String) {
    let mut is_escaped = false;
    for letter in letters {
        out.push(letter);
        match letter {
            '"' if !is_escaped => return,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
}

/// As many bytes as before, so that columns stay.
fn blank(letter: char, out: &mut String) {
    if letter == '\n' {
        out.push('\n');
    } else {
        out.extend(std::iter::repeat_n(' ', letter.len_utf8()));
    }
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn comments_and_trailing_commas_become_blanks_and_strings_stay() {
        let text =
            "{ // a \"b\"\n \"u\": \"http://x,]\", /* ] */ \"e\": \"\\\"//\", \"l\": [1, /**/ ], }";
        let plain = without(text);
        assert_eq!(plain.len(), text.len());
        let value: serde_json::Value = serde_json::from_str(&plain).unwrap();
        assert_eq!(value, serde_json::json!({ "u": "http://x,]", "e": "\"//", "l": [1] }));
        assert_eq!(without("{/*"), "{  ");
        assert_eq!(without("/"), "/");
    }
}
