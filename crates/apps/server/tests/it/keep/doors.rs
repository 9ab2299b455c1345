//! One call through each of the doors.

use serde_json::{Value, json};

use crate::serve::support::{Answer, Serving, bearer};

/// Both doors, by name.
pub(crate) const DOORS: [Door; 2] = [Door::Rest, Door::Mcp];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    Rest,
    Mcp,
}

/// How a call ended, whichever door it went through.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Told {
    pub(crate) error: bool,
    pub(crate) text: String,
    /// `status` of the data beside the text.
    pub(crate) status: String,
    /// All of the answer.
    pub(crate) whole: Value,
}

pub(crate) struct Wanted<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: Value,
    pub(crate) key: Option<&'a str>,
    pub(crate) profile: Option<&'a str>,
}

/// A call of `act` of one of the upstreams.
pub(crate) fn act<'a>(tool: &'a str, how: &str, nonce: &str) -> Wanted<'a> {
    let arguments = json!({ "how": how, "nonce": nonce });
    Wanted { tool, arguments, key: None, profile: None }
}

impl<'a> Wanted<'a> {
    pub(crate) fn under(self, key: &'a str) -> Self {
        Self { key: Some(key), ..self }
    }
}

impl Door {
    pub(crate) fn call(self, serving: &Serving, wanted: &Wanted<'_>) -> Told {
        self.call_as(serving, &serving.token, wanted)
    }

    pub(crate) fn call_as(self, serving: &Serving, token: &str, wanted: &Wanted<'_>) -> Told {
        self.told(&serving.send(&self.head(serving, token, wanted), &self.body(wanted)))
    }

    pub(crate) fn told(self, answer: &Answer) -> Told {
        match self {
            Self::Rest => rest(answer),
            Self::Mcp => mcp(answer),
        }
    }

    pub(crate) fn head(self, serving: &Serving, token: &str, wanted: &Wanted<'_>) -> String {
        self.head_at((&serving.address, token), wanted)
    }

    /// The lines of a request to an address, with a token.
    pub(crate) fn head_at(self, (address, token): (&str, &str), wanted: &Wanted<'_>) -> String {
        let (path, mut lines) = match self {
            Self::Rest => {
                let key = wanted.key.map(|key| format!("Idempotency-Key: {key}"));
                ("/v1/calls".to_owned(), key.into_iter().collect::<Vec<_>>())
            }
            Self::Mcp => {
                let path = wanted.profile.map_or("/mcp".into(), |name| format!("/mcp/{name}"));
                let lines = [
                    "Accept: application/json, text/event-stream".to_owned(),
                    "MCP-Protocol-Version: 2026-07-28".to_owned(),
                    "Mcp-Method: tools/call".to_owned(),
                    format!("Mcp-Name: {}", wanted.tool),
                ];
                (path, lines.to_vec())
            }
        };
        lines.push(bearer(token));
        lines.push("Content-Type: application/json".to_owned());
        let lines = lines.join("\r\n");
        format!("POST {path} HTTP/1.1\r\nHost: {address}\r\n{lines}\r\n")
    }

    pub(crate) fn body(self, wanted: &Wanted<'_>) -> String {
        let Wanted { tool, arguments, key, profile } = wanted;
        let id = arguments["nonce"].as_str().unwrap_or("c");
        let body = match self {
            Self::Rest => {
                let calls = json!([{ "id": id, "name": tool, "arguments": arguments }]);
                match profile {
                    Some(profile) => json!({ "profile": profile, "calls": calls }),
                    None => json!({ "calls": calls }),
                }
            }
            Self::Mcp => {
                let mut meta = json!({
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
                    "io.modelcontextprotocol/clientCapabilities": {},
                });
                if let Some(key) = key {
                    meta["toolcrib/idempotencyKey"] = json!(key);
                }
                let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
                json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
            }
        };
        body.to_string()
    }
}

fn rest(answer: &Answer) -> Told {
    let whole = answer.json();
    let Some(response) = whole["responses"].get(0) else {
        let text = whole["detail"].as_str().unwrap_or_default().to_owned();
        return Told { error: true, text, status: answer.problem(), whole };
    };
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Told {
        error: response["error"] == true,
        text: word(&response["text"]),
        status: word(&response["structured"]["status"]),
        whole: response.clone(),
    }
}

/// The result of a call at the MCP door.
pub(crate) fn mcp(answer: &Answer) -> Told {
    let line = answer.body.lines().rev().find_map(|line| {
        let line = line.strip_prefix("data:").unwrap_or(line).trim();
        line.starts_with('{').then(|| line.to_owned())
    });
    let whole: Value = serde_json::from_str(&line.unwrap_or_default()).unwrap_or_default();
    let result = &whole["result"];
    let texts = result["content"].as_array().into_iter().flatten();
    let texts: Vec<_> = texts.filter_map(|part| part["text"].as_str()).collect();
    let status = result["_meta"]["toolcrib/call"]["status"].as_str().unwrap_or_default();
    Told {
        error: result["isError"] == true || !whole["error"].is_null(),
        text: texts.join("\n"),
        status: status.to_owned(),
        whole: if result.is_null() { whole.clone() } else { result.clone() },
    }
}
