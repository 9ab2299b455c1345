//! What an agent says of itself.

use serde_json::Value;

use super::json::{field, flag, list, text, texts};

/// The card of an agent, of either version.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentCard {
    pub name: String,
    pub description: String,
    /// Of the agent, not of the protocol.
    pub version: Option<String>,
    /// In the order in which the agent wants them used.
    pub interfaces: Vec<AgentInterface>,
    pub streaming: bool,
    /// Whether it tells an address of the client's how its tasks move on.
    pub pushes: bool,
    /// Whether whoever signs in is shown another card.
    pub extended: bool,
    /// Extensions that a client must know.
    pub required_extensions: Vec<String>,
    pub input_modes: Vec<String>,
    pub output_modes: Vec<String>,
    pub skills: Vec<AgentSkill>,
    /// Headers that hold a key, by the security schemes of the card.
    pub key_headers: Vec<String>,
}

/// A place where an agent is spoken to, as its card has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentInterface {
    pub url: String,
    pub binding: String,
    pub version: String,
    /// Stands in every request, where it is said.
    pub tenant: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSkill {
    pub id: String,
    pub name: String,
    pub description: String,
    pub tags: Vec<String>,
    pub examples: Vec<String>,
    /// `None`: those of the agent.
    pub input_modes: Option<Vec<String>>,
}

/// Most interfaces, skills and schemes of a card that are looked at.
const MOST: usize = 1_000;

impl AgentCard {
    /// A card of either version; `None`: it is no card, having neither a name nor a place.
    pub fn read(value: &Value) -> Option<Self> {
        let capabilities = field(value, &["capabilities"]).unwrap_or(&Value::Null);
        let extensions = list(capabilities, &["extensions"]).iter().take(MOST);
        let required = extensions.filter(|extension| flag(extension, &["required"]));
        let interfaces = interfaces(value);
        let name = text(value, &["name"]);
        if name.is_none() && interfaces.is_empty() {
            return None;
        }
        Some(Self {
            name: name.unwrap_or_default(),
            description: text(value, &["description"]).unwrap_or_default(),
            version: text(value, &["version"]),
            interfaces,
            streaming: flag(capabilities, &["streaming"]),
            pushes: flag(capabilities, &["pushNotifications", "push_notifications"]),
            extended: flag(capabilities, &["extendedAgentCard"])
                || flag(value, &["supportsAuthenticatedExtendedCard"]),
            required_extensions: required.filter_map(|it| text(it, &["uri"])).collect(),
            input_modes: texts(value, &["defaultInputModes"]),
            output_modes: texts(value, &["defaultOutputModes"]),
            skills: list(value, &["skills"]).iter().take(MOST).filter_map(skill).collect(),
            key_headers: key_headers(value),
        })
    }
}

/// Those of 1.0, where the card has them; else those of 0.3.
fn interfaces(card: &Value) -> Vec<AgentInterface> {
    let current = list(card, &["supportedInterfaces"]).iter().take(MOST);
    let current: Vec<_> = current
        .filter_map(|interface| {
            Some(AgentInterface {
                url: text(interface, &["url"])?,
                binding: text(interface, &["protocolBinding", "transport"])
                    .unwrap_or_else(|| "JSONRPC".to_owned()),
                version: text(interface, &["protocolVersion"]).unwrap_or_else(|| "1.0".to_owned()),
                tenant: text(interface, &["tenant"]),
            })
        })
        .collect();
    if !current.is_empty() {
        return current;
    }
    let version = text(card, &["protocolVersion"]).unwrap_or_else(|| "0.3".to_owned());
    let old = |url: String, binding: Option<String>| AgentInterface {
        url,
        binding: binding.unwrap_or_else(|| "JSONRPC".to_owned()),
        version: version.clone(),
        tenant: None,
    };
    let first = text(card, &["url"]).map(|url| old(url, text(card, &["preferredTransport"])));
    let more = list(card, &["additionalInterfaces"]).iter().take(MOST);
    let more = more.filter_map(|it| Some(old(text(it, &["url"])?, text(it, &["transport"]))));
    let mut all: Vec<AgentInterface> = Vec::new();
    for interface in first.into_iter().chain(more) {
        if !all.contains(&interface) {
            all.push(interface);
        }
    }
    all
}

fn skill(value: &Value) -> Option<AgentSkill> {
    let id = text(value, &["id"]).or_else(|| text(value, &["name"]))?;
    Some(AgentSkill {
        name: text(value, &["name"]).unwrap_or_else(|| id.clone()),
        id,
        description: text(value, &["description"]).unwrap_or_default(),
        tags: texts(value, &["tags"]),
        examples: texts(value, &["examples"]),
        input_modes: Some(texts(value, &["inputModes"])).filter(|modes| !modes.is_empty()),
    })
}

fn key_headers(card: &Value) -> Vec<String> {
    let schemes = field(card, &["securitySchemes"]).and_then(Value::as_object);
    let schemes = schemes.into_iter().flat_map(|schemes| schemes.values()).take(MOST);
    let header = |scheme: &Value| {
        let key = match field(scheme, &["apiKeySecurityScheme"]) {
            Some(key) => key,
            None if text(scheme, &["type"])? == "apiKey" => scheme,
            None => return None,
        };
        (text(key, &["location", "in"])? == "header").then(|| text(key, &["name"]))?
    };
    schemes.filter_map(header).collect()
}
