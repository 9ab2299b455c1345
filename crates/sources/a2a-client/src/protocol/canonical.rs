//! JSON in the one form that signatures are made over (RFC 8785).

use serde_json::{Map, Number, Value};

/// The value as everybody writes it who signs it, or checks a signature. Its depth is bounded by
/// what was read.
pub fn canonical_text(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        // What no such number holds is none, as in the language that the form is from.
        Value::Number(number) => match number.as_f64().filter(|number| number.is_finite()) {
            Some(number) => out.push_str(&number_text(number)),
            None => out.push_str("null"),
        },
        Value::String(text) => out.push_str(&quoted(text)),
        Value::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(fields) => write_fields(fields, out),
    }
}

/// Names stand in the order of their units in UTF-16.
fn write_fields(fields: &Map<String, Value>, out: &mut String) {
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
    out.push('{');
    for (place, (name, value)) in sorted.into_iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        out.push_str(&quoted(name));
        out.push(':');
        write(value, out);
    }
    out.push('}');
}

/// It escapes what must be escaped, and in the same letters.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A number as ECMAScript writes it (`Number::toString`).
fn number_text(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    // The shortest digits that are this number and no other; of two such the even ones, which
    // `format!` does not give.
    let shortest = Number::from_f64(number).map(|number| number.to_string()).unwrap_or_default();
    let (sign, shortest) = match shortest.strip_prefix('-') {
        Some(shortest) => ("-", shortest),
        None => ("", shortest.as_str()),
    };
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((shortest, "0"));
    let (whole, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{rest}");
    let bare = all.trim_start_matches('0');
    let digits = bare.trim_end_matches('0');
    let length = |text: &str| i32::try_from(text.len()).unwrap_or(i32::MAX);
    // How many digits stand before the point.
    let before =
        length(whole) - (length(&all) - length(bare)) + exponent.parse::<i32>().unwrap_or_default();
    let count = length(digits);
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or_default());
    let point = usize::try_from(before).unwrap_or_default();
    let text = match before {
        1..=21 if count <= before => format!("{digits}{}", zeros(before - count)),
        1..=21 => {
            let (whole, rest) = digits.split_at_checked(point).unwrap_or((digits, ""));
            format!("{whole}.{rest}")
        }
        -5..=0 => format!("0.{}{digits}", zeros(-before)),
        _ => {
            let (first, rest) = digits.split_at_checked(1).unwrap_or((digits, ""));
            let point = if rest.is_empty() { "" } else { "." };
            format!("{first}{point}{rest}e{:+}", before - 1)
        }
    };
    format!("{sign}{text}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The samples of RFC 8785, appendix B, and what stands at the edges between two forms.
    #[test]
    fn numbers_are_written_as_the_standard_has_them() {
        for (bits, text) in [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            assert_eq!(number_text(f64::from_bits(bits)), text);
        }
    }

    #[test]
    fn names_are_sorted_and_texts_escaped_as_the_standard_has_it() {
        let value: Value = serde_json::from_str(
            r#"{"\u20ac":"Euro","\r":"CR","\ufb33":"Dalet","1":1.0,"\ud83d\ude00":"Face",
               "\u0080":"Control","\u00f6":"O","a":["\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"\/",
               null,true,1e3]}"#,
        )
        .unwrap();
        let wanted = "{\"\\r\":\"CR\",\"1\":1,\"a\":[\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\",null,true,\
                      1000],\"\u{80}\":\"Control\",\"ö\":\"O\",\"€\":\"Euro\",\"😀\":\"Face\",\
                      \"\u{fb33}\":\"Dalet\"}";
        assert_eq!(canonical_text(&value), wanted);
        assert_eq!(canonical_text(&json!({ "b": {}, "a": [] })), "{\"a\":[],\"b\":{}}");
    }
}
