//! What must hold of all that an agent sends, for the property tests and the fuzzer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use http::HeaderMap;
use serde_json::Value;
use toolcrib_core::SourceId;
use toolcrib_egress::{Egress, Network};
use url::Url;

use crate::conversation::Conversations;
use crate::interface::{choose, way};
use crate::protocol::canonical::canonical_text;
use crate::protocol::card::AgentCard;
use crate::protocol::event::AgentEvent;
use crate::protocol::message::AgentMessage;
use crate::protocol::part::MessagePart;
use crate::protocol::signed_card::{CardKeys, CardSignature, CardVerifier, sign_card};
use crate::protocol::wire::WireForm;
use crate::run::agent::RemoteAgent;
use crate::run::content;
use crate::run::view::TaskView;
use crate::settings::{A2aSettings, A2aTools};
use crate::tool;
use crate::transport::client::AgentClient;
use crate::transport::sse::SseEvents;

const FORMS: [WireForm; 3] = [WireForm::Current, WireForm::Kinds, WireForm::OldProto];
/// What is kept of a stream, in bytes.
const MOST: u64 = 16 * 1024;

/// A kind on the first line and such bytes on the others: `card`, or `stream` of events. Each is
/// read without a panic and within its bounds.
pub fn agent(data: &[u8]) {
    let at = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (kind, rest) = data.split_at_checked(at).unwrap_or((data, &[]));
    let rest = rest.get(1..).unwrap_or_default();
    match kind {
        b"card" => card(rest),
        b"stream" => FORMS.into_iter().for_each(|form| drop(stream(&[rest], form))),
        _ => {}
    }
}

/// Believes every signature.
#[derive(Debug)]
struct Believer;

impl CardVerifier for Believer {
    fn verifies(&self, _: &CardSignature, _: &str) -> bool {
        true
    }
}

/// What is signed of a card has one form, however often it is read.
fn signed(card: &Value) {
    let keys = CardKeys { print: String::new(), verifier: Arc::new(Believer) };
    let Ok(mut form) = keys.signed(card) else { return };
    let text = canonical_text(&form);
    let again: Value = serde_json::from_str(&text).unwrap_or_default();
    assert_eq!(canonical_text(&again), text, "the form of a card has another form");
    let signs = sign_card(&mut form, ("ES256", "k", Value::Null), |_| Some(vec![1]));
    assert!(!signs || keys.signed(&form).is_ok_and(|again| canonical_text(&again) == text));
}

/// A card leads to a public place of the web or nowhere, and its tools have names.
fn card(bytes: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return };
    signed(&value);
    let Some(card) = AgentCard::read(&value) else { return };
    let Ok(home) = Url::parse("https://agent.example/card") else { return };
    for tools in [A2aTools::Agent, A2aTools::Skill] {
        let settings = A2aSettings { tools, ..A2aSettings::new(home.clone()) };
        let Ok(interface) = choose(&card, &settings) else { return };
        assert!(matches!(interface.url.scheme(), "http" | "https"), "no place of the web");
        let Ok(egress) = way(&interface, &settings) else { return };
        assert!(egress.check(&interface.url).is_ok(), "a way that leads nowhere");
        let Ok(egress) = Egress::only([interface.url.clone()], Network::default()) else { return };
        let client = AgentClient {
            egress,
            interface,
            headers: HeaderMap::new(),
            bounds: settings.bounds,
            trace_context: false,
        };
        let agent = Arc::new(RemoteAgent {
            client,
            settings: Arc::new(settings),
            conversations: Arc::<Conversations>::default(),
            streams: AtomicBool::new(card.streaming),
            subscribes: AtomicBool::new(card.streaming),
            pushes: card.pushes,
        });
        if let Ok(toolset) = tool::tools(&SourceId::new("agent"), &card, &agent) {
            let whole = tools == A2aTools::Agent;
            let wanted = if whole { 1 } else { card.skills.len() };
            assert_eq!(toolset.len(), wanted, "a tool for each");
        }
    }
}

/// What becomes of a stream that comes in these pieces; `None`: it was more than is kept.
fn stream(pieces: &[&[u8]], form: WireForm) -> Option<String> {
    let mut view = TaskView::new(MOST);
    let mut events = SseEvents::new(4 * 1024);
    let mut ready = VecDeque::new();
    for piece in pieces {
        events.push(piece, &mut ready).ok()?;
    }
    for data in ready {
        assert!(data.len() <= 4 * 1024 + 1024, "an event beyond its bound");
        let Ok(value) = serde_json::from_str::<Value>(&data) else { continue };
        let result = value.get("result").unwrap_or(&value);
        again(result);
        view.take(AgentEvent::read(result, form)).ok()?;
    }
    let parts = view.artifacts.iter().flat_map(|artifact| &artifact.parts);
    let kept: usize = parts.map(MessagePart::size).sum();
    assert!(kept as u64 <= MOST, "more is kept than may be");
    Some(format!("{:?} {:?}", content::answer(&view), content::failure(&view)))
}

/// What was read of a message and written is read again as the same.
fn again(value: &Value) {
    let Some(message) = AgentMessage::read(value, WireForm::Current) else { return };
    let written = message.write(WireForm::Current);
    let read = AgentMessage::read(&written, WireForm::Current);
    assert_eq!(read, Some(message), "{written}");
}

#[cfg(test)]
mod tests;
