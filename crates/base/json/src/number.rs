//! What the literal of a number means, to the last digit: `1`, `1.0` and `1e0` are one number.

use std::hash::{Hash, Hasher};

use serde_json::{Map, Number, Value};

/// A number as its digits without the zeros around them, and the power of ten of the last one.
#[derive(Debug, Clone, Copy)]
pub struct Decimal<'n> {
    is_negative: bool,
    /// The literal's digits before the point and behind it.
    before: &'n str,
    behind: &'n str,
    /// Zeros in front of the digits that count, and how many count.
    skipped: usize,
    count: usize,
    scale: i64,
}

impl<'n> Decimal<'n> {
    /// `None`: its exponent is beyond all measure.
    pub fn of(number: &'n Number) -> Option<Self> {
        let text = number.as_str();
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(text) => (true, text),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (before, behind) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_zero = |digit: &u8| *digit == b'0';
        let digits = || before.bytes().chain(behind.bytes());
        let skipped = digits().take_while(is_zero).count();
        let total = before.len() + behind.len();
        if skipped == total {
            let (skipped, count) = (0, 0);
            return Some(Self { is_negative: false, before, behind, skipped, count, scale: 0 });
        }
        let trailing = digits().rev().take_while(is_zero).count();
        let scale = exponent.parse::<i64>().ok()?;
        let scale = scale.checked_sub(i64::try_from(behind.len()).ok()?)?;
        let scale = scale.checked_add(i64::try_from(trailing).ok()?)?;
        let count = total - skipped - trailing;
        Some(Self { is_negative, before, behind, skipped, count, scale })
    }

    /// The digits that count; none of zero.
    fn digits(&self) -> impl Iterator<Item = u8> {
        self.before.bytes().chain(self.behind.bytes()).skip(self.skipped).take(self.count)
    }

    pub fn is_whole(&self) -> bool {
        self.scale >= 0
    }

    /// The number, if it is a whole one of 128 bits.
    pub fn whole(&self) -> Option<i128> {
        let shift = u32::try_from(self.scale).ok()?;
        let digits = self.digits().try_fold(0_i128, |sum, digit| {
            sum.checked_mul(10)?.checked_sub(i128::from(digit.wrapping_sub(b'0')))
        });
        // Counted downwards: there is one more below zero than above.
        let below = digits?.checked_mul(10_i128.checked_pow(shift)?)?;
        if self.is_negative { Some(below) } else { below.checked_neg() }
    }

    /// The shortest literal of digits and an exponent.
    pub fn literal(&self) -> String {
        let sign = if self.is_negative { "-" } else { "" };
        let digits: String = self.digits().map(char::from).collect();
        match (self.count, self.scale) {
            (0, _) => "0".to_owned(),
            (_, 0) => format!("{sign}{digits}"),
            (_, scale) => format!("{sign}{digits}e{scale}"),
        }
    }
}

impl PartialEq for Decimal<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.is_negative == other.is_negative
            && (self.scale, self.count) == (other.scale, other.count)
            && self.digits().eq(other.digits())
    }
}

impl Eq for Decimal<'_> {}

impl Hash for Decimal<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.is_negative, self.scale, self.count).hash(hasher);
        self.digits().for_each(|digit| hasher.write_u8(digit));
    }
}

/// How a number was written, for where it becomes text. `None`: it has an exponent, which a reader
/// of JSON writes in its own way (`1E5` as `1e+5`), so that nobody knows any more.
pub fn as_written(number: &Number) -> Option<&str> {
    Some(number.as_str()).filter(|text| !text.contains(['e', 'E']))
}

/// The only key of the map as which `serde_json` hands over the literal of a number.
pub(crate) const LITERAL: &str = "$serde_json::private::Number";

