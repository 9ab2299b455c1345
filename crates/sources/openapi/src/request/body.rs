//! The body of a request.

use bytes::Bytes;
use http::HeaderValue;
use serde_json::{Map, Value};
use toolcrib_core::ToolError;

use super::content::{ContentKind, essence, is_one_of};
use super::file::file;
use super::form;
use super::multipart::Multipart;
use super::refusal::refused;
use super::style::plain;
use super::xml;
use crate::operation::{BodyField, BodyShape, OperationBody};

/// A body and the media type that it is sent under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Payload {
    pub(crate) media: HeaderValue,
    pub(crate) bytes: Bytes,
}

/// `None`: nothing was given, and nothing has to be.
pub(crate) fn body(
    body: &OperationBody,
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
            Some(Value::Null)
                if !body.required || ContentKind::of(&body.media) != ContentKind::Json =>
            {
                Ok(None)
            }
            Some(value) => whole(body, (argument, schema), value).map(Some),
        },
    }
}

fn of_fields(
    body: &OperationBody,
    given: Map<String, Value>,
    fields: &[BodyField],
) -> Result<Payload, ToolError> {
    if let Some(xml) = &body.xml {
        return payload(&body.media, xml::document(xml, &Value::Object(given))?);
    }
    match ContentKind::of(&body.media) {
        ContentKind::Form => payload(&body.media, form::text(&form::pairs(&given, fields))),
        ContentKind::Multipart => {
            let mut parts = Multipart::new();
            parts.fields(&given, fields)?;
            let (media, bytes) = parts.finish(&body.media);
            payload(&media, bytes)
        }
        ContentKind::Json | ContentKind::Text | ContentKind::Bytes => {
            payload(&body.media, Value::Object(given).to_string())
        }
    }
}

fn whole(
    body: &OperationBody,
    (argument, schema): (&str, &Value),
    value: &Value,
) -> Result<Payload, ToolError> {
    let media = body.media.as_str();
    if let Some(xml) = &body.xml {
        return payload(media, xml::document(xml, value)?);
    }
    // Where the schema has base64, the model was told to write base64.
    let is_bytes = schema.get("contentEncoding") == Some(&Value::from("base64"));
    let kind = if is_bytes { ContentKind::Bytes } else { ContentKind::of(media) };
    match (kind, value) {
        (ContentKind::Json, value) => payload(media, value.to_string()),
        (ContentKind::Form | ContentKind::Multipart, Value::Object(fields)) => {
            of_fields(body, fields.clone(), &[])
        }
        (ContentKind::Form | ContentKind::Text, value) => payload(media, plain(value)),
        (ContentKind::Multipart, _) => {
            Err(refused(argument, "is a form: give an object of its fields"))
        }
        (ContentKind::Bytes, value) => {
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
