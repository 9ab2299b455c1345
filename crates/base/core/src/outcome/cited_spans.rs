//! The places where a text cites sources by their numbers.

/// Where a text cites a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CitedSpan {
    /// In letters (Unicode scalar values) from the beginning of the text.
    pub start: usize,
    /// Behind the last of it.
    pub end: usize,
    pub number: u32,
}

/// Numbers in one pair of brackets.
const MOST_IN_BRACKETS: usize = 16;
/// Places of one text.
const MOST_SPANS: usize = 1_000;

/// The places where a text cites a source by its number: `[1]` or `[1, 3]`, and not within code.
/// Which numbers there are, the caller knows.
pub fn cited_spans(text: &str) -> Vec<CitedSpan> {
    let letters: Vec<char> = text.chars().collect();
    let mut spans = Vec::new();
    let mut place = 0;
    while let Some(letter) = letters.get(place) {
        let rest = letters.get(place..).unwrap_or_default();
        place += match letter {
            '`' => code(rest),
            '[' => match bracket(rest) {
                Some((length, numbers)) if spans.len() < MOST_SPANS => {
                    let (start, end) = (place, place + length);
                    spans.extend(numbers.into_iter().map(|number| CitedSpan {
                        start,
                        end,
                        number,
                    }));
                    length
                }
                _ => 1,
            },
            _ => 1,
        };
    }
    spans
}

/// Letters of the code that begins here, with its quotes; without an end it is no code.
fn code(rest: &[char]) -> usize {
    let quotes = rest.iter().take_while(|letter| **letter == '`').count();
    let mut found = 0;
    for (place, letter) in rest.iter().enumerate().skip(quotes) {
        let is_quote = *letter == '`';
        if !is_quote && found == quotes {
            return place;
        }
        found = if is_quote { found + 1 } else { 0 };
    }
    if found == quotes { rest.len() } else { quotes }
}

/// Letters of a pair of brackets with nothing but numbers, and these.
fn bracket(rest: &[char]) -> Option<(usize, Vec<u32>)> {
    let inside = rest.get(1..)?;
    let length = inside.iter().take(8 * MOST_IN_BRACKETS).position(|letter| *letter == ']')?;
    let inside: String = inside.get(..length)?.iter().collect();
    let mut numbers = Vec::new();
    for number in inside.split(',') {
        let number = number.trim();
        let is_plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.parse().ok().filter(|number| is_plain && *number > 0)?;
        if !numbers.contains(&number) && numbers.len() < MOST_IN_BRACKETS {
            numbers.push(number);
        }
    }
    Some((length + 2, numbers))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::cited_spans;

    fn cited(text: &str) -> Vec<(u32, String)> {
        let letters: Vec<char> = text.chars().collect();
        let spans = cited_spans(text);
        spans
            .iter()
            .map(|span| (span.number, letters[span.start..span.end].iter().collect()))
            .collect()
    }

    #[test]
    fn a_number_in_brackets_cites_a_source_where_it_is_no_code() {
        let of = |number: u32, text: &str| (number, text.to_owned());
        assert_eq!(
            cited("Größer [1], as 🐘 say[2][3]. Both [1, 2]; [ 4 ](https://example.com)."),
            [
                of(1, "[1]"),
                of(2, "[2]"),
                of(3, "[3]"),
                of(1, "[1, 2]"),
                of(2, "[1, 2]"),
                of(4, "[ 4 ]"),
            ]
        );
        assert_eq!(cited("`a[1]` and ``b`[2]`` and\n```\nc[3]\n```\n[4]"), [of(4, "[4]")]);
        assert_eq!(cited("[0] [x] [] [1;2] [-1] [+1] [99999999999] [1"), []);
        assert_eq!(cited("a ` b [1]"), [of(1, "[1]")]);
    }

    proptest! {
        #[test]
        fn whatever_a_model_writes_its_places_are_brackets_in_order(
            text in r"(\[|\]|`|[0-9]|,| |ä|🐘|x){0,60}",
        ) {
            let letters: Vec<char> = text.chars().collect();
            let spans = cited_spans(&text);
            for span in &spans {
                prop_assert_eq!((letters[span.start], letters[span.end - 1]), ('[', ']'));
            }
            prop_assert!(spans.windows(2).all(|two| two[0].start <= two[1].start));
        }
    }
}
