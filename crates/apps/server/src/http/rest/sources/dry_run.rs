//! `POST /v1/sources/dry-run`: what a source would be that nobody has added yet. Nothing is started,
//! asked or looked up for it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_config::import::{AddressKind, ImportNote, import, of_address};
use toolcrib_config::{Config, Disclosure, SourceOutline};

use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// Bytes of what is pasted.
const LONGEST_SNIPPET: usize = 256 * 1024;
/// Bytes of an address.
const LONGEST_ADDRESS: usize = 2_048;
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
}

pub(crate) fn run(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: DryRunBody = asked.json()?;
        let file = asked.gateway.file();
        let taken = file.map(|file| file.outlines(Disclosure::Masked)).unwrap_or_default();
        let taken: Vec<_> = taken.iter().map(|known| known.id.to_string()).collect();
        // What is wrong with what was pasted is an answer and no fault of the request.
        let (toml, notes, wrong) = match written(&body, &taken) {
            Ok((toml, notes)) => (toml, notes, None),
            Err(wrong) => (String::new(), Vec::new(), Some(wrong)),
        };
        let read = Config::read(&toml, "crib.toml");
        let mut problems: Vec<_> = wrong.into_iter().collect();
        problems.extend(read.problems.iter().map(ToString::to_string));
        let outlines = read.config.as_ref().map(|config| config.outlines(Disclosure::Whole));
        let outlines = outlines.unwrap_or_default();
        let clash = |outline: &&SourceOutline| taken.contains(&outline.id.to_string());
        problems.extend(outlines.iter().filter(clash).map(|outline| {
            format!("there is a source `{}` already: give this one another `id`", outline.id)
        }));
        let has_more =
            [outlines.len(), notes.len(), problems.len()].iter().any(|count| *count > MOST);
        problems.truncate(MOST);
        let started = outlines.iter().filter_map(|outline| outline.command.as_ref());
        let asks = outlines.iter().filter_map(|outline| outline.address.as_ref());
        Ok(reply(&json!({
            "sources": outlines.iter().take(MOST).collect::<Vec<_>>(),
            "starts": started.take(MOST).collect::<Vec<_>>(),
            "asks": asks.take(MOST).collect::<Vec<_>>(),
            "notes": notes.iter().take(MOST).map(note).collect::<Vec<_>>(),
            "problems": problems,
            "has_more": has_more,
            "toml": toml,
        })))
    })
}

/// The text of the sources, and what is to be known of them.
fn written(body: &DryRunBody, taken: &[String]) -> Result<(String, Vec<ImportNote>), String> {
    let addresses = [
        (AddressKind::Document, &body.document),
        (AddressKind::Card, &body.card),
        (AddressKind::Server, &body.server),
    ];
    let mut named = addresses.iter().filter_map(|(kind, said)| Some((*kind, said.as_ref()?)));
    match (&body.snippet, named.next(), named.next()) {
        (Some(snippet), None, None) => {
            if snippet.len() > LONGEST_SNIPPET {
                let detail =
                    format!("`snippet` is longer than {LONGEST_SNIPPET} bytes: paste less");
                return Err(detail);
            }
            let found = import(snippet, None).map_err(|error| error.to_string())?;
            Ok((found.toml, found.notes))
        }
        (None, Some((kind, address)), None) => {
            let address = address.trim();
            if address.is_empty() || address.len() > LONGEST_ADDRESS {
                let detail = format!("the address must have 1 to {LONGEST_ADDRESS} bytes");
                return Err(detail);
            }
            let scheme = address.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
            if !scheme.is_some_and(|scheme| matches!(scheme.as_str(), "http" | "https")) {
                let detail = "an address begins with `https://` or `http://`: write all of it";
                return Err(detail.to_owned());
            }
            Ok((of_address(address, kind, taken), Vec::new()))
        }
        _ => Err("name one of `snippet`, `document`, `card` and `server`".to_owned()),
    }
}

fn note(note: &ImportNote) -> Value {
    json!({ "source": note.source, "text": note.text, "export": note.export })
}
