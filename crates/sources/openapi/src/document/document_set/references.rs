//! Documents beside the document: found, asked for, and confined.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use futures_util::future::BoxFuture;
use serde_json::Value;
use url::Url;

use super::DocumentSet;
use crate::document::error::{DocumentError, DocumentNotes};
use crate::document::parse::{ParsedDocument, parse};
use crate::document::text;
use crate::settings::{ApiSettings, DocumentLocation};

/// Other documents are loaded this many; it is their bytes that cost.
const MAX_DOCUMENTS: usize = 10_000;

/// Where other documents are had from.
///
/// Whoever implements it bounds time; the address is one that the settings allow.
pub(crate) trait ReferenceLoader: Send + Sync {
    /// The bytes at an address (`file:`, `http:` or `https:`), `limit` at most; else why not.
    fn get<'a>(&'a self, address: &'a Url, limit: usize) -> BoxFuture<'a, Result<Vec<u8>, String>>;
}

/// Has no other documents.
pub(crate) struct NoReferences;

impl ReferenceLoader for NoReferences {
    fn get<'a>(&'a self, _: &'a Url, _: usize) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        Box::pin(async { Err("only the document itself is read here".to_owned()) })
    }
}

/// The files of one folder and of those below it. No link leads out.
#[derive(Clone)]
pub(crate) struct DocumentFolder(PathBuf);

impl DocumentFolder {
    /// The folder that a document lies in.
    pub(crate) fn of(document: &Path) -> Self {
        let folder = document.parent().filter(|folder| !folder.as_os_str().is_empty());
        Self(folder.unwrap_or(Path::new(".")).to_owned())
    }

    fn read(&self, address: &Url, limit: usize) -> Result<Vec<u8>, String> {
        if address.scheme() != "file" {
            return Err("it is no file".to_owned());
        }
        let path = address.to_file_path().map_err(|()| "it is no file of this machine")?;
        // Both are followed to their ends first: what is compared is where the bytes are.
        let end = |path: &Path| std::fs::canonicalize(path).map_err(|error| error.to_string());
        let (folder, path) = (end(&self.0)?, end(&path)?);
        if !path.starts_with(&folder) {
            return Err("it lies outside the folder of the document: move it into it".to_owned());
        }
        let bytes = plain_file(&path, limit).map_err(|error| error.to_string())?;
        bytes.ok_or_else(|| format!("it is larger than {limit} bytes"))
    }
}

impl ReferenceLoader for DocumentFolder {
    fn get<'a>(&'a self, address: &'a Url, limit: usize) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        let (folder, address) = (self.clone(), address.clone());
        Box::pin(async move {
            let reading = tokio::task::spawn_blocking(move || folder.read(&address, limit));
            reading.await.unwrap_or_else(|error| Err(error.to_string()))
        })
    }
}

/// The same for whoever may wait: nobody polls twice.
pub(crate) struct BlockingFolder(pub(crate) DocumentFolder);

impl ReferenceLoader for BlockingFolder {
    fn get<'a>(&'a self, address: &'a Url, limit: usize) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        Box::pin(std::future::ready(self.0.read(address, limit)))
    }
}

/// The bytes of a file, which may block; `None`: there are more than these.
pub(crate) fn plain_file(path: &Path, limit: usize) -> io::Result<Option<Vec<u8>>> {
    // Opening a pipe would wait for who writes into it.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no plain file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= limit).then_some(bytes))
}

/// Reads a document and those it refers to, and those they refer to.
///
/// A document that cannot be had costs what needs it, and is told in the notes.
pub(crate) async fn load(
    text: &str,
    beside: &dyn ReferenceLoader,
    settings: &ApiSettings,
    notes: &mut DocumentNotes,
) -> Result<DocumentSet, DocumentError> {
    let most = settings.bounds.document;
    let value = notes.of_document("the document", parse(text, most)?);
    let address = address(&settings.document);
    let mut library = DocumentSet::new(address.clone(), value);
    let mut room = most.saturating_sub(text.len());
    let mut asked = HashSet::new();
    let mut next = 0;
    // A look at the text spares most documents the walk through their tree.
    let mut is_open = refers_elsewhere(text);
    while is_open && next < library.len() {
        for reference in references(library.root(next).value) {
            let Some(target) = library.address_of(next, &reference) else { continue };
            if library.holds(&target) || asked.contains(&target) {
                continue;
            }
            if asked.len() >= MAX_DOCUMENTS {
                notes.add(&reference, format!("not loaded: more than {MAX_DOCUMENTS} documents"));
                is_open = false;
                break;
            }
            asked.insert(target.clone());
            match fetch(&target, address.as_ref(), beside, room, settings).await {
                Ok((parsed, bytes)) => {
                    let value = notes.of_document(&reference, parsed);
                    room = room.saturating_sub(bytes);
                    library.add(Some(target), value);
                }
                Err(why) => notes.add(&reference, format!("not loaded: {}", text::line(&why, 200))),
            }
        }
        next += 1;
    }
    Ok(library)
}

fn address(document: &DocumentLocation) -> Option<Url> {
    match document {
        DocumentLocation::File(path) => Url::from_file_path(std::path::absolute(path).ok()?).ok(),
        DocumentLocation::Address(address) => Some(address.clone()),
        DocumentLocation::Text(_) => None,
    }
}

async fn fetch(
    target: &Url,
    document: Option<&Url>,
    beside: &dyn ReferenceLoader,
    room: usize,
    settings: &ApiSettings,
) -> Result<(ParsedDocument, usize), String> {
    let same_host = document.is_some_and(|document| document.origin() == target.origin());
    let allowed = match target.scheme() {
        "file" => document.is_some_and(|document| document.scheme() == "file"),
        "http" | "https" => same_host || settings.remote_references,
        _ => false,
    };
    if !allowed {
        return Err("it is elsewhere: allow `remote_references`, or put it beside".to_owned());
    }
    let bytes = beside.get(target, room).await?;
    if bytes.len() > room {
        let most = settings.bounds.document;
        return Err(format!("all documents together are larger than {most} bytes"));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| DocumentError::NotText.to_string())?;
    Ok((parse(text, room).map_err(|error| error.to_string())?, bytes.len()))
}

/// Whether a `$ref` of a text may lead out of it: one that `#` does not follow.
fn refers_elsewhere(text: &str) -> bool {
    text.match_indices("$ref").any(|(place, found)| {
        let rest = text.get(place + found.len()..).unwrap_or_default();
        let target = rest.trim_start_matches(|c: char| c.is_whitespace() || "\"':".contains(c));
        !target.starts_with('#')
    })
}

/// Every reference to another document, once.
fn references(document: &Value) -> Vec<String> {
    let mut found = indexmap::IndexSet::new();
    let mut open = vec![document];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref") {
                    let document = reference.split('#').next().unwrap_or_default();
                    if !document.is_empty() && found.len() < 4 * MAX_DOCUMENTS {
                        found.insert(document.to_owned());
                    }
                }
                open.extend(members.values().rev());
            }
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found.into_iter().collect()
}
