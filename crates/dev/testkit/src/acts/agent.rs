//! The agent that is judged: its card, the place of a binding, and who asks it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use serde_json::{Value, json};
use url::Url;

use super::binding::{self, ActsBinding};
use super::wire::{self, ActsLine, ActsReply, WireRequest};

const CARD: &str = ".well-known/agent-card.json";

/// What is known of the agent and of who asks it.
#[derive(Debug, Clone)]
pub(super) struct ActsCallers {
    /// Who has the right to all of it.
    pub(super) own: HeaderMap,
    /// Somebody else of the agent's.
    pub(super) other: Option<HeaderMap>,
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ActsCaller {
    Own,
    Other,
    Nobody,
}

/// An agent at the place of one binding.
pub(super) struct JudgedAgent {
    pub(super) binding: ActsBinding,
    pub(super) place: Url,
    pub(super) card: Value,
    card_place: Url,
    version: String,
    line: ActsLine,
    callers: ActsCallers,
    count: AtomicU64,
    seed: String,
}

/// What says where the agent is and how it is spoken to.
pub(super) struct AgentAddress<'a> {
    pub(super) given: &'a Url,
    /// The place of the binding, if the card is not to say it.
    pub(super) at: Option<&'a Url>,
    pub(super) version: &'a str,
    pub(super) patience: Duration,
}

/// Reads the card of an agent.
pub(super) async fn card(
    address: &AgentAddress<'_>,
    callers: &ActsCallers,
) -> Result<(Url, Value), String> {
    let place = card_place(address.given);
    let line = ActsLine::to(&[&place], address.patience).map_err(|error| error.to_string())?;
    let headers = callers.own.clone();
    let request = WireRequest { method: Method::GET, url: place.clone(), headers, body: None };
    let reply = line.send(request).await?;
    let body = reply.body.filter(|body| body.is_object() && reply.status == 200);
    let body = body.ok_or_else(|| {
        format!("{place} answers {} and no card: name the agent, or the card itself", reply.status)
    })?;
    Ok((place, body))
}

fn card_place(given: &Url) -> Url {
    let mut place = given.clone();
    if !names_a_file(place.path()) {
        let path = format!("{}/{CARD}", place.path().trim_end_matches('/'));
        place.set_path(&path);
    }
    place
}

fn names_a_file(path: &str) -> bool {
    let ending = std::path::Path::new(path).extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
}

impl JudgedAgent {
    /// The agent at the place that its card has for a binding; nothing if the card has none.
    pub(super) fn of(
        binding: ActsBinding,
        address: &AgentAddress<'_>,
        (card_place, card): &(Url, Value),
        callers: &ActsCallers,
    ) -> Result<Option<Self>, String> {
        let place = match address.at {
            Some(at) => Some(at.clone()),
            None => offered(binding, address.version, card)?,
        };
        let Some(place) = place else { return Ok(None) };
        if address.at.is_none() && place.origin() != card_place.origin() {
            return Err(format!(
                "the card of {card_place} names {place}, elsewhere: the headers are not sent there \
                 unasked; say `--at {place}` if it is the agent's"
            ));
        }
        let line = ActsLine::to(&[&place, card_place], address.patience);
        Ok(Some(Self {
            binding,
            place,
            card: card.clone(),
            card_place: card_place.clone(),
            version: address.version.to_owned(),
            line: line.map_err(|error| error.to_string())?,
            callers: callers.clone(),
            count: AtomicU64::new(0),
            seed: seed(),
        }))
    }

    pub(super) fn has_other(&self) -> bool {
        self.callers.other.is_some()
    }

    pub(super) fn has_credential(&self) -> bool {
        !self.callers.own.is_empty()
    }

    /// A name that no message had.
    fn fresh(&self) -> String {
        format!("acts-{}-{}", self.seed, self.count.fetch_add(1, Ordering::Relaxed))
    }

