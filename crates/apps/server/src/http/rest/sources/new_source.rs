//! What somebody wants as a source: a text of another program, or an address, in our words.

use toolcrib_config::import::{AddressKind, ImportNote, import, of_address};
use toolcrib_config::{
    AddedSource, Config, OverlayPath, ParsedConfig, SourceOutline, added_sources,
};

use crate::http::state::GatewayState;

/// Bytes of what is pasted.
const LONGEST_SNIPPET: usize = 256 * 1024;
/// Bytes of an address.
const LONGEST_ADDRESS: usize = 2_048;

/// What is to be a source: one of these.
#[derive(Debug, Clone, Copy)]
pub(super) struct SourceWish<'b> {
    pub(super) snippet: Option<&'b str>,
    pub(super) document: Option<&'b str>,
    pub(super) card: Option<&'b str>,
    pub(super) server: Option<&'b str>,
}

/// The same in our words.
#[derive(Debug, Default)]
pub(super) struct WrittenSources {
    pub(super) toml: String,
    pub(super) notes: Vec<ImportNote>,
}

impl SourceWish<'_> {
    /// `taken`: ids that others have.
    pub(super) fn written(self, taken: &[String]) -> Result<WrittenSources, String> {
        let addresses = [
            (AddressKind::Document, self.document),
            (AddressKind::Card, self.card),
            (AddressKind::Server, self.server),
        ];
        let mut named = addresses.into_iter().filter_map(|(kind, said)| Some((kind, said?)));
        match (self.snippet, named.next(), named.next()) {
            (Some(snippet), None, None) => {
                if snippet.len() > LONGEST_SNIPPET {
                    let detail =
                        format!("`snippet` is longer than {LONGEST_SNIPPET} bytes: paste less");
                    return Err(detail);
                }
                let found = import(snippet, None).map_err(|error| error.to_string())?;
                Ok(WrittenSources { toml: found.toml, notes: found.notes })
            }
            (None, Some((kind, address)), None) => {
                let address = address.trim();
                if address.is_empty() || address.len() > LONGEST_ADDRESS {
                    let detail = format!("the address must have 1 to {LONGEST_ADDRESS} bytes");
                    return Err(detail);
                }
                let scheme =
                    address.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
                if !scheme.is_some_and(|scheme| matches!(scheme.as_str(), "http" | "https")) {
                    let detail = "an address begins with `https://` or `http://`: write all of it";
                    return Err(detail.to_owned());
                }
                let toml = of_address(address, kind, taken);
                Ok(WrittenSources { toml, notes: Vec::new() })
            }
            _ => Err("name one of `snippet`, `document`, `card` and `server`".to_owned()),
        }
    }
}

impl WrittenSources {
    /// As it would be read where the file of this server is.
    pub(super) fn read(&self, gateway: &GatewayState) -> ParsedConfig {
        let folder = gateway.overlay.folder().unwrap_or_default();
        Config::read(&self.toml, &folder.join("crib.toml").display().to_string())
    }

    /// The places of secrets that stand there word for word, with the cure.
    pub(super) fn literal_secrets(&self) -> Vec<String> {
        let sources = added_sources(&self.toml).sources;
        let places = sources.iter().flat_map(|(path, value)| {
            let places = AddedSource::of(value).map(|source| source.literal_secrets());
            places.unwrap_or_default().into_iter().map(move |place| literal_secret(path, &place))
        });
        places.collect()
    }
}

fn literal_secret(path: &OverlayPath, place: &str) -> String {
    format!(
        "{path}.{place}: this looks like a secret, and is not shown again: export it where the \
         server runs, and write `${{env:NAME}}` into `env`, `headers` or `auth`"
    )
}

/// The programs, word for word.
pub(super) fn starts(outlines: &[SourceOutline]) -> impl Iterator<Item = &Vec<String>> {
    outlines.iter().filter_map(|outline| outline.command.as_ref())
}

/// The ids of the configuration that is in force, those of sources that are left out too.
pub(super) fn taken(gateway: &GatewayState) -> Vec<String> {
    let file = gateway.file();
    let known = file.map(|file| file.outlines(toolcrib_config::Disclosure::Masked));
    known.unwrap_or_default().iter().map(|known| known.id.to_string()).collect()
}

/// Why an id cannot be taken, with one that can.
pub(super) fn taken_id(id: &str, taken: &[String]) -> String {
    let others = (2_u64..).map(|number| format!("{id}_{number}"));
    let free = others.into_iter().find(|other| !taken.contains(other)).unwrap_or_default();
    format!("there is a source `{id}` already: name this one `{free}`")
}
