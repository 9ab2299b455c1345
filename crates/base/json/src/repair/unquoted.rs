//! What stands without quotes: literals, numbers as other languages write them, and plain words.

use serde_json::{Number, Value};

use super::lookahead::{GrammarPlace, opens_string};
use super::note::RepairKind;
use super::parser::{OpenContainer, RepairParser};

impl RepairParser<'_> {
    /// A value without quotes; `None` if it was only begun when the text ended.
    pub(super) fn bare(&mut self, place: GrammarPlace) -> Option<Value> {
        let start = self.cursor.at;
        let end = self.token_end(start);
        let token = self.cursor.slice(start, end);
        let behind = self.cursor.skip_space(end);
        if self.cursor.char(behind).is_none() {
            let literal = cut_literal(token);
            let sign = matches!(token, "-" | "+" | ".");
            if sign || literal.is_some() {
                self.notes
                    .add(if sign { RepairKind::Unfinished } else { RepairKind::Literal }, start);
                self.cursor.at = behind;
                return literal;
            }
        }
        if let Some((value, change)) = scalar(token)
            && self.token_stands_alone(end, place)
        {
            if let Some(change) = change {
                self.notes.add(change, start);
            }
            self.cursor.at = end;
            self.stray_quote();
            return Some(value);
        }
        let end = self.words_end(start, place);
        self.cursor.at = end;
        self.stray_quote();
        self.notes.add(RepairKind::BareText, start);
        Some(Value::String(self.cursor.slice(start, end).trim_end().to_owned()))
    }

    /// A lone closing quote behind a bare value.
    fn stray_quote(&mut self) {
        if self.is_stray_quote(self.cursor.at) {
            self.notes.add(RepairKind::StrayQuote, self.cursor.at);
            self.cursor.at = self.cursor.after(self.cursor.at);
        }
    }

    pub(super) fn is_stray_quote(&self, at: usize) -> bool {
        self.cursor.char(at).is_some_and(opens_string)
            && !self.is_fence(at)
            && self.separates(self.cursor.skip_space(self.cursor.after(at)))
    }

    fn token_end(&self, start: usize) -> usize {
        self.cursor.skip(start, |character| {
            !character.is_whitespace()
                && !matches!(character, ',' | '}' | ']' | ')' | '"' | '\'' | ':')
        })
    }

    /// Whether a literal or number that ends at `end` is the whole value.
    fn token_stands_alone(&self, end: usize, place: GrammarPlace) -> bool {
        let solid = self.cursor.skip_space(end);
        match self.cursor.char(solid) {
            Some(',') if place == GrammarPlace::Member => {
                let next = self.cursor.skip_space(solid + 1);
                let digit = self.cursor.char(next).is_some_and(|next| next.is_ascii_digit());
                !digit || self.key_begins(next)
            }
            _ if self.separates(solid) || self.is_stray_quote(solid) => true,
            Some(_) if place == GrammarPlace::Item => true,
            Some(_) => self.key_begins(solid) || self.cursor.slice(end, solid).contains('\n'),
            None => true,
        }
    }

    /// The end of a text without quotes.
    ///
    /// Inside an array it ends at the next comma; in an object only at a comma behind which a key
    /// or nothing follows. Brackets that it opens belong to it.
    fn words_end(&self, start: usize, place: GrammarPlace) -> usize {
        let mut depth = 0_usize;
        let mut passage = false;
        let mut at = start;
        while let Some(character) = self.cursor.char(at) {
            let next = at + character.len_utf8();
            let spaced = at > start && self.cursor.before(at).is_some_and(char::is_whitespace);
            match character {
                '{' | '[' | '(' => depth += 1,
                '}' | ']' | ')' if depth > 0 => depth -= 1,
                '}' | ']' if self.frame_closed_by(character).is_some() => return at,
                ')' if self.frames.last() == Some(&OpenContainer::Tuple) => return at,
                '`' if self.is_fence(at) => return at,
                '/' | '#' if spaced && self.cursor.begins_comment(at) => return at,
                ',' | '\n' if depth == 0 && self.words_end_at(at, place) => return at,
                _ if opens_string(character) && at > start => {
                    let key = place == GrammarPlace::Member && self.quoted_key_colon(at).is_some();
                    let item = place == GrammarPlace::Item && spaced;
                    if key || item || (!passage && self.is_stray_quote(at)) {
                        return at;
                    }
                    passage = !passage && spaced;
                }
                _ => {}
            }
            at = next;
        }
        at
    }

    /// Whether the comma or line break at `at` ends a text without quotes.
    fn words_end_at(&self, at: usize, place: GrammarPlace) -> bool {
        let next = self.cursor.skip_space(at + 1);
        place == GrammarPlace::Item || self.separates(next) || self.key_begins(next)
    }
}

