//! The one change that mends an error, where there is only one.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the kinds of errors are the validator's: a new one is met in general words"
)]

use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::{JsonType, JsonTypeSet, ValidationError};
use serde_json::{Map, Number, Value};

use super::coercion::Coercion;
use super::container;
use super::sole_type::SoleType;
use crate::number::{self, Decimal};
use crate::schema::bounds::push_token;
use crate::schema::explain::expected::type_set;
use crate::schema::graph::unescape;
use crate::schema::similar_names::plain;

/// A change at one place of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Remedy {
    /// Another value stands there.
    Replace(Value),
    /// The member goes.
    Drop,
    /// The member goes by another name.
    Rename(String),
}

impl Remedy {
    /// Changes `whole` at `path`; nothing if the place is not there any more.
    pub(crate) fn apply(self, whole: &mut Value, path: &str) -> Option<Coercion> {
        match self {
            Remedy::Replace(new) => {
                let place = whole.pointer_mut(path)?;
                let coercion = Coercion::new(path, place, Some(&new));
                *place = new;
                Some(coercion)
            }
            Remedy::Drop => {
                let (holder, name) = path.rsplit_once('/')?;
                let members = whole.pointer_mut(holder)?.as_object_mut()?;
                let old = members.shift_remove(&unescape(name))?;
                Some(Coercion::new(path, &old, None))
            }
            Remedy::Rename(new) => {
                let (holder, name) = path.rsplit_once('/')?;
                let (members, old) = (whole.pointer_mut(holder)?.as_object_mut()?, unescape(name));
                if !members.contains_key(&old) || members.contains_key(&new) {
                    return None;
                }
                let (from, to) = (Value::from(old.as_str()), Value::from(new.as_str()));
                let renamed = |(key, member)| {
                    if key == old { (new.clone(), member) } else { (key, member) }
                };
                *members = std::mem::take(members).into_iter().map(renamed).collect::<Map<_, _>>();
                Some(Coercion::new(path, &from, Some(&to)))
            }
        }
    }
}

/// New names for unknown members that differ from a known one in case and in `-`, `_` only.
/// Nothing unless there is one for each.
pub(crate) fn renames(
    error: &ValidationError<'_>,
    unexpected: &[String],
    known: &[&str],
) -> Option<Vec<(String, Remedy)>> {
    /// Who has more wrong names meant another tool.
    const MOST: usize = 32;
    if unexpected.len() > MOST {
        return None;
    }
    let mut renames: Vec<(String, Remedy)> = Vec::new();
    for name in unexpected {
        let alike: Vec<&&str> = known.iter().filter(|known| plain(known) == plain(name)).collect();
        let [meant] = alike.as_slice() else {
            return None;
        };
        let remedy = Remedy::Rename((**meant).to_owned());
        let is_taken = error.instance().get(**meant).is_some();
        if is_taken || renames.iter().any(|(_, other)| *other == remedy) {
            return None;
        }
        let mut path = error.instance_path().as_str().to_owned();
        push_token(&mut path, name);
        renames.push((path, remedy));
    }
    Some(renames)
}

/// The value that a wrong one stands for.
pub(crate) fn of_value(error: &ValidationError<'_>, alone: SoleType) -> Option<Remedy> {
    let value = error.instance().as_ref();
    let meant = match error.kind() {
        Kind::Type { kind } => of_types(value, type_set(kind), alone),
        Kind::Enum { options } => of_options(value, options.as_array()?),
        Kind::Constant { expected_value } => {
            of_options(value, std::slice::from_ref(expected_value.as_ref()))
        }
        _ => None,
    };
    meant.map(Remedy::Replace)
}

/// Whether all that a branch of a union asks for is null.
pub(crate) fn wants_only_null(errors: &[ValidationError<'_>]) -> bool {
    match errors {
        [error] => match error.kind() {
            Kind::Type { kind } => type_set(kind) == JsonTypeSet::empty().insert(JsonType::Null),
            _ => false,
        },
        _ => false,
    }
}

fn of_types(value: &Value, types: JsonTypeSet, alone: SoleType) -> Option<Value> {
    let only = |one: JsonType| {
        types.contains(one) && types.remove(JsonType::Null) == JsonTypeSet::empty().insert(one)
    };
    let wanted = types.remove(JsonType::Null);
    match value {
        Value::String(text) => {
            of_text(text.trim(), wanted).or_else(|| container::container(text, types, alone))
        }
        Value::Number(number) => {
            if only(JsonType::String) {
                let text = number::as_written(number).filter(|_| alone == SoleType::Yes);
                return text.map(Value::from);
            }
            if wanted.contains(JsonType::Integer)
                && let Some(whole) = whole_number(number)
            {
                return Some(whole);
            }
            only(JsonType::Array).then(|| Value::from(vec![value.clone()]))
        }
        Value::Bool(_) if only(JsonType::Array) => Some(Value::from(vec![value.clone()])),
        Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The truth or number of one of `types` that a text spells; nothing if it spells none.
fn of_text(text: &str, types: JsonTypeSet) -> Option<Value> {
    let is_number = types.contains(JsonType::Integer) || types.contains(JsonType::Number);
    if types.contains(JsonType::Boolean) {
        if text.eq_ignore_ascii_case("true") {
            return Some(Value::Bool(true));
        } else if text.eq_ignore_ascii_case("false") {
            return Some(Value::Bool(false));
        }
    }
    // `serde_json` stops at a depth of 128.
    match serde_json::from_str::<Value>(text).ok()? {
        Value::Number(number) if is_number => {
            if number.is_i64() || number.is_u64() {
                return Some(Value::Number(number));
            }
            if !text.contains(['.', 'e', 'E']) {
                return None;
            }
            let whole = whole_number(&number).filter(|_| types.contains(JsonType::Integer));
            let is_any = types.contains(JsonType::Number);
            whole.or_else(|| is_any.then_some(Value::Number(number)))
        }
        _ => None,
    }
}

/// A number without a fraction as an integer literal.
fn whole_number(number: &Number) -> Option<Value> {
    let whole = Decimal::of(number)?.whole()?;
    Number::from_i128(whole).map(Value::Number)
}

/// The only admitted value that is alike but for case and blanks around, or whose JSON is the
/// text that came.
fn of_options(value: &Value, options: &[Value]) -> Option<Value> {
    let written = spelled(value)?;
    let mut alike = options.iter().filter(|option| spelled(option).as_ref() == Some(&written));
    let only = alike.next()?;
    alike.next().is_none().then(|| only.clone())
}

/// A scalar as text without case and blanks around.
fn spelled(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_lowercase()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