    fn headers(&self, caller: ActsCaller) -> HeaderMap {
        match caller {
            ActsCaller::Own => self.callers.own.clone(),
            ActsCaller::Other => self.callers.other.clone().unwrap_or_default(),
            ActsCaller::Nobody => HeaderMap::new(),
        }
    }

    /// Does an operation of the suite.
    pub(super) async fn operate(
        &self,
        operation: &str,
        params: &Value,
        caller: ActsCaller,
    ) -> Result<ActsReply, String> {
        let mut headers = self.headers(caller);
        if operation == "get_agent_card" && params.get("extended").is_none() {
            let url = self.card_place.clone();
            let request = WireRequest { method: Method::GET, url, headers, body: None };
            return self.line.send(request).await;
        }
        let fresh = self.fresh();
        let asked = binding::bind(operation, params, &fresh)?;
        headers.extend(wire::headers([("a2a-version", self.version.as_str())])?);
        let is_streamed = matches!(asked.rpc, "SendStreamingMessage" | "SubscribeToTask");
        if is_streamed {
            headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        }
        if self.binding == ActsBinding::JsonRpc {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            let body = json!({
                "jsonrpc": "2.0", "id": fresh, "method": asked.rpc, "params": asked.params,
            });
            let (url, body) = (self.place.clone(), Some(body.to_string()));
            let request = WireRequest { method: Method::POST, url, headers, body };
            return Ok(binding::unwrap_rpc(self.line.send(request).await?));
        }
        let mut url = self.below(&asked.path)?;
        if !asked.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&asked.query);
        }
        let body = asked.body.map(|body| body.to_string());
        if body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/a2a+json"));
        }
        let request = WireRequest { method: asked.method, url, headers, body };
        Ok(binding::unwrap_http(self.line.send(request).await?))
    }

    /// Sends what the suite wrote byte by byte.
    pub(super) async fn raw(&self, raw: &Value, caller: ActsCaller) -> Result<ActsReply, String> {
        let text = |name: &str| raw.get(name).and_then(Value::as_str);
        let method = text("method").unwrap_or("GET").parse();
        let method = method.map_err(|_| "the suite names no method of HTTP".to_owned())?;
        let path = text("path").unwrap_or("/");
        let url = if path == "/" {
            self.place.clone()
        } else if path.ends_with(CARD) {
            self.card_place.clone()
        } else {
            self.below(path)?
        };
        let lines = raw.get("headers").and_then(Value::as_object).into_iter().flatten();
        let lines = lines.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
        let mut headers = self.headers(caller);
        headers.extend(wire::headers(lines)?);
        let written = text("body_raw").or_else(|| text("rawBody")).map(str::to_owned);
        let body = written.or_else(|| raw.get("body").map(Value::to_string));
        let mut reply = self.line.send(WireRequest { method, url, headers, body }).await?;
        let refused = reply.body.as_ref().and_then(|body| body.get("error"));
        reply.error = refused.cloned();
        Ok(reply)
    }

    fn below(&self, path: &str) -> Result<Url, String> {
        let text = format!("{}{path}", self.place.as_str().trim_end_matches('/'));
        Url::parse(&text).map_err(|error| format!("`{text}` is no address: {error}"))
    }
}

/// The place that a card has for a binding in a version.
fn offered(binding: ActsBinding, version: &str, card: &Value) -> Result<Option<Url>, String> {
    let listed = card.get("supportedInterfaces").and_then(Value::as_array);
    let said = |interface: &Value, name: &str| {
        interface.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let own = listed.into_iter().flatten().find(|interface| {
        binding.is_named(&said(interface, "protocolBinding"))
            && said(interface, "protocolVersion").starts_with(version)
    });
    let Some(own) = own else { return Ok(None) };
    let url = said(own, "url");
    let read = Url::parse(&url);
    read.map(Some).map_err(|error| format!("`{url}` in the card is no address: {error}"))
}

/// What tells the messages of this run from those of others.
fn seed() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    format!("{:x}", now.unwrap_or_default().as_nanos())
}