/// The literal or number that `token` is, and how it had to be changed.
pub(super) fn scalar(token: &str) -> Option<(Value, Option<RepairKind>)> {
    let value = match token {
        "true" => (Value::Bool(true), None),
        "false" => (Value::Bool(false), None),
        "null" => (Value::Null, None),
        "True" | "TRUE" => (Value::Bool(true), Some(RepairKind::Literal)),
        "False" | "FALSE" => (Value::Bool(false), Some(RepairKind::Literal)),
        "None" | "Null" | "NULL" | "undefined" => (Value::Null, Some(RepairKind::Literal)),
        "NaN" | "Infinity" | "-Infinity" | "+Infinity" => {
            (Value::String(token.to_owned()), Some(RepairKind::NotFinite))
        }
        _ => return number(token),
    };
    Some(value)
}

/// The literal whose beginning the text ends with.
fn cut_literal(token: &str) -> Option<Value> {
    let whole = |literals: [&str; 2]| {
        literals.iter().any(|literal| literal.len() > token.len() && literal.starts_with(token))
    };
    match token.len() {
        0 | 1 => None,
        _ if whole(["true", "True"]) => Some(Value::Bool(true)),
        _ if whole(["false", "False"]) => Some(Value::Bool(false)),
        _ if whole(["null", "None"]) => Some(Value::Null),
        _ => None,
    }
}

fn number(token: &str) -> Option<(Value, Option<RepairKind>)> {
    if !token.bytes().next()?.is_ascii_digit() && !token.starts_with(['-', '+', '.']) {
        return None;
    }
    if let Ok(number) = serde_json::from_str::<Number>(token) {
        return Some((Value::Number(number), None));
    }
    let (sign, digits) = match token.strip_prefix(['-', '+']) {
        Some(digits) if token.starts_with('-') => ("-", digits),
        Some(digits) => ("", digits),
        None => ("", token),
    };
    let digits = without_separators(digits)?;
    let number = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) if hex.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            let value = i128::from_str_radix(hex, 16).ok()?;
            Number::from_i128(if sign.is_empty() { value } else { -value })?
        }
        Some(_) => return None,
        None => serde_json::from_str(&format!("{sign}{}", completed(&digits)?)).ok()?,
    };
    Some((Value::Number(number), Some(RepairKind::Number)))
}

/// `1_000` as `1000`; `None` if an underscore does not stand between digits.
fn without_separators(digits: &str) -> Option<String> {
    let digit = |part: Option<char>| part.is_some_and(|character| character.is_ascii_hexdigit());
    let parts: Vec<&str> = digits.split('_').collect();
    let joined = parts.windows(2).all(|pair| match pair {
        [left, right] => digit(left.chars().next_back()) && digit(right.chars().next()),
        _ => true,
    });
    joined.then(|| parts.concat())
}

/// `.5` as `0.5`, `1.` as `1.0` and `1e` as `1`.
fn completed(digits: &str) -> Option<String> {
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, "" | "+" | "-")) => (mantissa, String::new()),
        Some((mantissa, exponent)) => (mantissa, format!("e{exponent}")),
        None => (digits, String::new()),
    };
    let mantissa = match mantissa.split_once('.') {
        Some(("", "")) => return None,
        Some(("", fraction)) => format!("0.{fraction}"),
        Some((whole, "")) => format!("{whole}.0"),
        _ => mantissa.to_owned(),
    };
    Some(mantissa + &exponent)
}
