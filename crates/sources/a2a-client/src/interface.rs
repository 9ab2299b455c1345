//! Which of the places of a card is spoken to.

use toolcrib_core::SourceError;
use toolcrib_egress::Egress;
use url::Url;

use crate::protocol::card::{AgentCard, AgentInterface};
use crate::protocol::wire::{ProtocolBinding, ProtocolVersion};
use crate::settings::A2aSettings;
use crate::transport::reply::cut;
use crate::transport::request::ChosenInterface;

/// Most places that are told of one after the other.
const MOST_TOLD: usize = 5;

/// The first place of the card that is spoken here; the settings are stronger than the card.
pub(crate) fn choose(
    card: &AgentCard,
    settings: &A2aSettings,
) -> Result<ChosenInterface, SourceError> {
    if let Some(extension) = card.required_extensions.first() {
        return Err(SourceError::new(format!(
            "the agent wants the extension `{}`, which is not known here: use another agent, or \
             have it offered without",
            cut(extension, 200)
        )));
    }
    let fitting = card.interfaces.iter().find_map(|interface| fit(interface, settings));
    // What the settings say whole needs no card.
    let said = || {
        Some(ChosenInterface {
            url: settings.url.clone()?,
            binding: settings.binding?,
            version: settings.version?,
            tenant: None,
        })
    };
    let found = fitting.or_else(|| said().map(|said| (said, String::new())));
    let Some((mut chosen, text)) = found else { return Err(nothing_fits(card, settings)) };
    if let Some(url) = &settings.url {
        chosen.url = url.clone();
    }
    if !matches!(chosen.url.scheme(), "http" | "https") || !chosen.url.has_host() {
        return Err(SourceError::new(format!(
            "the card says that the agent is at `{}`, which is no address of the web: set `url` of \
             this source",
            cut(&text, 200)
        )));
    }
    Ok(chosen)
}

/// `None`: it is not spoken here. The text is its address as the card has it.
fn fit(interface: &AgentInterface, settings: &A2aSettings) -> Option<(ChosenInterface, String)> {
    let binding = ProtocolBinding::read(&interface.binding)?;
    if settings.binding.is_some_and(|wanted| wanted != binding) {
        return None;
    }
    let version = settings.version.or_else(|| ProtocolVersion::read(&interface.version))?;
    let url = match (Url::parse(&interface.url), &settings.url) {
        (Ok(url), _) => url,
        (Err(_), Some(url)) => url.clone(),
        // The next place may be written better.
        (Err(_), None) => return None,
    };
    let tenant = interface.tenant.clone();
    Some((ChosenInterface { url, binding, version, tenant }, interface.url.clone()))
}

fn nothing_fits(card: &AgentCard, settings: &A2aSettings) -> SourceError {
    if card.interfaces.is_empty() {
        return SourceError::new(
            "the card names no place where the agent is spoken to: set `url`, `transport` and \
             `version` of this source",
        );
    }
    let told = card.interfaces.iter().take(MOST_TOLD).map(|interface| {
        let AgentInterface { url, binding, version, .. } = interface;
        format!("`{}` {} at `{}`", cut(binding, 40), cut(version, 40), cut(url, 200))
    });
    let told: Vec<_> = told.collect();
    let wanted = settings.binding.map_or_else(
        || "`JSONRPC` and `HTTP+JSON`".to_owned(),
        |binding| format!("`{}` alone, as `transport` says,", binding.as_str()),
    );
    SourceError::new(format!(
        "the agent offers {}, and here {wanted} of 1.0 and 0.3 are spoken: have it offer one of \
         them, or set `version` of this source if the card is wrong",
        told.join(", ")
    ))
}

/// The way to the chosen place: what the settings name may be anywhere, what only the card names
/// must be public, and is told no secret.
pub(crate) fn way(chosen: &ChosenInterface, settings: &A2aSettings) -> Result<Egress, SourceError> {
    let named: Vec<&Url> =
        [Some(&settings.card), settings.url.as_ref()].into_iter().flatten().collect();
    let is_named = named.iter().any(|url| url.origin() == chosen.url.origin());
    let place = place(&chosen.url);
    if !is_named && settings.has_secrets() {
        return Err(SourceError::new(format!(
            "the card says that the agent is at `{place}`, and the credential of this source is for \
             `{}`: set `url` of this source if it is meant for the agent there",
            self::place(&settings.card)
        )));
    }
    let network = settings.network.clone();
    let way = if is_named {
        Egress::only([chosen.url.clone()], network)
    } else {
        Egress::open([], network)
    };
    let refused = |error| {
        let message = format!(
            "the card says that the agent is at `{place}`, which may not be reached: set `url` of \
             this source, or open its address under `private`"
        );
        SourceError::new(message).because(error)
    };
    let way = way.map_err(refused)?;
    way.check(&chosen.url).map_err(refused)?;
    Ok(way)
}

/// Scheme, host and port.
pub(crate) fn place(url: &Url) -> String {
    url.origin().ascii_serialization()
}
