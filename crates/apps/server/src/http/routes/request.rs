//! A request that passed the door.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Uri};
use hyper::upgrade::OnUpgrade;
use percent_encoding::percent_decode_str;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;
use toolcrib_auth::{AccessLevel, ProtectedResource, needed, reach};
use toolcrib_core::{Caller, Trace, TraceState};
use toolcrib_engine::Crib;
use toolcrib_json::number::guarded;
use toolcrib_json::told;

use super::parameter::{ParameterType, QueryParameter};
use super::problem::{HttpProblem, ProblemKind};
use crate::http::page::door::Visit;
use crate::http::page::sessions::PageSession;
use crate::http::pipeline::authentication::lacking;
use crate::http::state::GatewayState;

pub(crate) struct GatewayRequest {
    pub(crate) gateway: Arc<GatewayState>,
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) caller: Arc<Caller>,
    pub(crate) visit: Visit,
    /// That of the page, if the caller came in by one.
    pub(crate) session: Option<PageSession>,
    /// What stands for the names of the path, in their order.
    pub(crate) segments: Vec<String>,
    pub(crate) query: QueryValues,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) trace: Trace,
    pub(crate) trace_state: Option<TraceState>,
    /// What the connection becomes once it is told so; only where the route is one of a WebSocket.
    pub(crate) upgrade: Option<OnUpgrade>,
}

impl GatewayRequest {
    /// The body as what the route takes. A key that comes twice is refused: whoever checked the
    /// request before us may have read the other one.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, HttpProblem> {
        let text = std::str::from_utf8(&self.body)
            .map_err(|_| HttpProblem::new(ProblemKind::BadRequest, "the body is no UTF-8 text"))?;
        self.parse(text)
    }

    /// A text as what is taken in the place of a body.
    pub(crate) fn parse<T: DeserializeOwned>(&self, text: &str) -> Result<T, HttpProblem> {
        let bounds = self.gateway.bounds.json();
        let value = bounds.read_strict(text).map_err(|error| {
            HttpProblem::new(ProblemKind::BadRequest, format!("no usable JSON: {error}"))
        })?;
        of_object(value).map_err(|error| HttpProblem::new(ProblemKind::InvalidBody, told(&error)))
    }

    pub(crate) fn segment(&self) -> &str {
        self.segments.first().map_or("", String::as_str)
    }

    /// Whether the scopes of the caller open a profile, or the whole file. Asked before anything
    /// is looked up in it: who may not use a profile is not told whether it is there.
    pub(crate) fn permit(&self, profile: Option<&str>) -> Result<(), HttpProblem> {
        if reach(&self.caller, profile) > AccessLevel::Nothing {
            return Ok(());
        }
        let resource = match profile {
            Some(profile) => ProtectedResource::Profile(profile),
            None if self.uri.path() == "/mcp" => ProtectedResource::Mcp,
            None => ProtectedResource::Whole,
        };
        Err(lacking(&self.gateway.guard.access(), resource, &needed(profile)))
    }

    /// The crib as a profile has it, or as the file has it.
    pub(crate) fn crib(&self, profile: Option<&str>) -> Result<Crib, HttpProblem> {
        self.permit(profile)?;
        let live = &self.gateway.live;
        match profile {
            None => Ok(live.crib().clone()),
            Some(name) => live.view(name).ok_or_else(|| {
                let detail = format!("the configuration does not name `{name}`");
                HttpProblem::new(ProblemKind::UnknownProfile, detail)
            }),
        }
    }
}

/// What the fields of an object say. A list is none, though `serde` would take its items for the
/// fields in their order.
pub(crate) fn of_object<T: DeserializeOwned>(value: Value) -> Result<T, serde_json::Error> {
    if !value.is_object() {
        return Err(serde_json::Error::custom("it must be an object"));
    }
    serde_json::from_value(guarded(value))
}

/// The query, with the names that the route knows and no others.
#[derive(Debug, Default)]
pub(crate) struct QueryValues(BTreeMap<String, String>);

impl QueryValues {
    pub(crate) fn read(text: &str, known: &[QueryParameter]) -> Result<Self, HttpProblem> {
        let mut query = BTreeMap::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = decoded(pair)?;
            let parameter = known.iter().find(|parameter| parameter.name == name);
            let Some(parameter) = parameter else {
                let names: Vec<_> = known.iter().map(|parameter| parameter.name).collect();
                let detail = format!("`{name}` is none of [{}]", names.join(", "));
                return Err(HttpProblem::new(ProblemKind::InvalidQuery, detail));
            };
            check(parameter, &value)?;
            if query.insert(name.clone(), value).is_some() {
                let detail = format!("`{name}` came twice: send it once");
                return Err(HttpProblem::new(ProblemKind::InvalidQuery, detail));
            }
        }
        Ok(Self(query))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The words of a list; none if it is not there.
    pub(crate) fn words(&self, name: &str) -> impl Iterator<Item = &str> {
        self.get(name).into_iter().flat_map(|text| text.split(','))
    }

    /// A whole number, else `default`; its range was checked.
    pub(crate) fn number(&self, name: &str, default: usize) -> usize {
        self.get(name).and_then(|text| text.parse().ok()).unwrap_or(default)
    }
}

/// Name and value of a pair. What cannot be read is told and not made into something else, which
/// would be looked for and not found.
fn decoded(pair: &str) -> Result<(String, String), HttpProblem> {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    let unreadable = |what: &str| {
        let detail = format!("{what} is no UTF-8 text in percent-encoding: write `%` as `%25`");
        HttpProblem::new(ProblemKind::InvalidQuery, detail)
    };
    let name = text(name).ok_or_else(|| unreadable("a name of the query"))?;
    let value = text(value).ok_or_else(|| unreadable(&format!("the value of `{name}`")))?;
    Ok((name, value))
}

/// As forms are written: `+` is a space, and a byte may be `%` and two hexadecimal digits.
fn text(encoded: &str) -> Option<String> {
    let spaced = encoded.replace('+', " ");
    let is_hex = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
    let mut broken = spaced.split('%').skip(1).map(str::as_bytes);
    if broken.any(|after| !is_hex(after.first()) || !is_hex(after.get(1))) {
        return None;
    }
    percent_decode_str(&spaced).decode_utf8().ok().map(Into::into)
}

fn check(parameter: &QueryParameter, value: &str) -> Result<(), HttpProblem> {
    let name = parameter.name;
    let detail = match parameter.takes {
        ParameterType::Number(least, most) => {
            if value.parse().is_ok_and(|number| (least..=most).contains(&number)) {
                return Ok(());
            }
            format!("`{name}` must be a whole number from {least} to {most}")
        }
        ParameterType::OneOf(words) if !words.contains(&value) => {
            format!("`{name}` is none of [{}]", words.join(", "))
        }
        ParameterType::SomeOf(words) => {
            let Some(other) = value.split(',').find(|word| !words.contains(word)) else {
                return Ok(());
            };
            format!("`{other}` in `{name}` is none of [{}]", words.join(", "))
        }
        ParameterType::Text | ParameterType::Time | ParameterType::OneOf(_) => return Ok(()),
    };
    Err(HttpProblem::new(ProblemKind::InvalidQuery, detail))
}