/// A value to be read as a type that keeps values for later (flattened, untagged): those cannot
/// hold a whole number of more than 64 bits, and write some floats anew. Such a number stands there
/// as `serde_json` hands literals over, of which it makes the number again.
pub fn guarded(mut value: Value) -> Value {
    let mut waiting = vec![&mut value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Number(number) if is_altered(number) => {
                let literal = Value::from(number.as_str());
                *value = Value::Object(Map::from_iter([(LITERAL.to_owned(), literal)]));
            }
            Value::Array(items) => waiting.extend(items),
            Value::Object(members) => waiting.extend(members.values_mut()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    value
}

/// Whether a number is another literal, or none, when it has been kept for later.
fn is_altered(number: &Number) -> bool {
    if number.is_i64() || number.is_u64() {
        return number.as_str() == "-0";
    }
    let is_long = number.as_i128().is_some() || number.as_u128().is_some();
    // A float that is written without an exponent, and would get one.
    let is_plain = |float: &f64| float.to_string() == number.as_str();
    let float = number.as_f64().filter(is_plain).and_then(Number::from_f64);
    is_long || float.is_some_and(|float| float != *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(literal: &str) -> Number {
        serde_json::from_str(literal).unwrap()
    }

    #[test]
    fn what_is_equal_is_equal_and_what_differs_differs() {
        for alike in [
            ["1", "1.0", "1e0", "10e-1", "0.1E1", "1.000"].as_slice(),
            &["0", "-0", "0.0", "-0e400", "0e-5"],
            &["18446744073709551616", "18446744073709551616.0", "1844674407370955161.6e1"],
            &["-9223372036854775809", "-9223372036854775809.00"],
            &["1e400", "10e399", "1E+400"],
            &["1.10", "1.1", "11e-1"],
        ] {
            for (left, right) in alike.iter().flat_map(|l| alike.iter().map(move |r| (l, r))) {
                let (left, right) = (number(left), number(right));
                assert_eq!(Decimal::of(&left), Decimal::of(&right), "{left} {right}");
                assert_eq!(
                    Decimal::of(&left).map(|it| it.literal()),
                    Decimal::of(&right).map(|it| it.literal())
                );
            }
        }
        for (left, right) in [
            ("18446744073709551616", "18446744073709551617"),
            ("9007199254740993", "9007199254740992.0"),
            ("0.1", "0.1000000000000000000001"),
            ("1e400", "1e401"),
            ("1", "-1"),
            ("10", "1"),
        ] {
            assert_ne!(Decimal::of(&number(left)), Decimal::of(&number(right)), "{left} {right}");
        }
    }

    #[test]
    fn what_is_kept_for_later_keeps_its_literals() {
        #[derive(serde::Deserialize)]
        struct Kept {
            #[serde(flatten)]
            inner: Inner,
        }
        #[derive(serde::Deserialize)]
        struct Inner {
            count: u64,
            share: f64,
            value: Value,
        }
        let inner = "[18446744073709551616,0.00000001,1.10,1e+400,-170141183460469231731687303715884105728,2.5,7,-0]";
        let text = format!(r#"{{"count":7,"share":2.5,"value":{inner}}}"#);
        let value = guarded(serde_json::from_str(&text).unwrap());
        let Kept { inner: Inner { count, share, value } } = serde_json::from_value(value).unwrap();
        assert_eq!((count, share, value.to_string().as_str()), (7, 2.5, inner));
    }

    #[test]
    fn whole_numbers_are_exact() {
        for (literal, whole) in [
            ("-0", Some(0)),
            ("1e3", Some(1_000)),
            ("-170141183460469231731687303715884105728", Some(i128::MIN)),
            ("170141183460469231731687303715884105727.0", Some(i128::MAX)),
            ("170141183460469231731687303715884105728", None),
            ("1e400", None),
            ("1.5", None),
        ] {
            let number = number(literal);
            assert_eq!(Decimal::of(&number).and_then(|it| it.whole()), whole, "{literal}");
        }
        assert_eq!(Decimal::of(&number("1e99999999999999999999")), None);
    }
}
