//! What a keyword asks for, in a few words.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the kinds of errors are the validator's: a new one is met in general words"
)]

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, JsonTypeSet};
use serde_json::Value;

use crate::schema::excerpt;
use crate::schema::similar_names::nearest;

/// Alternatives that are joined by "or" before the rest is left out.
pub(crate) const JOINED: usize = 4;
/// Admitted values that are listed.
const LISTED: usize = 8;
/// Characters of a value, a pattern or a schema that are shown.
const SHOWN: usize = 60;

/// What the schema expects where an error of this kind was found with the value `got`.
pub(crate) fn expected(kind: &Kind, got: &Value, format: Option<&str>) -> String {
    match kind {
        Kind::Type { kind } => types(kind, format),
        Kind::Enum { options } => one_of(options, got),
        Kind::Constant { expected_value } => excerpt::show(expected_value, SHOWN),
        Kind::Pattern { pattern } => {
            format!("text that matches `{}`", excerpt::shorten(pattern, SHOWN))
        }
        Kind::Format { format } => {
            format!("text of the format {}", excerpt::shorten(format, SHOWN))
        }
        Kind::Minimum { limit } => format!("at least {limit}"),
        Kind::Maximum { limit } => format!("at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("at least {}", counted(*limit, "character")),
        Kind::MaxLength { limit } => format!("at most {}", counted(*limit, "character")),
        Kind::MinItems { limit } => format!("at least {}", counted(*limit, "item")),
        Kind::MaxItems { limit } => format!("at most {}", counted(*limit, "item")),
        Kind::AdditionalItems { limit } => {
            format!("at most {}", counted(*limit as u64, "item"))
        }
        Kind::UnevaluatedItems { .. } => "no further items".to_owned(),
        Kind::MinProperties { limit } => format!("at least {}", counted(*limit, "member")),
        Kind::MaxProperties { limit } => format!("at most {}", counted(*limit, "member")),
        Kind::UniqueItems => "items that all differ".to_owned(),
        Kind::Contains => "an item of another kind among these".to_owned(),
        Kind::Not { schema } => format!("nothing of {}", excerpt::show(schema, SHOWN)),
        Kind::OneOfMultipleValid { .. } => {
            "a value that fits only one of the alternatives".to_owned()
        }
        Kind::FalseSchema => "nothing here".to_owned(),
        other => format!("a value that satisfies `{}`", other.keyword()),
    }
}

/// Whether an error is about the value itself and not about what is in it.
pub(crate) fn is_of_value(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Type { .. } | Kind::Enum { .. } | Kind::Constant { .. } | Kind::FalseSchema
    )
}

/// Whether an error shows that another branch was meant: `const` and `enum` tell branches apart.
pub(crate) fn tells_apart(kind: &Kind) -> bool {
    matches!(kind, Kind::Enum { .. } | Kind::Constant { .. })
}

/// The types that an error of the keyword `type` names.
pub(crate) fn type_set(kind: &TypeKind) -> JsonTypeSet {
    match kind {
        TypeKind::Single(one) => JsonTypeSet::empty().insert(*one),
        TypeKind::Multiple(set) => *set,
    }
}

fn types(kind: &TypeKind, format: Option<&str>) -> String {
    let set = type_set(kind);
    let others = set.remove(JsonType::Null);
    let null = set.contains(JsonType::Null).then_some(JsonType::Null);
    let named: Vec<String> = others
        .iter()
        .chain(null)
        .map(|one| match (one, format) {
            (JsonType::String, Some(format)) => {
                format!("a string ({})", excerpt::shorten(format, SHOWN))
            }
            (one, _) => noun(one).to_owned(),
        })
        .collect();
    named.join(" or ")
}

fn noun(one: JsonType) -> &'static str {
    match one {
        JsonType::Array => "an array",
        JsonType::Boolean => "true or false",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    }
}

/// The admitted values, and of many that are not all told the one that was likely meant.
fn one_of(options: &Value, got: &Value) -> String {
    let Value::Array(options) = options else {
        return excerpt::show(options, SHOWN);
    };
    let mut listed: Vec<String> =
        options.iter().take(LISTED).map(|option| excerpt::show(option, SHOWN)).collect();
    if options.len() > LISTED {
        let texts = options.iter().skip(LISTED).filter_map(Value::as_str);
        let meant = got.as_str().and_then(|got| nearest(got, texts));
        let meant = meant.map(|meant| format!("{}, ", excerpt::show(&Value::from(meant), SHOWN)));
        listed.push(format!("… {}({} in all)", meant.unwrap_or_default(), options.len()));
    }
    match listed.as_slice() {
        [only] => only.clone(),
        several => format!("one of {}", several.join(", ")),
    }
}

fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
