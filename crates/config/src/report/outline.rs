//! What the sources of a file are, for people who look at them.

use serde::Serialize;
use toolcrib_core::SourceId;
use toolcrib_mcp::McpTransport;
use toolcrib_openapi::DocumentLocation;
use url::Url;

use super::trust::{Disclosure, needed};
use crate::config::{Config, SourceEntry};
use crate::secrets::literal_secret::{argument_is_secret, looks_secret, names_secret};
use crate::settings::SourceTemplate;

/// What stands in the place of a secret.
const MASK: &str = "[secret]";

/// One source of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceOutline {
    pub id: SourceId,
    pub enabled: bool,
    pub kind: SourceKind,
    /// What it starts, word for word.
    pub command: Option<Vec<String>>,
    /// Where it starts that.
    pub folder: Option<String>,
    /// What it asks, or reads.
    pub address: Option<String>,
    /// The references that it has to secrets: `${env:NAME}`, `${file:PATH}`.
    pub needs: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    Mcp,
    OpenApi,
    A2a,
    Desk,
    Basics,
    Builtin,
}

impl SourceKind {
    pub const WORDS: [&'static str; 6] = ["mcp", "openapi", "a2a", "desk", "basics", "builtin"];
}

impl Config {
    /// Its sources, in the order of the file, those that are left out too.
    pub fn outlines(&self, telling: Disclosure) -> Vec<SourceOutline> {
        self.sources.iter().map(|entry| entry.outline(telling)).collect()
    }
}

impl SourceEntry {
    fn outline(&self, telling: Disclosure) -> SourceOutline {
        let words = |words: Vec<String>| {
            if telling == Disclosure::Whole { words } else { masked_words(&words) }
        };
        let place = |url: &Url| match telling {
            Disclosure::Whole => url.to_string(),
            Disclosure::Masked => masked_address(url),
        };
        let mut outline = SourceOutline {
            id: self.id.clone(),
            enabled: self.enabled,
            kind: SourceKind::Basics,
            command: None,
            folder: None,
            address: None,
            needs: needed(&self.kind),
        };
        match &self.kind {
            SourceTemplate::Mcp(server) => {
                outline.kind = SourceKind::Mcp;
                match &server.plain.transport {
                    McpTransport::Stdio(stdio) => {
                        outline.command = self.kind.command().map(words);
                        let folder = stdio.folder.as_ref();
                        outline.folder = folder.map(|folder| folder.display().to_string());
                    }
                    McpTransport::Http(http) => outline.address = Some(place(&http.url)),
                }
            }
            SourceTemplate::OpenApi(api) => {
                outline.kind = SourceKind::OpenApi;
                outline.address = match &api.plain.document {
                    DocumentLocation::File(path) => Some(path.display().to_string()),
                    DocumentLocation::Address(url) => Some(place(url)),
                    DocumentLocation::Text(_) => None,
                };
            }
            SourceTemplate::A2a(agent) => {
                outline.kind = SourceKind::A2a;
                outline.address = Some(place(&agent.plain.card));
            }
            SourceTemplate::Desk(desk) => {
                outline.kind = SourceKind::Desk;
                outline.address = desk.file.as_ref().map(|file| file.display().to_string());
            }
            SourceTemplate::Basics(_) => {}
            SourceTemplate::Builtin(_) => outline.kind = SourceKind::Builtin,
        }
        outline
    }
}

fn masked_words(words: &[String]) -> Vec<String> {
    let before = std::iter::once("").chain(words.iter().map(String::as_str));
    let masked = before.zip(words).map(|(before, word)| {
        if !argument_is_secret(before, word) {
            return word.clone();
        }
        match word.split_once('=').filter(|_| word.starts_with('-')) {
            Some((option, _)) => format!("{option}={MASK}"),
            None => MASK.to_owned(),
        }
    });
    masked.collect()
}

/// Without a login, and without the values of the query that look like a secret.
fn masked_address(url: &Url) -> String {
    let mut url = url.clone();
    // Neither can fail where there is a host, and without one there is no login.
    if !url.username().is_empty() || url.password().is_some() {
        let _ = url.set_username("");
        let _ = url.set_password(None);
    }
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    let is_secret =
        |(name, value): &(String, String)| names_secret(name) || looks_secret(name, value);
    if pairs.iter().any(is_secret) {
        let shown = pairs.iter().map(|pair| {
            let value = if is_secret(pair) { MASK } else { pair.1.as_str() };
            (pair.0.as_str(), value)
        });
        let shown: Vec<_> = shown.collect();
        url.query_pairs_mut().clear().extend_pairs(shown);
    }
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_secret_is_masked_and_nothing_else() {
        let words = |words: &[&str]| {
            masked_words(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let given = ["npx", "-y", "--api-key", "hunter22", "--token=hunter22", "--port", "8080"];
        let told = ["npx", "-y", "--api-key", MASK, "--token=[secret]", "--port", "8080"];
        assert_eq!(words(&given), told);
        let of = |text: &str| masked_address(&Url::parse(text).unwrap());
        assert_eq!(of("https://ann:hunter2@host/path?page=1"), "https://host/path?page=1");
        assert_eq!(
            of("https://host/?page=1&token=hunter2"),
            "https://host/?page=1&token=%5Bsecret%5D"
        );
    }
}
