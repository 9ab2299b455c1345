//! What a word without quotes is: the table of YAML 1.2.2, section 10.3.2, and where readers of
//! YAML 1.1 read otherwise.

use serde_json::{Number, Value};

/// The value of a plain word; `None`: it is text.
///
/// Infinity and what is no number are text here, since JSON has no word for them.
pub(super) fn resolved(word: &str) -> Option<Value> {
    match word {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Value::Null),
        "true" | "True" | "TRUE" => return Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Some(Value::Bool(false)),
        _ => {}
    }
    number(word).map(Value::Number)
}

fn number(word: &str) -> Option<Number> {
    // A look at the first letter spares nearly all words the rest.
    if !word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
        return None;
    }
    for (start, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = word.strip_prefix(start) {
            let is_plain = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
            let value = is_plain.then(|| u128::from_str_radix(digits, radix).ok()).flatten()?;
            return serde_json::from_str(&value.to_string()).ok();
        }
    }
    let (sign, rest) = match word.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", word.strip_prefix('+').unwrap_or(word)),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (rest, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let has_digits = !whole.is_empty() || fraction.is_some_and(|fraction| !fraction.is_empty());
    let exponent_digits = exponent.map(|it| it.strip_prefix(['+', '-']).unwrap_or(it));
    if !has_digits
        || !is_digits(whole)
        || !fraction.is_none_or(is_digits)
        || !exponent_digits.is_none_or(|digits| !digits.is_empty() && is_digits(digits))
    {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    if fraction.is_none() && exponent.is_none() {
        let sign = if whole == "0" { "" } else { sign };
        return serde_json::from_str(&format!("{sign}{whole}")).ok();
    }
    let fraction = fraction.filter(|fraction| !fraction.is_empty());
    let fraction = fraction.map(|fraction| format!(".{fraction}")).unwrap_or_default();
    let exponent = exponent.map(|exponent| format!("e{exponent}")).unwrap_or_default();
    let fraction = if fraction.is_empty() && exponent.is_empty() { ".0" } else { &fraction };
    serde_json::from_str(&format!("{sign}{whole}{fraction}{exponent}")).ok()
}

/// Whether a number is written as JSON would write it.
pub(super) fn is_usual(word: &str) -> bool {
    let signed = word.parse::<i64>().is_ok_and(|number| number.to_string() == word);
    let unsigned = || word.parse::<u64>().is_ok_and(|number| number.to_string() == word);
    signed || unsigned() || word.parse::<f64>().is_ok_and(|number| format!("{number:?}") == word)
}

/// What readers of YAML 1.1 take a plain word for, where that is something else than here.
pub(super) fn older(word: &str) -> Option<&'static str> {
    match word {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Some("`true`"),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Some("`false`"),
        _ => {}
    }
    let is_number = word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    if !is_number || word.len() > 40 || !word.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    let all = |text: &str, legal: fn(char) -> bool| !text.is_empty() && text.chars().all(legal);
    let digits = |text: &str| all(text, |c| c.is_ascii_digit() || c == '_');
    if unsigned.strip_prefix("0o").is_some_and(|rest| all(rest, |c| c.is_digit(8))) {
        return Some("text");
    }
    if unsigned.strip_prefix("0b").is_some_and(|rest| all(rest, |c| matches!(c, '0' | '1' | '_'))) {
        return Some("a binary number");
    }
    if unsigned.len() > 1
        && unsigned.starts_with('0')
        && all(unsigned, |c| c.is_digit(8) || c == '_')
    {
        return Some("an octal number");
    }
    if is_date(word) {
        return Some("a date");
    }
    let groups = unsigned.split_once(':').filter(|(first, _)| digits(first));
    let is_sixty = |part: &str| {
        part.len() <= 2
            && all(part, |c| c.is_ascii_digit())
            && part.parse().is_ok_and(|it: u8| it < 60)
    };
    if groups.is_some_and(|(_, rest)| rest.split(':').all(is_sixty)) {
        return Some("a number of base 60");
    }
    let is_separated = unsigned.contains('_') && unsigned.chars().filter(|c| *c == '.').count() < 2;
    if is_separated && all(unsigned, |c| c.is_ascii_digit() || c == '_' || c == '.') {
        return Some("a number");
    }
    // Its numbers with an exponent have a point and a sign.
    let is_short = unsigned.split_once(['e', 'E']).is_some_and(|(mantissa, exponent)| {
        !mantissa.contains('.') || !exponent.starts_with(['+', '-'])
    });
    (is_short && number(word).is_some()).then_some("text")
}

/// `2026-01-31`, alone or before a time.
fn is_date(word: &str) -> bool {
    let (date, time) = word.split_once(['T', 't', ' ']).unwrap_or((word, "0"));
    let mut parts = date.split('-');
    let mut is_part = |lengths: &[usize]| {
        parts.next().is_some_and(|part| {
            lengths.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let lengths: &[usize] = if time == "0" { &[2] } else { &[1, 2] };
    is_part(&[4])
        && is_part(lengths)
        && is_part(lengths)
        && parts.next().is_none()
        && time.starts_with(|c: char| c.is_ascii_digit())
}
