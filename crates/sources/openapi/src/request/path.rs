//! The path of a request, segment by segment.

use serde_json::{Map, Value};
use toolcrib_core::ToolError;

use super::content::written;
use super::encode::{Encoding, decoded, fixed, is_dot_segment};
use super::refusal::refused;
use super::style::{StyleWriter, plain};
use crate::operation::{
    ApiOperation, OperationParameter, ParameterLocation, PathPiece, PathSegment,
};

/// The encoded path, from its first slash on, with as many segments as the document says.
///
/// A value may hold anything, but it fills its own segment and no other: it is never empty, and
/// never one that a server takes for "here" or "one up", whole or after the
/// slashes in it are decoded.
pub(crate) fn path(
    operation: &ApiOperation,
    arguments: &Map<String, Value>,
) -> Result<String, ToolError> {
    let mut path = String::new();
    for segment in &operation.path {
        path.push('/');
        path.push_str(&self::segment(segment, operation, arguments)?);
    }
    Ok(path)
}

fn segment(
    segment: &PathSegment,
    operation: &ApiOperation,
    arguments: &Map<String, Value>,
) -> Result<String, ToolError> {
    let mut text = String::new();
    let mut filled_by = None;
    for piece in &segment.0 {
        match piece {
            PathPiece::Text(fixed_text) => text.push_str(&fixed(fixed_text)),
            PathPiece::Parameter(name) => {
                let parameter = parameter(operation, name).ok_or_else(|| undeclared(name))?;
                text.push_str(&filled(parameter, arguments)?);
                filled_by = Some(parameter);
            }
        }
    }
    match filled_by {
        Some(parameter) if is_dot_segment(&text) => Err(one_up(parameter)),
        // The document itself says it; nothing that a model could put right.
        None if is_dot_segment(&text) => Err(undeclared(&text)),
        Some(_) | None => Ok(text),
    }
}

fn parameter<'a>(operation: &'a ApiOperation, name: &str) -> Option<&'a OperationParameter> {
    operation
        .parameters
        .iter()
        .find(|known| known.place == ParameterLocation::Path && known.name == name)
}

fn filled(
    parameter: &OperationParameter,
    arguments: &Map<String, Value>,
) -> Result<String, ToolError> {
    let empty = || {
        let why = "is part of the address and must not be empty: give its value, or call a tool \
                   that needs none";
        refused(&parameter.argument, why)
    };
    let value = arguments.get(&parameter.argument).ok_or_else(empty)?;
    let encoding = if parameter.allow_reserved { Encoding::Segment } else { Encoding::Strict };
    let text = match &parameter.media {
        Some(media) => encoding.apply(&written(value, media)),
        None => StyleWriter::of(parameter, encoding).text(value).ok_or_else(empty)?,
    };
    // `.` and `;name` are what some styles make of an empty text.
    if text.is_empty() || value.as_str() == Some("") {
        return Err(empty());
    }
    if is_dot_segment(&plain(value)) || is_dot_segment(&decoded(&text)) {
        return Err(one_up(parameter));
    }
    Ok(text)
}

fn one_up(parameter: &OperationParameter) -> ToolError {
    let why = "is one segment of the address and cannot be `.` or `..`, nor hold them between \
               slashes, however they are encoded: give the name or id itself";
    refused(&parameter.argument, why)
}

fn undeclared(name: &str) -> ToolError {
    let why = "is in the path of this operation, but the API's document does not declare it as a \
               parameter: use another tool, and tell the user that the document is at fault";
    refused(name, why)
}
