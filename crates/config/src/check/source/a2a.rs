//! One remote agent.

use serde_json::{Map, Value};
use toolcrib_a2a_client::protocol::metadata::forced::MOST_FORCED;
use toolcrib_a2a_client::protocol::wire::{ProtocolBinding, ProtocolVersion};
use toolcrib_a2a_client::{A2aBounds, A2aSettings, A2aTools, CardKeys, ConversationScope};
use toolcrib_auth::KeySet;

use crate::check::ConfigChecker;
use crate::file::toml_path::TomlPath;
use crate::raw::{self, A2aAuthTable};
use crate::settings::a2a::signed_by;
use crate::settings::{A2aCredentialTemplate, A2aTemplate};

/// The largest answer that may be set: it is kept as a tree while it is read.
const LARGEST_ANSWER: u64 = 256 << 20;

impl ConfigChecker<'_, '_, '_> {
    pub(crate) fn remote_agent(
        &mut self,
        raw: &raw::A2aTable,
        place: &TomlPath,
    ) -> Option<A2aTemplate> {
        let card = self.url(&raw.card, &place.key("card"));
        let url = raw.url.as_ref().and_then(|url| self.url(url, &place.key("url")));
        let is_signed = raw.auth.is_some() || !raw.headers.is_empty();
        self.in_the_open(card.as_ref(), is_signed, &place.key("card"));
        self.in_the_open(url.as_ref(), is_signed, &place.key("url"));
        let push = raw.push.as_ref().and_then(|url| self.url(url, &place.key("push")));
        let headers = self.headers(&raw.headers, &place.key("headers"));
        let auth = raw.auth.as_ref();
        let credential = auth.and_then(|auth| self.a2a_auth(auth, &place.key("auth")));
        let named = raw.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        if named && auth.is_some_and(|auth| auth.key.is_none()) {
            let cure = "remove the header `Authorization`, or `auth`";
            self.problem(&place.key("headers"), "two ways to say who we are", cure);
        }
        let network = self.network(&raw.private, &place.key("private"));
        self.own_schema(raw, place);
        self.forced_tools(&raw.force, &place.key("force"));
        let keys = raw.keys.as_ref();
        let keys = keys.and_then(|keys| self.card_keys(keys, &place.key("keys")));
        let mut time = |text, key| self.timeout(text, &place.key(key));
        let timeout = time(raw.timeout.as_ref(), "timeout");
        let poll = time(raw.poll.as_ref(), "poll");
        let bounds = self.a2a_bounds(&raw.limits, &place.key("limits"));
        let usual = A2aSettings::new(card?);
        let plain = A2aSettings {
            url,
            binding: raw.transport.map(|word| match word {
                raw::TransportWord::JsonRpc => ProtocolBinding::JsonRpc,
                raw::TransportWord::HttpJson => ProtocolBinding::HttpJson,
            }),
            version: raw.version.map(|word| match word {
                raw::A2aVersionWord::V1 => ProtocolVersion::V1,
                raw::A2aVersionWord::V03 => ProtocolVersion::V03,
            }),
            keys,
            network,
            tools: match raw.by {
                Some(raw::A2aByWord::Skill) => A2aTools::Skill,
                Some(raw::A2aByWord::Agent) | None => A2aTools::Agent,
            },
            conversation: if raw.reuse {
                ConversationScope::Session
            } else {
                ConversationScope::Call
            },
            input: raw.input_schema.clone(),
            message: raw.message.clone(),
            force: raw.force.clone(),
            timeout: timeout.unwrap_or(usual.timeout),
            poll: poll.unwrap_or(usual.poll),
            push,
            trace_context: raw.trace_context,
            bounds,
            ..usual
        };
        Some(A2aTemplate { plain, headers, credential })
    }

    /// The keys that sign the card. None of them is passed over: the card would be believed less
    /// often than the file says.
    fn card_keys(&mut self, keys: &[Map<String, Value>], place: &TomlPath) -> Option<CardKeys> {
        if keys.is_empty() {
            let message = "no card is signed with none of no keys";
            self.problem(place, message, "add a key, or remove `keys`");
        }
        let keys: Vec<_> = keys.iter().cloned().map(Value::Object).collect();
        for (index, key) in keys.iter().enumerate() {
            let place = place.index(index);
            if key.get("d").is_some() || key.get("k").is_some() {
                let cure = "keep it to whoever signs, and write its public half here";
                self.problem(&place, "this is a private key", cure);
            } else if KeySet::of_keys(std::slice::from_ref(key)).is_empty() {
                let cure = "write a key of P-256, P-384, Ed25519 or RSA as a JWK, such as `{ kty \
                            = \"EC\", crv = \"P-256\", x = \"...\", y = \"...\" }`";
                self.problem(&place, "this is no public key that checks signatures", cure);
            }
        }
        (!keys.is_empty()).then(|| signed_by(&keys))
    }

    fn forced_tools(&mut self, names: &[String], place: &TomlPath) {
        if names.len() > MOST_FORCED {
            let message = format!("more than {MOST_FORCED} tools that must be called");
            self.problem(place, &message, "name those that matter");
        }
    }

    fn own_schema(&mut self, raw: &raw::A2aTable, place: &TomlPath) {
        let schema = raw.input_schema.as_ref();
        if schema.is_some_and(|schema| schema.get("type").is_some_and(|kind| kind != "object")) {
            let message = "arguments are an object";
            self.problem(&place.key("input_schema"), message, "write `type = \"object\"`");
        }
        if schema.is_some() && raw.message.is_some() {
            let message = "with an own schema there is no argument `message`";
            self.problem(&place.key("message"), message, "describe it in `input_schema`");
        }
    }

    fn a2a_auth(&mut self, auth: &A2aAuthTable, place: &TomlPath) -> Option<A2aCredentialTemplate> {
        // One that was left out as wrong was told already.
        let keys = ["bearer", "basic", "key"];
        match keys.iter().filter(|key| self.document().has(&place.key(key))).count() {
            1 => {}
            0 => {
                let cure = "add `bearer`, `basic` or `key`";
                self.problem(place, "this does not say who we are", cure);
            }
            _ => self.problem(place, "this says twice who we are", "keep one of them"),
        }
        if let Some(token) = &auth.bearer {
            return self.template(token, &place.key("bearer")).map(A2aCredentialTemplate::Bearer);
        }
        if let Some(key) = &auth.key {
            return self.template(key, &place.key("key")).map(A2aCredentialTemplate::Key);
        }
        let basic = auth.basic.as_ref()?;
        let password = self.template(&basic.password, &place.key("basic").key("password"))?;
        Some(A2aCredentialTemplate::Basic { user: basic.user.clone(), password })
    }

    fn a2a_bounds(&mut self, raw: &raw::A2aLimitsTable, place: &TomlPath) -> A2aBounds {
        let usual = A2aBounds::default();
        let place = place.key("answer");
        let size = self.size(raw.answer.as_ref(), &place);
        let answer = size.and_then(|size| u64::try_from(size).ok()).unwrap_or(usual.answer);
        if answer > LARGEST_ANSWER {
            let message = "reading JSON takes ten times its size of memory";
            self.problem(&place, message, "write `256MiB` or less");
        }
        A2aBounds { answer, ..usual }
    }
}
