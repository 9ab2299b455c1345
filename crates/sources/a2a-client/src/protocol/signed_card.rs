//! Signatures of cards (RFC 7515, over the form of RFC 8785): what is signed, and how it is written.
//!
//! What is signed of a card are the fields of 1.0 and nothing else, without those that say nothing:
//! readers that know the protocol by its buffers see no more of a card, and sign and check that.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};

use super::canonical::canonical_text;
use super::json::list;

/// Signatures of a card that are looked at.
const MOST_SIGNATURES: usize = 20;
/// Longest head of one, and longest signature, in letters.
const LONGEST: usize = 4 * 1024;

/// A signature of a card, believed in nothing yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardSignature {
    /// As its head names it: `ES256`.
    pub algorithm: String,
    /// The name of the key.
    pub kid: Option<String>,
    /// Its head as it came.
    protected: String,
    pub signature: Vec<u8>,
}

/// Who holds signatures of cards against keys.
pub trait CardVerifier: std::fmt::Debug + Send + Sync {
    /// Whether a key that is known has made the signature over the text.
    fn verifies(&self, signature: &CardSignature, signed: &str) -> bool;
}

/// The keys of those whose cards are believed.
#[derive(Debug, Clone)]
pub struct CardKeys {
    /// What tells these keys from others, such as the keys themselves.
    pub print: String,
    pub verifier: Arc<dyn CardVerifier>,
}

impl PartialEq for CardKeys {
    fn eq(&self, other: &Self) -> bool {
        self.print == other.print
    }
}

impl CardKeys {
    /// What of the card is signed with one of the keys; all else of it is anybody's word. `Err`:
    /// why none of its signatures counts.
    pub fn signed(&self, card: &Value) -> Result<Value, String> {
        let signatures = list(card, &["signatures"]);
        if signatures.is_empty() {
            return Err("it has no signature".to_owned());
        }
        // Some sign all that a card says.
        let mut whole = card.clone();
        if let Value::Object(fields) = &mut whole {
            fields.remove("signatures");
        }
        let forms = [of_buffers(card), whole];
        let payloads = forms.each_ref().map(|form| encoded(canonical_text(form).as_bytes()));
        let mut why = "none of its signatures is of one of the keys".to_owned();
        for signature in signatures.iter().take(MOST_SIGNATURES) {
            let signature = match CardSignature::read(signature) {
                Ok(signature) => signature,
                Err(wrong) => {
                    why = format!("a signature of it {wrong}");
                    continue;
                }
            };
            for (form, payload) in forms.iter().zip(&payloads) {
                let signed = format!("{}.{payload}", signature.protected);
                if self.verifier.verifies(&signature, &signed) {
                    return Ok(form.clone());
                }
            }
        }
        Err(why)
    }
}

impl CardSignature {
    /// `Err`: what is wrong with it, after "a signature".
    pub fn read(value: &Value) -> Result<Self, &'static str> {
        let text = |name: &str| {
            let text = value.get(name).and_then(Value::as_str);
            text.filter(|text| !text.is_empty() && text.len() <= LONGEST)
        };
        let form = "is no JSON web signature";
        let (protected, signature) = text("protected").zip(text("signature")).ok_or(form)?;
        let decoded = |text: &str| BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| form);
        let head: Value = serde_json::from_slice(&decoded(protected)?).map_err(|_| form)?;
        let word = |name: &str| head.get(name).and_then(Value::as_str);
        if head.get("crit").is_some() {
            return Err("has marks that are not known here");
        }
        // Signatures for other ends are made with the same keys.
        if head.get("typ").is_some() && !word("typ").is_some_and(is_of_signatures) {
            return Err("is for something else: its `typ` is not `JOSE`");
        }
        Ok(Self {
            algorithm: word("alg").ok_or("names no algorithm")?.to_owned(),
            kid: word("kid").map(str::to_owned),
            protected: protected.to_owned(),
            signature: decoded(signature)?,
        })
    }
}

fn is_of_signatures(kind: &str) -> bool {
    ["JOSE", "JOSE+JSON"].iter().any(|known| kind.eq_ignore_ascii_case(known))
}

/// Adds a signature to a card. `kid`: the name of the key; `public`: the key itself, for those who
/// look at the card. `sign`: what signs a text.
pub fn sign_card(
    card: &mut Value,
    (algorithm, kid, public): (&str, &str, Value),
    sign: impl FnOnce(&str) -> Option<Vec<u8>>,
) -> bool {
    let head = json!({ "alg": algorithm, "kid": kid, "typ": "JOSE" });
    let protected = encoded(head.to_string().as_bytes());
    let payload = encoded(canonical_text(&of_buffers(card)).as_bytes());
    let Some(signature) = sign(&format!("{protected}.{payload}")) else { return false };
    let signature = json!({
        "protected": protected, "signature": encoded(&signature), "header": { "jwk": public },
    });
    let Value::Object(fields) = card else { return false };
    let signatures = fields.entry("signatures").or_insert_with(|| json!([]));
    let Value::Array(signatures) = signatures else { return false };
    signatures.push(signature);
    true
}

fn encoded(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// What a field of a message may be.
enum CardField {
    Text,
    /// Told even if it is `false`.
    Flag,
    /// Told only if it is `true`.
    PlainFlag,
    Texts,
    /// A message with these fields.
    Message(CardFields),
    Messages(CardFields),
    /// Messages by name.
    MessageMap(CardFields),
    TextMap,
    /// Any JSON.
    Free,
}

type CardFields = &'static [(&'static str, CardField)];

const REQUIREMENT: CardFields =
    &[("schemes", CardField::MessageMap(&[("list", CardField::Texts)]))];
