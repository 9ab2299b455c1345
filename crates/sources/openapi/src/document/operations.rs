//! The operations of a document, found before any is converted: names need to know all of them.

pub(crate) mod argument_names;
pub(crate) mod conversion_state;
pub(crate) mod convert;
mod names;
pub(crate) mod parameters;
mod path;
mod responses;
mod spec;

use http::Method;

use super::document_set::{DocumentSet, DocumentSite};
use super::error::{DocumentError, RefusedOperation};
use super::text;
use super::text::member;
use names::OperationIdentity;

/// Operations of one document that are looked through for those that are wanted: each takes a
/// name.
const MOST: usize = 1_000_000;

/// An operation as it stands in a document.
pub(super) struct DeclaredOperation<'l> {
    pub(super) method: Method,
    pub(super) path: &'l str,
    /// What stands at the path: parameters and servers of all its operations.
    pub(super) item: DocumentSite<'l>,
    pub(super) operation: DocumentSite<'l>,
}

impl<'l> DeclaredOperation<'l> {
    pub(super) fn named(&self) -> OperationIdentity<'l> {
        /// Bytes of an id that is one: many operations may share it.
        const LONGEST_ID: usize = 1_000;
        let id = member(self.operation.value, "operationId");
        OperationIdentity {
            id: id.filter(|id| id.len() <= LONGEST_ID),
            method: self.method.as_str().to_owned(),
            path: self.path,
        }
    }
}

const METHODS: [(&str, Method); 8] = [
    ("get", Method::GET),
    ("put", Method::PUT),
    ("post", Method::POST),
    ("delete", Method::DELETE),
    ("options", Method::OPTIONS),
    ("head", Method::HEAD),
    ("patch", Method::PATCH),
    ("trace", Method::TRACE),
];

/// All operations, and the paths and methods that cannot be read.
pub(super) fn find(
    library: &DocumentSet,
) -> Result<(Vec<DeclaredOperation<'_>>, Vec<RefusedOperation>), DocumentError> {
    let mut found = Vec::new();
    let mut refused = Vec::new();
    let paths = library.root(0).get("paths");
    if paths.is_some_and(|paths| !paths.value.is_object()) {
        return Err(DocumentError::NoPaths);
    }
    let paths = paths.into_iter().flat_map(DocumentSite::members);
    for (path, item) in paths.filter(|(path, _)| !path.starts_with("x-")) {
        // Each operation has it in its names.
        if path.len() > path::LONGEST {
            let reason = format!("its path is longer than {} bytes", path::LONGEST);
            refused.push(RefusedOperation { key: text::line(path, 80), reason });
            continue;
        }
        for item in [Ok(item), referred(library, item)] {
            match item {
                Ok(item) => of_item(library, path, item, &mut found, &mut refused),
                Err(None) => {}
                Err(Some(reason)) => refused.push(RefusedOperation { key: path.clone(), reason }),
            }
        }
        if found.len() + refused.len() > MOST {
            return Err(DocumentError::TooManyOperations { limit: MOST });
        }
    }
    Ok((found, refused))
}

/// What a path item refers to, if it refers to another.
fn referred<'l>(
    library: &'l DocumentSet,
    item: DocumentSite<'l>,
) -> Result<DocumentSite<'l>, Option<String>> {
    match member(item.value, "$ref") {
        Some(_) => library.follow(item).map_err(Some),
        None => Err(None),
    }
}

fn of_item<'l>(
    library: &'l DocumentSet,
    path: &'l str,
    item: DocumentSite<'l>,
    found: &mut Vec<DeclaredOperation<'l>>,
    refused: &mut Vec<RefusedOperation>,
) {
    let start = found.iter().rposition(|known| known.path != path).map_or(0, |place| place + 1);
    let fixed = METHODS.iter().filter_map(|(name, method)| Some((method.clone(), item.get(name)?)));
    let query = Method::from_bytes(b"QUERY").ok().zip(item.get("query"));
    let others =
        item.get("additionalOperations").into_iter().flat_map(DocumentSite::members).take(100);
    let others = others.filter_map(|(name, site)| match Method::from_bytes(name.as_bytes()) {
        Ok(method) if !name.eq_ignore_ascii_case("connect") => Some((method, site)),
        _ => {
            let key = format!("{} {path}", text::line(name, 40));
            refused.push(RefusedOperation { key, reason: "its method cannot be sent".to_owned() });
            None
        }
    });
    let all: Vec<(Method, DocumentSite<'l>)> = fixed.chain(query).chain(others).collect();
    for (method, operation) in all {
        let known = found.get(start..).unwrap_or_default();
        if known.iter().any(|known| known.method == method) {
            continue;
        }
        match library.follow(operation) {
            Ok(operation) if operation.value.is_object() => {
                found.push(DeclaredOperation { method, path, item, operation });
            }
            other => {
                let reason = other.err().unwrap_or_else(|| "it is no object".to_owned());
                refused.push(RefusedOperation { key: format!("{method} {path}"), reason });
            }
        }
    }
}
