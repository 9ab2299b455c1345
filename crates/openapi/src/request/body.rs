//! The body of a request.

use bytes::Bytes;
use http::HeaderValue;
use serde_json::{Map, Value};
use toolcrib_core::ToolError;

use super::content::{Kind, essence, is_one_of};
use super::file::file;
use super::form;
use super::multipart::Multipart;
use super::refused;
use super::style::plain;
use super::xml;
use crate::operation::{Body, BodyShape, Field};

/// A body and the media type that it is sent under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Payload {
    pub(crate) media: HeaderValue,
    pub(crate) bytes: Bytes,
}

/// `None`: nothing was given, and nothing has to be.
pub(crate) fn body(
    body: &Body,
    arguments: &Map<String, Value>,
) -> Result<Option<Payload>, ToolError> {
    match &body.shape {
        BodyShape::Fields(fields) => {
            let given = fields.iter().filter_map(|field| {
                Some((field.name.clone(), arguments.get(&field.argument)?.clone()))
            });
            let given: Map<String, Value> = given.collect();
            if given.is_empty() && !body.required {
                return Ok(None);
            }
            of_fields(body, given, fields).map(Some)
        }
        BodyShape::Whole { argument, schema } => match arguments.get(argument) {
            None if body.required => {
                Err(refused(argument, "is the body of the request: give its value"))
            }
            // `null` is a JSON text; for all others it is nothing.
            None => Ok(None),
            Some(Value::Null) if !body.required || Kind::of(&body.media) != Kind::Json => Ok(None),
            Some(value) => whole(body, (argument, schema), value).map(Some),
        },
    }
}

fn of_fields(
    body: &Body,
    given: Map<String, Value>,
    fields: &[Field],
) -> Result<Payload, ToolError> {
    if let Some(xml) = &body.xml {
        return payload(&body.media, xml::document(xml, &Value::Object(given))?);
    }
    match Kind::of(&body.media) {
        Kind::Form => payload(&body.media, form::text(&form::pairs(&given, fields))),
        Kind::Multipart => {
            let mut parts = Multipart::new();
            parts.fields(&given, fields)?;
            let (media, bytes) = parts.finish(&body.media);
            payload(&media, bytes)
        }
        Kind::Json | Kind::Text | Kind::Bytes => {
            payload(&body.media, Value::Object(given).to_string())
        }
    }
}

fn whole(
    body: &Body,
    (argument, schema): (&str, &Value),
    value: &Value,
) -> Result<Payload, ToolError> {
    let media = body.media.as_str();
    if let Some(xml) = &body.xml {
        return payload(media, xml::document(xml, value)?);
    }
    // Where the schema has base64, the model was told to write base64.
    let is_bytes = schema.get("contentEncoding") == Some(&Value::from("base64"));
    let kind = if is_bytes { Kind::Bytes } else { Kind::of(media) };
    match (kind, value) {
        (Kind::Json, value) => payload(media, value.to_string()),
        (Kind::Form | Kind::Multipart, Value::Object(fields)) => {
            of_fields(body, fields.clone(), &[])
        }
        (Kind::Form | Kind::Text, value) => payload(media, plain(value)),
        (Kind::Multipart, _) => Err(refused(argument, "is a form: give an object of its fields")),
        (Kind::Bytes, value) => {
            let file = file(argument, value)?;
            // A range such as `image/*` says what is allowed, not what this is.
            let media = match file.media {
                Some(given) if media.contains('*') && is_one_of(&given, media) => essence(&given),
                _ if media.contains('*') => "application/octet-stream".to_owned(),
                _ => media.to_owned(),
            };
            payload(&media, file.bytes)
        }
    }
}

fn payload(media: &str, bytes: impl Into<Bytes>) -> Result<Payload, ToolError> {
    let header = HeaderValue::from_str(media);
    let media = header.map_err(|_| refused(media, "is no media type that can be sent"))?;
    Ok(Payload { media, bytes: bytes.into() })
}
