//! Where references may lead, and that nothing is ever fetched.

use std::error::Error;
use std::fmt;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Retrieve, ValidationError, ValidationOptions};
use referencing::{Draft, Registry, SPECIFICATIONS, Uri};
use serde_json::Value;

use super::bounds::push_token;
use super::error::SchemaError;
use super::excerpt;
use crate::schema::bounds::pattern;
use crate::schema::graph::explore::SchemaRoot;

/// Documents that references may lead into, each under its address.
///
/// They are indexed once and serve many schemas. They are the host's, who bounds their size;
/// what a schema reaches in them counts against the schema's bounds.
#[derive(Clone, Debug)]
pub struct SchemaDocuments(Registry<'static>);

impl SchemaDocuments {
    /// Indexes documents. A document may refer to the others; what is in none of them is an error.
    pub fn new(
        documents: impl IntoIterator<Item = (String, Value)>,
    ) -> Result<SchemaDocuments, SchemaError> {
        let refusal = |error: &referencing::Error| SchemaError::Reference {
            at: String::new(),
            reference: address(error).unwrap_or_default(),
            reason: reason(error),
        };
        let indexed = SPECIFICATIONS.extend(documents);
        let registry = indexed.and_then(|builder| builder.retriever(RefusingRetriever).prepare());
        registry.map(SchemaDocuments).map_err(|error| refusal(&error))
    }

    /// The meta-schemas of the drafts, which are always there.
    pub(super) fn meta_schemas() -> &'static Registry<'static> {
        &SPECIFICATIONS
    }

    pub(super) fn registry(&self) -> &Registry<'static> {
        &self.0
    }
}

/// How a schema of this crate is checked: offline, in linear time, formats as annotations.
pub(super) fn options<'i>() -> ValidationOptions<'i> {
    jsonschema::options()
        .with_retriever(RefusingRetriever)
        .with_pattern_options(pattern::engine())
        .should_validate_formats(false)
        .without_content_media_type_support("application/json")
        .without_content_encoding_support("base64")
}

/// Indexes a schema together with `documents`, and says where its exploration begins.
pub(super) fn prepare<'r>(
    source: &'r Value,
    documents: &'r Registry<'static>,
) -> Result<(SchemaRoot<'r>, Registry<'r>), SchemaError> {
    let draft = draft_of(source, documents)?;
    let resource = draft.create_resource_ref(source);
    let id = resource.id().unwrap_or("json-schema:///").to_owned();
    let indexed = referencing::uri::from_str(&id).and_then(|base| {
        let builder = documents.add(base.as_str(), resource)?;
        Ok((base, builder.retriever(RefusingRetriever).draft(draft).prepare()?))
    });
    let (base, registry) = indexed.map_err(|error| unresolved(source, &error))?;
    if !registry.contains_resource(base.as_str()) {
        let at = format!("/{}", draft.id_keyword());
        let reason = "it cannot name a document: leave it out".to_owned();
        return Err(SchemaError::Reference { at, reference: id, reason });
    }
    Ok((SchemaRoot { value: source, base, draft }, registry))
}

/// The draft that `$schema` says, through meta-schemas of the host if it names one of these.
fn draft_of(source: &Value, documents: &Registry<'static>) -> Result<Draft, SchemaError> {
    /// A meta-schema of a meta-schema is rare; nobody goes further.
    const LONGEST_CHAIN: usize = 8;
    let mut schema = source;
    for _ in 0..LONGEST_CHAIN {
        let draft = Draft::default().detect(schema);
        if draft != Draft::Unknown {
            return Ok(draft);
        }
        let named = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
        let found = referencing::uri::from_str(named.trim_end_matches('#'))
            .and_then(|address| documents.resolver(address).lookup(""));
        let Ok(found) = found else { break };
        schema = found.into_inner().0;
    }
    Err(SchemaError::Reference {
        at: "/$schema".to_owned(),
        reference: source.get("$schema").and_then(Value::as_str).unwrap_or_default().to_owned(),
        reason: "it is no known draft: use 2020-12, 2019-09, 7, 6 or 4, or leave it out".to_owned(),
    })
}

/// Says why the compiler refused a schema, and where.
pub(super) fn refusal(source: &Value, error: &ValidationError<'_>) -> SchemaError {
    if let ValidationErrorKind::Referencing(error) = error.kind() {
        return unresolved(source, error);
    }
    let at = error.instance_path().as_str().to_owned();
    let name = error.instance().as_str().filter(|_| at.ends_with("/type"));
    let reason = name.map_or_else(
        || excerpt::shorten(&error.to_string(), 200),
        |name| {
            let types = "string, integer, number, boolean, array, object or null";
            format!("\"{}\" is no type: use {types}", excerpt::shorten(name, 60))
        },
    );
    SchemaError::Invalid { at, reason }
}

fn unresolved(source: &Value, error: &referencing::Error) -> SchemaError {
    let address = address(error);
    let found = address.as_deref().and_then(|address| find(source, address, &mut String::new()));
    let (at, reference) =
        found.unwrap_or_else(|| (String::new(), address.clone().unwrap_or_default()));
    SchemaError::Reference { at, reference, reason: reason(error) }
}

/// The address that a resolver could not get at.
fn address(error: &referencing::Error) -> Option<String> {
    let referencing::Error::Unretrievable { uri, .. } = error else {
        return None;
    };
    Some(uri.clone())
}

/// The reason without the resolver's own words for what it would have fetched.
fn reason(error: &referencing::Error) -> String {
    if let referencing::Error::Unretrievable { .. } = error {
        RetrievalRefused.to_string()
    } else {
        excerpt::shorten(&error.to_string(), 200)
    }
}

/// The place and the text of the reference that was resolved to `address`.
/// The depth is bounded with that of the document.
fn find(value: &Value, address: &str, at: &mut String) -> Option<(String, String)> {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(key, held)| (key.clone(), held)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
    };
    children.into_iter().find_map(|(token, child)| {
        let length = at.len();
        push_token(at, &token);
        let refers = matches!(token.as_str(), "$ref" | "$dynamicRef" | "$schema" | "$id");
        let found = match child.as_str().filter(|_| refers) {
            Some(text) if names(text, address) => Some((at.clone(), text.to_owned())),
            _ => find(child, address, at),
        };
        at.truncate(length);
        found
    })
}

/// Whether a reference may have been resolved to `address`: it ends as the address does.
fn names(reference: &str, address: &str) -> bool {
    let document = reference.split('#').next().unwrap_or_default();
    !document.is_empty()
        && address.trim_end_matches('#').ends_with(document.trim_start_matches('.'))
}

/// Retrieves nothing: a schema of a stranger must not make us open a socket or a file.
struct RefusingRetriever;

impl Retrieve for RefusingRetriever {
    fn retrieve(&self, _address: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Err(Box::new(RetrievalRefused))
    }
}

#[derive(Debug)]
struct RetrievalRefused;

impl fmt::Display for RetrievalRefused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("nothing is fetched: put it into the document, under `$defs`")
    }
}

impl Error for RetrievalRefused {}
