//! `POST /v1/sources/dry-run`: what a source would be that nobody has added yet. Nothing is started,
//! asked or looked up for it, unless `probe` asks for its tools.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_config::Disclosure;
use toolcrib_config::import::ImportNote;

use super::new_source::{SourceWish, WrittenSources, starts, taken, taken_id};
use super::probe::probed;
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// Sources, notes and problems that are told, of each.
const MOST: usize = 200;

/// What is to be a source: one of these.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DryRunBody {
    /// The `mcpServers` of another program, or its whole file.
    snippet: Option<String>,
    /// The address of a document of an API.
    document: Option<String>,
    /// The address of the card of an agent.
    card: Option<String>,
    /// The address of a server of MCP.
    server: Option<String>,
    /// Starts and asks it once, and tells which tools it would bring.
    #[serde(default)]
    probe: bool,
}

impl DryRunBody {
    fn wish(&self) -> SourceWish<'_> {
        SourceWish {
            snippet: self.snippet.as_deref(),
            document: self.document.as_deref(),
            card: self.card.as_deref(),
            server: self.server.as_deref(),
        }
    }
}

pub(crate) fn run(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: DryRunBody = asked.json()?;
        let taken = taken(&asked.gateway);
        // What is wrong with what was pasted is an answer and no fault of the request.
        let (written, wrong) = match body.wish().written(&taken) {
            Ok(written) => (written, None),
            Err(wrong) => (WrittenSources::default(), Some(wrong)),
        };
        let mut problems: Vec<_> = wrong.into_iter().collect();
        let secrets = written.literal_secrets();
        let read = written.read(&asked.gateway);
        problems.extend(read.problems.iter().map(ToString::to_string));
        let outlines = read.config.as_ref().map(|config| config.outlines(Disclosure::Whole));
        let mut outlines = outlines.unwrap_or_default();
        let clashes = outlines.iter().filter(|outline| taken.contains(&outline.id.to_string()));
        problems.extend(clashes.map(|outline| taken_id(outline.id.as_str(), &taken)));
        let (mut toml, mut notes) = (written.toml.clone(), written.notes.clone());
        if !secrets.is_empty() {
            // Whoever looks over the shoulder has seen it once too often already.
            (toml, notes) = (String::new(), Vec::new());
            outlines.clear();
            problems.extend(secrets);
        }
        let probed = match read.config.filter(|_| body.probe && problems.is_empty()) {
            Some(config) => Some(probed(&asked, &written, config).await?),
            None => None,
        };
        let has_more =
            [outlines.len(), notes.len(), problems.len()].iter().any(|count| *count > MOST);
        problems.truncate(MOST);
        let asks = outlines.iter().filter_map(|outline| outline.address.as_ref());
        Ok(reply(&json!({
            "sources": outlines.iter().take(MOST).collect::<Vec<_>>(),
            "starts": starts(&outlines).take(MOST).collect::<Vec<_>>(),
            "asks": asks.take(MOST).collect::<Vec<_>>(),
            "notes": notes.iter().take(MOST).map(note).collect::<Vec<_>>(),
            "problems": problems,
            "has_more": has_more,
            "toml": toml,
            "probed": probed,
        })))
    })
}

fn note(note: &ImportNote) -> Value {
    json!({ "source": note.source, "text": note.text, "export": note.export })
}
