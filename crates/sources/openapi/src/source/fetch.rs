//! Documents from where they are: a file, an address, the settings themselves.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use http::header::{ACCEPT, LOCATION};
use http::{HeaderValue, Method};
use toolcrib_core::{BoxFuture, SourceError};
use toolcrib_egress::{Egress, EgressRequest};
use url::Url;

use crate::document::{DocumentError, DocumentFolder, ReferenceLoader, plain_file};
use crate::settings::{ApiSettings, DocumentLocation};

async fn file(path: &Path, limit: usize) -> std::io::Result<Vec<u8>> {
    let path = path.to_owned();
    let reading = tokio::task::spawn_blocking(move || text_of(&path, limit));
    reading.await.unwrap_or_else(|error| Err(std::io::Error::other(error)))
}

/// The bytes of a document in a file, which may block.
pub(crate) fn text_of(path: &Path, limit: usize) -> std::io::Result<Vec<u8>> {
    let cure = "split it, or raise `document` under `limits` of this source";
    let too_large = || std::io::Error::other(format!("it is larger than {limit} bytes: {cure}"));
    plain_file(path, limit)?.ok_or_else(too_large)
}

async fn get((egress, unpack): (&Egress, u64), url: &Url, limit: usize) -> Result<Vec<u8>, String> {
    let mut request = EgressRequest::new(Method::GET, url.clone());
    request.unpack = unpack;
    let accept = "application/json, application/yaml, text/yaml, */*;q=0.5";
    request.headers.insert(ACCEPT, HeaderValue::from_static(accept));
    let response = egress.send(request).await.map_err(|error| error.to_string())?;
    if response.status.is_redirection() {
        let target = response.headers.get(LOCATION).and_then(|target| target.to_str().ok());
        let target = target.and_then(|target| url.join(target).ok());
        let target = target.map_or_else(|| "another place".to_owned(), |target| shown(&target));
        return Err(format!("it has moved to `{target}`: name that address"));
    }
    if !response.status.is_success() {
        return Err(format!("the server answers {}", response.status));
    }
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    response.bytes(limit).await.map(Vec::from).map_err(|error| error.to_string())
}

/// An address without what may be secret in it: name, password, query.
pub(crate) fn shown(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{host}{port}{}", url.scheme(), url.path())
}

/// Where a document stands, for people.
pub(super) fn place(document: &DocumentLocation) -> String {
    match document {
        DocumentLocation::File(path) => format!("`{}`", path.display()),
        DocumentLocation::Address(url) => format!("`{}`", shown(url)),
        DocumentLocation::Text(_) => "the text given".to_owned(),
    }
}

/// The document and those that it refers to: files beside a file, addresses beside an address,
/// and others if the settings allow it.
pub(super) struct DocumentLoader {
    folder: Option<DocumentFolder>,
    egress: Option<Egress>,
    unpack: u64,
    asked: AtomicBool,
}

impl DocumentLoader {
    pub(super) fn new(settings: &ApiSettings) -> Result<Self, SourceError> {
        let named = match &settings.document {
            DocumentLocation::Address(url) => Some(url.clone()),
            DocumentLocation::File(_) | DocumentLocation::Text(_) => None,
        };
        let network = || settings.network.clone();
        let egress = match (settings.remote_references, named) {
            (true, named) => Some(Egress::open(named, network())),
            (false, Some(named)) => Some(Egress::only([named], network())),
            (false, None) => None,
        };
        let egress = egress.transpose().map_err(|error| {
            SourceError::new("the documents beside the document cannot be loaded").because(error)
        })?;
        let folder = match &settings.document {
            DocumentLocation::File(path) => Some(DocumentFolder::of(path)),
            DocumentLocation::Address(_) | DocumentLocation::Text(_) => None,
        };
        let unpack = settings.bounds.unpack;
        Ok(Self { folder, egress, unpack, asked: AtomicBool::new(false) })
    }

    /// The text of the document itself.
    pub(super) async fn document(&self, settings: &ApiSettings) -> Result<String, SourceError> {
        self.asked.store(false, Ordering::Relaxed);
        let limit = settings.bounds.document;
        let got = match (&settings.document, &self.egress) {
            (DocumentLocation::Text(text), _) => return Ok(text.clone()),
            (DocumentLocation::File(path), _) => {
                file(path, limit).await.map_err(|error| error.to_string())
            }
            (DocumentLocation::Address(url), Some(egress)) => {
                get((egress, self.unpack), url, limit).await
            }
            (DocumentLocation::Address(_), None) => Err("there is no way to it".to_owned()),
        };
        let place = place(&settings.document);
        let bytes = got.map_err(|why| {
            SourceError::new(format!("cannot load the document {place}")).because(why)
        })?;
        String::from_utf8(bytes).map_err(|error| {
            SourceError::new(format!("{place}: {}", DocumentError::NotText)).because(error)
        })
    }

    /// Whether another one was asked for since: the document is not all there is.
    pub(super) fn was_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

impl ReferenceLoader for DocumentLoader {
    fn get<'a>(&'a self, address: &'a Url, limit: usize) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        self.asked.store(true, Ordering::Relaxed);
        match (&self.folder, &self.egress) {
            (Some(folder), _) if address.scheme() == "file" => folder.get(address, limit),
            (_, Some(egress)) if address.scheme() != "file" => {
                Box::pin(get((egress, self.unpack), address, limit))
            }
            _ => Box::pin(async { Err("nothing is loaded from there".to_owned()) }),
        }
    }
}
