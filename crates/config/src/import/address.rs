//! A source of an address alone.

use url::{Host, Url};

use super::write::quoted;

/// What an address is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressKind {
    /// A document of an API.
    Document,
    /// The card of an agent.
    Card,
    /// A server of the Model Context Protocol.
    Server,
}

/// The text of a `crib.toml` with this source; whatever is wrong with the address is found when it
/// is read. `taken`: ids that others have.
pub fn of_address(address: &str, kind: AddressKind, taken: &[String]) -> String {
    let stem = stem(address);
    let free = |id: &String| !taken.contains(id);
    let mut ids =
        std::iter::once(stem.clone()).chain((2_u64..).map(|next| format!("{stem}_{next}")));
    let id = ids.find(free).unwrap_or(stem);
    let (table, key) = match kind {
        AddressKind::Document => ("openapi", "document"),
        AddressKind::Card => ("a2a", "card"),
        AddressKind::Server => ("mcp", "url"),
    };
    format!("[[source]]\nid = {}\n\n[source.{table}]\n{key} = {}\n", quoted(&id), quoted(address))
}

/// A name by the host: `github` of `api.github.com`.
fn stem(address: &str) -> String {
    let url = Url::parse(address).ok();
    let host = url.as_ref().and_then(Url::host);
    let name = match host {
        Some(Host::Domain(name)) => {
            let labels: Vec<_> = name.split('.').filter(|label| !label.is_empty()).collect();
            labels.iter().rev().nth(1).or(labels.first()).map(|label| (*label).to_owned())
        }
        Some(Host::Ipv4(_) | Host::Ipv6(_)) | None => None,
    };
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let name: String = name.unwrap_or_default().chars().take(48).map(letter).collect();
    if name.is_empty() || name == "code" { "source".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn an_address_becomes_a_source_that_can_be_read() {
        let of = |address: &str, kind, taken: &[&str]| {
            let taken: Vec<_> = taken.iter().map(ToString::to_string).collect();
            let read = Config::read(&of_address(address, kind, &taken), "crib.toml");
            let ids =
                |config: Config| config.sources().map(ToString::to_string).collect::<Vec<_>>();
            read.config.map(ids).ok_or(read.problems.len())
        };
        let found = of("https://api.github.com/openapi.json", AddressKind::Document, &[]);
        assert_eq!(found, Ok(vec!["github".to_owned()]));
        let second = of("https://github.com/mcp", AddressKind::Server, &["github"]);
        assert_eq!(second, Ok(vec!["github_2".to_owned()]));
        let agent = of("http://127.0.0.1:7411", AddressKind::Card, &[]);
        assert_eq!(agent, Ok(vec!["source".to_owned()]));
        for wrong in ["javascript:alert(1)", "\"\n[[source]]\nid = \"x", ""] {
            assert!(of(wrong, AddressKind::Server, &[]).is_err(), "{wrong}");
        }
    }
}
