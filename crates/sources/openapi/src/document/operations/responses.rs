//! What an operation answers with when it went well.

use serde_json::Value;
use toolcrib_core::CompactJson;

use super::conversion_state::ConversionState;
use crate::document::document_set::DocumentSite;
use crate::document::media;
use crate::document::schema::assemble::output;

/// Responses of one operation that are looked at, and media types of each: many operations may
/// share them.
const MOST: usize = 200;

/// The media types of the success responses, and the schema of the first one's result.
pub(crate) fn convert<'l>(
    context: &mut ConversionState<'l>,
    operation: DocumentSite<'l>,
    about: &str,
) -> (Vec<String>, Option<CompactJson<Value>>) {
    let successes = successes(context, operation);
    let mut produces: Vec<String> = Vec::new();
    if context.is_swagger {
        let declared =
            operation.get("produces").or_else(|| context.library.root(0).get("produces"));
        for media in declared.into_iter().flat_map(DocumentSite::items).take(MOST) {
            push(&mut produces, media.value.as_str().unwrap_or_default());
        }
    } else {
        let contents = successes.iter().filter_map(|response| response.get("content"));
        for (media, _) in contents.flat_map(DocumentSite::members).take(MOST) {
            push(&mut produces, media);
        }
    }
    let first = successes.first().copied();
    let schema = if context.is_swagger {
        let is_json = produces.is_empty() || produces.iter().any(|media| media::is_json(media));
        first.and_then(|response| response.get("schema")).filter(|_| is_json)
    } else {
        let contents = first.and_then(|response| response.get("content"));
        let mut contents = contents.into_iter().flat_map(DocumentSite::members).take(MOST);
        let json = contents.find(|(media, _)| media::is_json(media));
        json.and_then(|(_, content)| content.get("schema"))
    };
    let output = schema.and_then(|schema| output(&mut context.received, schema, about));
    (produces, output)
}

fn push(produces: &mut Vec<String>, media: &str) {
    /// Media types of one `Accept`.
    const MOST_PRODUCED: usize = 20;
    let has_room = produces.len() < MOST_PRODUCED;
    if has_room && media::is_media(media) && !produces.iter().any(|it| it == media) {
        produces.push(media.to_owned());
    }
}

/// The responses of success, the lowest status first.
fn successes<'l>(
    context: &ConversionState<'l>,
    operation: DocumentSite<'l>,
) -> Vec<DocumentSite<'l>> {
    let responses =
        operation.get("responses").into_iter().flat_map(DocumentSite::members).take(MOST);
    let is_success = |status: &str| status.len() == 3 && status.starts_with('2');
    let mut found: Vec<_> = responses.filter(|(status, _)| is_success(status)).collect();
    // `2XX` sorts behind all digits.
    found.sort_by_key(|(status, _)| status.as_str());
    found.into_iter().filter_map(|(_, response)| context.library.follow(response).ok()).collect()
}