const FLOW: CardFields = &[
    ("authorizationUrl", CardField::Text),
    ("deviceAuthorizationUrl", CardField::Text),
    ("tokenUrl", CardField::Text),
    ("refreshUrl", CardField::Text),
    ("scopes", CardField::TextMap),
    ("pkceRequired", CardField::PlainFlag),
];
const FLOWS: CardFields = &[
    ("authorizationCode", CardField::Message(FLOW)),
    ("clientCredentials", CardField::Message(FLOW)),
    ("implicit", CardField::Message(FLOW)),
    ("password", CardField::Message(FLOW)),
    ("deviceCode", CardField::Message(FLOW)),
];
/// All schemes in one: only the fields of its own stand in each.
const SCHEME: CardFields = &[
    ("description", CardField::Text),
    ("location", CardField::Text),
    ("name", CardField::Text),
    ("scheme", CardField::Text),
    ("bearerFormat", CardField::Text),
    ("flows", CardField::Message(FLOWS)),
    ("oauth2MetadataUrl", CardField::Text),
    ("openIdConnectUrl", CardField::Text),
];
const SCHEMES: CardFields = &[
    ("apiKeySecurityScheme", CardField::Message(SCHEME)),
    ("httpAuthSecurityScheme", CardField::Message(SCHEME)),
    ("oauth2SecurityScheme", CardField::Message(SCHEME)),
    ("openIdConnectSecurityScheme", CardField::Message(SCHEME)),
    ("mtlsSecurityScheme", CardField::Message(SCHEME)),
];
const EXTENSION: CardFields = &[
    ("uri", CardField::Text),
    ("description", CardField::Text),
    ("required", CardField::PlainFlag),
    ("params", CardField::Free),
];
/// The card of 1.0 (`AgentCard` of `a2a.proto`), without its signatures.
const CARD: CardFields = &[
    ("name", CardField::Text),
    ("description", CardField::Text),
    (
        "supportedInterfaces",
        CardField::Messages(&[
            ("url", CardField::Text),
            ("protocolBinding", CardField::Text),
            ("tenant", CardField::Text),
            ("protocolVersion", CardField::Text),
        ]),
    ),
    (
        "provider",
        CardField::Message(&[("url", CardField::Text), ("organization", CardField::Text)]),
    ),
    ("version", CardField::Text),
    ("documentationUrl", CardField::Text),
    (
        "capabilities",
        CardField::Message(&[
            ("streaming", CardField::Flag),
            ("pushNotifications", CardField::Flag),
            ("extensions", CardField::Messages(EXTENSION)),
            ("extendedAgentCard", CardField::Flag),
        ]),
    ),
    ("securitySchemes", CardField::MessageMap(SCHEMES)),
    ("securityRequirements", CardField::Messages(REQUIREMENT)),
    ("defaultInputModes", CardField::Texts),
    ("defaultOutputModes", CardField::Texts),
    (
        "skills",
        CardField::Messages(&[
            ("id", CardField::Text),
            ("name", CardField::Text),
            ("description", CardField::Text),
            ("tags", CardField::Texts),
            ("examples", CardField::Texts),
            ("inputModes", CardField::Texts),
            ("outputModes", CardField::Texts),
            ("securityRequirements", CardField::Messages(REQUIREMENT)),
        ]),
    ),
    ("iconUrl", CardField::Text),
];

/// The card as its buffer has it.
fn of_buffers(card: &Value) -> Value {
    told(message(card, CARD)).unwrap_or_else(|| json!({}))
}

fn message(value: &Value, fields: CardFields) -> Value {
    let of_one = |(name, kind): &(&str, CardField)| {
        Some(((*name).to_owned(), field(value.get(name)?, kind)?))
    };
    Value::Object(fields.iter().filter_map(of_one).collect())
}

fn field(value: &Value, kind: &CardField) -> Option<Value> {
    let each = |one: &dyn Fn(&Value) -> Option<Value>| {
        Some(Value::Array(value.as_array()?.iter().filter_map(one).collect()))
    };
    let by_name = |one: &dyn Fn(&Value) -> Option<Value>| {
        let fields = value.as_object()?.iter();
        let fields = fields.filter_map(|(name, value)| Some((name.clone(), one(value)?)));
        Some(Value::Object(fields.collect::<Map<_, _>>()))
    };
    let text = |value: &Value| value.is_string().then(|| value.clone());
    match kind {
        CardField::Text => text(value),
        CardField::Flag => value.is_boolean().then(|| value.clone()),
        CardField::PlainFlag => (value == &Value::Bool(true)).then_some(Value::Bool(true)),
        CardField::Texts => each(&text),
        CardField::Message(fields) => Some(message(value, fields)),
        CardField::Messages(fields) => each(&|value| Some(message(value, fields))),
        CardField::MessageMap(fields) => by_name(&|value| Some(message(value, fields))),
        CardField::TextMap => by_name(&text),
        CardField::Free => Some(value.clone()),
    }
}

/// What says something: neither nothing, nor an empty text, list or object.
fn told(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Bool(_) | Value::Number(_) => Some(value),
        Value::String(text) => (!text.is_empty()).then_some(Value::String(text)),
        Value::Array(items) => {
            let items: Vec<_> = items.into_iter().filter_map(told).collect();
            (!items.is_empty()).then_some(Value::Array(items))
        }
        Value::Object(fields) => {
            let fields = fields.into_iter().filter_map(|(name, value)| Some((name, told(value)?)));
            let fields: Map<_, _> = fields.collect();
            (!fields.is_empty()).then_some(Value::Object(fields))
        }
    }
}
