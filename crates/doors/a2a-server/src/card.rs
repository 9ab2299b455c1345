//! What an agent says of itself, for clients of both versions at once.

use serde_json::{Map, Value, json};
use toolcrib_a2a_client::protocol::card::AgentSkill;
use toolcrib_a2a_client::protocol::wire::{ProtocolBinding, ProtocolVersion};

/// What is known of an agent that is served.
#[derive(Debug, Clone, PartialEq)]
pub struct ServedCard {
    pub name: String,
    pub description: String,
    /// Of the server.
    pub version: String,
    /// Where it is spoken to, by every binding and in every version.
    pub url: String,
    pub skills: Vec<AgentSkill>,
    /// How clients may sign in; any of them will do.
    pub security: Vec<SecurityChoice>,
    /// Whether one must sign in.
    pub is_guarded: bool,
    pub takes_images: bool,
    /// Whether it can be told to notify somebody of what comes of a task.
    pub pushes: bool,
}

/// A way to sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecurityChoice {
    /// A token of this server or a key of its file, as a bearer token.
    Bearer,
    /// A token of an issuer; the address of its configuration.
    OpenId { url: String },
}

impl ServedCard {
    /// The card with the fields of 1.0 and those of 0.3 beside them: neither client reads what is
    /// the other's.
    pub fn write(&self) -> Value {
        let url = self.url.as_str();
        let ways = [ProtocolBinding::JsonRpc, ProtocolBinding::HttpJson];
        let versions = [ProtocolVersion::V1, ProtocolVersion::V03];
        let interfaces = versions.iter().flat_map(|version| {
            ways.iter().map(move |way| {
                json!({
                    "url": url, "protocolBinding": way.as_str(),
                    "protocolVersion": version.as_str(),
                })
            })
        });
        let more = ways.iter().map(|way| json!({ "url": url, "transport": way.as_str() }));
        let mut modes = vec!["text/plain", "application/json"];
        let out = modes.clone();
        if self.takes_images {
            modes.extend(["image/png", "image/jpeg", "application/pdf"]);
        }
        let mut card = json!({
            "name": self.name,
            "description": self.description,
            "version": self.version,
            "supportedInterfaces": interfaces.collect::<Vec<_>>(),
            "protocolVersion": "0.3.0",
            "url": url,
            "preferredTransport": ProtocolBinding::JsonRpc.as_str(),
            "additionalInterfaces": more.collect::<Vec<_>>(),
            "capabilities": {
                "streaming": true, "pushNotifications": self.pushes, "extendedAgentCard": true,
            },
            "supportsAuthenticatedExtendedCard": true,
            "defaultInputModes": modes,
            "defaultOutputModes": out,
            "skills": self.skills.iter().map(skill).collect::<Vec<_>>(),
        });
        if let Value::Object(fields) = &mut card {
            self.secure(fields);
        }
        card
    }

    fn secure(&self, card: &mut Map<String, Value>) {
        let named: Vec<_> = self.security.iter().enumerate().map(SecurityChoice::named).collect();
        if named.is_empty() {
            return;
        }
        let one = |(name, _): &(String, Value)| json!({ "schemes": { name: { "list": [] } } });
        let old = |(name, _): &(String, Value)| json!({ name: [] });
        let (mut current, mut legacy): (Vec<_>, Vec<_>) =
            (named.iter().map(one).collect(), named.iter().map(old).collect());
        if !self.is_guarded {
            // Nothing at all will do too.
            current.insert(0, json!({ "schemes": {} }));
            legacy.insert(0, json!({}));
        }
        card.insert("securityRequirements".to_owned(), current.into());
        card.insert("security".to_owned(), legacy.into());
        let schemes: Map<_, _> = named.into_iter().collect();
        card.insert("securitySchemes".to_owned(), schemes.into());
    }
}

impl SecurityChoice {
    /// Its name in the card, and the scheme in the shapes of both versions.
    fn named((place, choice): (usize, &Self)) -> (String, Value) {
        match choice {
            Self::Bearer => {
                let scheme = json!({
                    "type": "http", "scheme": "bearer",
                    "httpAuthSecurityScheme": { "scheme": "bearer" },
                });
                ("bearer".to_owned(), scheme)
            }
            Self::OpenId { url } => {
                let scheme = json!({
                    "type": "openIdConnect", "openIdConnectUrl": url,
                    "openIdConnectSecurityScheme": { "openIdConnectUrl": url },
                });
                (format!("issuer{place}"), scheme)
            }
        }
    }
}

fn skill(skill: &AgentSkill) -> Value {
    let AgentSkill { id, name, description, tags, examples, .. } = skill;
    json!({
        "id": id, "name": name, "description": description, "tags": tags, "examples": examples,
    })
}

#[cfg(test)]
mod tests {
    use toolcrib_a2a_client::protocol::card::AgentCard;

    use super::*;

    fn card(is_guarded: bool) -> ServedCard {
        ServedCard {
            name: "assistant".to_owned(),
            description: "Helps.".to_owned(),
            version: "1".to_owned(),
            url: "http://127.0.0.1:1/a2a/assistant".to_owned(),
            skills: Vec::new(),
            security: vec![SecurityChoice::Bearer],
            is_guarded,
            takes_images: false,
            pushes: false,
        }
    }

    #[test]
    fn clients_of_both_versions_find_the_agent_in_one_card() {
        let mut written = card(true).write();
        let read = AgentCard::read(&written).unwrap();
        let places = |read: &AgentCard| {
            let places = read.interfaces.iter();
            places.map(|it| format!("{} {}", it.binding, it.version)).collect::<Vec<_>>()
        };
        assert_eq!(places(&read), ["JSONRPC 1.0", "HTTP+JSON 1.0", "JSONRPC 0.3", "HTTP+JSON 0.3"]);
        assert!(read.streaming && read.extended, "{read:?}");
        // A client of 0.3 does not know the new fields.
        written.as_object_mut().unwrap().remove("supportedInterfaces");
        let read = AgentCard::read(&written).unwrap();
        assert_eq!(places(&read), ["JSONRPC 0.3.0", "HTTP+JSON 0.3.0"]);
    }

    #[test]
    fn who_need_not_sign_in_is_told_so() {
        let wanted = json!([{ "schemes": { "bearer": { "list": [] } } }]);
        assert_eq!(card(true).write()["securityRequirements"], wanted);
        let open = card(false).write();
        assert_eq!(open["securityRequirements"][0], json!({ "schemes": {} }));
        assert_eq!(open["security"], json!([{}, { "bearer": [] }]));
    }
}
