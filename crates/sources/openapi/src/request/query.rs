//! The query and the cookies of a request.

use serde_json::{Map, Value};
use toolcrib_core::ToolError;

use super::content::{ContentKind, written};
use super::encode::{Encoding, as_read, fixed_pair};
use super::form;
use super::refusal::refused;
use super::style::{EncodedPair, StyleWriter};
use crate::operation::{ApiOperation, OperationParameter, ParameterLocation, ParameterStyle};

/// The pairs of the query: those that are fixed, then the others in the order of the document.
pub(crate) fn query(
    operation: &ApiOperation,
    arguments: &Map<String, Value>,
) -> Result<Vec<EncodedPair>, ToolError> {
    let fixed = operation.query.iter().map(|fixed| EncodedPair {
        name: fixed_pair(&fixed.name),
        value: fixed.value.as_deref().map(fixed_pair),
    });
    let mut pairs: Vec<EncodedPair> = fixed.collect();
    for (parameter, value) in given(operation, ParameterLocation::Query, arguments) {
        let reserved = parameter.allow_reserved;
        let encoding = if reserved { Encoding::Query } else { Encoding::Strict };
        let written = match &parameter.media {
            Some(media) => vec![EncodedPair {
                name: Encoding::Strict.apply(&parameter.name),
                value: Some(encoding.apply(&written(value, media))),
            }],
            None => named_strictly(StyleWriter::of(parameter, encoding), value),
        };
        spills(parameter, value, operation, &written)?;
        repeats(parameter, operation, &written)?;
        pairs.extend(written);
    }
    for (parameter, value) in given(operation, ParameterLocation::QueryString, arguments) {
        let written = whole_query(parameter, value);
        repeats(parameter, operation, &written)?;
        pairs.extend(written);
    }
    Ok(pairs)
}

/// `allowReserved` is about values: a name with `=` in it would end before its end.
fn named_strictly(writing: StyleWriter<'_>, value: &Value) -> Vec<EncodedPair> {
    let strict = StyleWriter { encoding: Encoding::Strict, ..writing }.pairs(value);
    let written = writing.pairs(value);
    let named = strict.into_iter().zip(written);
    named
        .map(|(EncodedPair { name, .. }, EncodedPair { value, .. })| EncodedPair { name, value })
        .collect()
}

/// The pairs of the `Cookie` header.
pub(crate) fn cookies(
    operation: &ApiOperation,
    arguments: &Map<String, Value>,
) -> Result<Vec<EncodedPair>, ToolError> {
    let mut pairs = Vec::new();
    for (parameter, value) in given(operation, ParameterLocation::Cookie, arguments) {
        let raw = parameter.style == ParameterStyle::Cookie;
        let encoding = if raw { Encoding::Raw } else { Encoding::Strict };
        let written = match &parameter.media {
            Some(media) => vec![EncodedPair {
                name: parameter.name.clone(),
                value: Some(encoding.apply(&written(value, media))),
            }],
            None => StyleWriter::of(parameter, encoding).pairs(value),
        };
        spills(parameter, value, operation, &written)?;
        let texts = written.iter().flat_map(|pair| [Some(&pair.name), pair.value.as_ref()]);
        // Raw names come from the members of an object: `sid=x` would be the cookie `sid`.
        let is_other = |name: &str| name.contains(['=', ' ', ',', '"']);
        if texts.flatten().any(|text| text.chars().any(breaks_a_cookie))
            || written.iter().any(|pair| is_other(&pair.name))
        {
            let why = "is sent as a cookie and cannot hold control characters, `;` or other than \
                       ASCII characters: leave them out";
            return Err(refused(&parameter.argument, why));
        }
        pairs.extend(written);
    }
    Ok(pairs)
}

fn breaks_a_cookie(character: char) -> bool {
    !character.is_ascii() || character.is_ascii_control() || character == ';'
}

fn given<'a>(
    operation: &'a ApiOperation,
    place: ParameterLocation,
    arguments: &'a Map<String, Value>,
) -> impl Iterator<Item = (&'a OperationParameter, &'a Value)> {
    let of_place = operation.parameters.iter().filter(move |known| known.place == place);
    of_place.filter_map(|known| Some((known, arguments.get(&known.argument)?)))
}

/// An exploded object gives its own names to the request: none of them may be one that the
/// document has given to something else.
fn spills(
    parameter: &OperationParameter,
    value: &Value,
    operation: &ApiOperation,
    pairs: &[EncodedPair],
) -> Result<(), ToolError> {
    let own_names = value.is_object() && parameter.explode && parameter.media.is_none();
    if !own_names || parameter.style == ParameterStyle::DeepObject {
        return Ok(());
    }
    let others = || {
        operation
            .parameters
            .iter()
            .filter(|other| other.place == parameter.place && other.name != parameter.name)
    };
    let clash = pairs
        .iter()
        .map(|pair| as_read(&pair.name))
        .find(|name| others().any(|other| overlap(name, &other.name)) || name.is_empty());
    clash.map_or(Ok(()), |name| {
        let why = format!(
            "has a member `{}`, which is the name of another parameter: use that parameter instead",
            name.chars().take(60).collect::<String>()
        );
        Err(refused(&parameter.argument, &why))
    })
}

/// Whether two names are one to some readers, who take `a`, `a[]` and `a[b]` for the same.
fn overlap(one: &str, other: &str) -> bool {
    let within = |whole: &str, start: &str| {
        whole.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
    };
    within(one, other) || within(other, one)
}

/// What the document has fixed is not said a second time: which of the two counts is the guess of
/// whoever reads it.
fn repeats(
    parameter: &OperationParameter,
    operation: &ApiOperation,
    pairs: &[EncodedPair],
) -> Result<(), ToolError> {
    let fixed = |name: &str| operation.query.iter().any(|it| overlap(&as_read(&it.name), name));
    let clash = pairs.iter().map(|pair| as_read(&pair.name)).find(|name| fixed(name));
    clash.map_or(Ok(()), |name| {
        let why = format!(
            "would set `{}`, which this operation sets itself: leave it out",
            name.chars().take(60).collect::<String>()
        );
        Err(refused(&parameter.argument, &why))
    })
}

/// OpenAPI 3.2: the whole query as one value.
fn whole_query(parameter: &OperationParameter, value: &Value) -> Vec<EncodedPair> {
    let media = parameter.media.as_deref().unwrap_or("application/x-www-form-urlencoded");
    match (ContentKind::of(media), value) {
        (_, Value::Null) => Vec::new(),
        (ContentKind::Form, Value::Object(fields)) => form::pairs(fields, &[]),
        (_, value) => {
            vec![EncodedPair { name: Encoding::Strict.apply(&written(value, media)), value: None }]
        }
    }
}
