//! `/v1/responses` by WebSocket, through a client that others wrote, against the document of Open
//! Responses. The tests with `websocket` in their names are those of its suite.

use std::net::TcpStream;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::HandshakeError;
use tokio_tungstenite::tungstenite::http::header::AUTHORIZATION;
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket, client};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agents::{ALL, events, serving};
use super::open_responses::OpenResponses;
use super::support::Serving;

/// A client that has connected.
pub(super) struct Socket(pub(super) WebSocket<TcpStream>);

impl Socket {
    pub(super) fn connect(serving: &Serving) -> Self {
        Self::connect_as(serving, &serving.token)
            .unwrap_or_else(|refused| unreachable!("{refused:?}"))
    }

    /// `Err`: the status of the answer, and the answer.
    pub(super) fn connect_as(serving: &Serving, token: &str) -> Result<Self, (u16, String)> {
        let url = format!("ws://{}/v1/responses", serving.address);
        let mut request = url.into_client_request().unwrap();
        let bearer = format!("Bearer {token}").parse().unwrap();
        request.headers_mut().insert(AUTHORIZATION, bearer);
        match client(request, serving.connect()) {
            Ok((socket, _)) => Ok(Self(socket)),
            Err(HandshakeError::Failure(Error::Http(answer))) => {
                let body = answer.body().clone().unwrap_or_default();
                Err((answer.status().as_u16(), String::from_utf8_lossy(&body).into_owned()))
            }
            Err(other) => unreachable!("{other}"),
        }
    }

    pub(super) fn send(&mut self, event: &Value) {
        self.0.send(Message::text(event.to_string())).unwrap();
    }

    pub(super) fn create(&mut self, mut body: Value) {
        body["type"] = "response.create".into();
        body["model"] = "assistant".into();
        self.send(&body);
    }

    /// The next event; `Err`: the code and the words with which the server closed it.
    pub(super) fn next(&mut self) -> Result<Value, (u16, String)> {
        loop {
            match self.0.read().unwrap() {
                Message::Text(text) => return Ok(serde_json::from_str(&text).unwrap()),
                Message::Close(frame) => {
                    let frame = frame.unwrap();
                    return Err((frame.code.into(), frame.reason.to_string()));
                }
                Message::Ping(_) | Message::Pong(_) => {}
                other @ (Message::Binary(_) | Message::Frame(_)) => unreachable!("{other}"),
            }
        }
    }

    /// Events until the answer, or the error, is whole.
    pub(super) fn rest(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let event = self.next().unwrap_or_else(|closed| unreachable!("{closed:?}"));
            let kind = event["type"].as_str().unwrap().to_owned();
            events.push(event);
            let last = ["error", "response.completed", "response.incomplete", "response.failed"];
            if last.contains(&kind.as_str()) {
                return events;
            }
        }
    }

    pub(super) fn turn(&mut self, body: Value) -> Vec<Value> {
        self.create(body);
        self.rest()
    }

    /// The answer of a turn; or what went wrong, in its `error`.
    pub(super) fn answer(&mut self, body: Value) -> Value {
        let last = self.turn(body).pop().unwrap();
        if last["type"] == "error" { last } else { last["response"].clone() }
    }
}

/// What the code of an error is.
pub(super) fn code(answer: &Value) -> &str {
    answer["error"]["code"].as_str().unwrap_or_else(|| unreachable!("{answer}"))
}

fn text(response: &Value) -> &str {
    response["output"][0]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| unreachable!("{response}"))
}

/// A model that knows the code words that it was told, and repeats what it was told last.
pub(super) fn knowing() -> ScriptedModel {
    ScriptedModel::by(|_, body| {
        let messages = body["messages"].to_string();
        let last = body["messages"].as_array().and_then(|all| all.last()).cloned();
        let said = last.unwrap_or_default()["content"].to_string();
        let known = ["cobalt", "copper", "ember", "slate"];
        let known = known.into_iter().find(|word| messages.contains(word));
        match known {
            Some(word) if said.contains("What is") => ScriptedTurn::says(word),
            _ => ScriptedTurn::Says(format!("You said {}.", said.trim_matches('"'))),
        }
    })
    .unwrap()
}

/// What is wrong with events, by the document.
fn faults(document: &OpenResponses, events: &[Value]) -> Vec<String> {
    let of = |event: &Value| {
        let kind = event["type"].as_str().unwrap();
        if kind == "error" {
            return document.faults("WebSocketErrorEvent", event);
        }
        let name = document.of_event(kind).unwrap_or_else(|| unreachable!("{kind}"));
        document.faults(name, event).or_else(|| {
            let response = event.get("response")?;
            document.faults("ResponseResource", response)
        })
    };
    events.iter().filter_map(of).collect()
}

/// A server, its model, a socket and the document, if that is there.
fn begun() -> (Serving, ScriptedModel, Socket, Option<OpenResponses>) {
    let model = knowing();
    let serving = serving(&model, ALL);
    let socket = Socket::connect(&serving);
    (serving, model, socket, OpenResponses::read())
}

fn judge(document: Option<&OpenResponses>, events: &[Value]) {
    if let Some(document) = document {
        assert_eq!(faults(document, events), Vec::<String>::new());
    }
}

#[test]
fn websocket_response() {
    let (serving, _model, mut socket, document) = begun();
    let input = json!([{ "type": "message", "role": "user", "content": "Count from 1 to 3." }]);
    let told = socket.turn(json!({ "input": input }));
    judge(document.as_ref(), &told);
    // They are the events of a stream, save for the names that are new each time.
    let body = json!({ "model": "assistant", "input": input, "stream": true });
    let streamed = events(&serving.ask("POST", "/v1/responses", &body.to_string()));
    let shape = |events: &[Value]| -> Vec<(String, u64)> {
        let of = |event: &Value| {
            let kind = event["type"].as_str().unwrap().to_owned();
            (kind, event["sequence_number"].as_u64().unwrap())
        };
        events.iter().map(of).collect()
    };
    assert_eq!(shape(&told), shape(&streamed));
    let last = &told.last().unwrap()["response"];
    assert_eq!(
        (&last["status"], text(last)),
        (&json!("completed"), "You said Count from 1 to 3..")
    );
    // It is stored like any other.
    let path = format!("/v1/responses/{}", last["id"].as_str().unwrap());
    assert_eq!(serving.ask("GET", &path, "").json(), *last);
}

#[test]
fn websocket_sequential_responses() {
    let (_serving, _model, mut socket, document) = begun();
    for word in ["first", "second"] {
        let told = socket.turn(json!({ "store": false, "input": word }));
        judge(document.as_ref(), &told);
        let last = &told.last().unwrap()["response"];
        assert_eq!((&last["status"], &last["store"]), (&json!("completed"), &json!(false)));
        assert_eq!(text(last), format!("You said {word}."));
        let numbers: Vec<_> = told.iter().map(|event| event["sequence_number"].as_u64()).collect();
        assert_eq!(numbers, (0..told.len() as u64).map(Some).collect::<Vec<_>>());
    }
}

#[test]
fn websocket_continuation() {
    let (serving, _model, mut socket, document) = begun();
    let input = "Remember the code word: cobalt. Reply with OK.";
    let first = socket.answer(json!({ "store": false, "input": input }));
    let asked = json!({
        "store": false, "previous_response_id": first["id"],
        "input": "What is the code word? Reply with only the code word.",
    });
    let told = socket.turn(asked.clone());
    judge(document.as_ref(), &told);
    let second = &told.last().unwrap()["response"];
    assert_eq!((text(second), &second["previous_response_id"]), ("cobalt", &first["id"]));
    // Nobody else knows of it, and here only the newest is known.
    let path = format!("/v1/responses/{}", first["id"].as_str().unwrap());
    assert_eq!(serving.ask("GET", &path, "").status, 404);
    assert_eq!(code(&socket.answer(asked)), "previous_response_not_found");
    // One that is stored may go on from one that is not.
    let id = &second["id"];
    let stored = json!({ "previous_response_id": id, "input": "What is it again?" });
    let third = socket.answer(stored);
    assert_eq!((text(&third), &third["store"]), ("cobalt", &json!(true)));
    let more = json!({
        "model": "assistant", "previous_response_id": third["id"], "input": "What is it at last?",
    });
    let over_http = serving.ask("POST", "/v1/responses", &more.to_string()).json();
    assert_eq!(text(&over_http), "cobalt");
}

#[test]
fn websocket_reconnect_store_false_recovery() {
    let (serving, _model, mut socket, document) = begun();
    let input = "Remember the code word: copper. Reply with OK.";
    let first = socket.answer(json!({ "store": false, "input": input }));
    drop(socket);
    let mut socket = Socket::connect(&serving);
    let told = socket.turn(json!({
        "store": false, "previous_response_id": first["id"], "input": "Go on.",
    }));
    judge(document.as_ref(), &told);
    assert_eq!(code(&told[0]), "previous_response_not_found");
    let input = json!([{ "type": "message", "role": "user", "content": "recovered" }]);
    let told = socket.turn(json!({ "store": false, "input": input }));
    judge(document.as_ref(), &told);
    assert_eq!(text(&told.last().unwrap()["response"]), "You said recovered.");
}

#[test]
fn websocket_previous_response_not_found() {
    let (_serving, model, mut socket, document) = begun();
    let told = socket.turn(json!({
        "store": false, "previous_response_id": "resp_openresponses_missing_1",
        "input": "This should fail because the previous response is missing.",
    }));
    judge(document.as_ref(), &told);
    let error = json!({
        "type": "error", "status": 400,
        "error": {
            "type": "invalid_request_error", "code": "previous_response_not_found",
            "message": "no run `openresponses_missing_1` is there: it was not stored, or is forgotten",
            "param": "previous_response_id",
        },
    });
    assert_eq!(told, [error]);
    assert_eq!(model.asked().len(), 0);
}

#[test]
fn websocket_failed_continuation_evicts_cache() {
    let (_serving, _model, mut socket, document) = begun();
    let input = "Remember the code word: ember. Reply with OK.";
    let first = socket.answer(json!({ "store": false, "input": input }));
    let result = json!([{
        "type": "function_call_output", "call_id": "call_openresponses_missing",
        "output": "No matching tool call exists in the previous response.",
    }]);
    let failed = json!({ "store": false, "previous_response_id": first["id"], "input": result });
    let told = socket.turn(failed);
    judge(document.as_ref(), &told);
    assert_eq!((&told[0]["status"], &told[0]["error"]["param"]), (&json!(400), &json!("input[0]")));
    let again = json!({
        "store": false, "previous_response_id": first["id"], "input": "Reply with exactly: stale",
    });
    let told = socket.turn(again);
    judge(document.as_ref(), &told);
    assert_eq!(code(&told[0]), "previous_response_not_found");
}

#[test]
fn websocket_compact_new_chain() {
    let (serving, _model, mut socket, document) = begun();
    let said = |role: &str, kind: &str, text: &str| json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] });
    let thread = [
        said("user", "input_text", "Remember the compaction code word: slate."),
        said("assistant", "output_text", "OK."),
        said("user", "input_text", "Compress this conversation for later continuation."),
    ];
    let body = json!({ "model": "assistant", "input": thread });
    let short = serving.ask("POST", "/v1/responses/compact", &body.to_string()).json();
    let mut input = short["output"].as_array().unwrap().clone();
    let last = json!({ "type": "message", "role": "user", "content": "Reply with: compacted" });
    input.push(last);
    let told = socket.turn(json!({ "store": false, "input": input, "tools": [] }));
    judge(document.as_ref(), &told);
    assert_eq!(told.last().unwrap()["response"]["status"], "completed");
}

#[test]
fn a_socket_runs_tools_hands_over_those_of_its_client_and_names_its_streams() {
    let (model, more) = (super::agents::talking(), ALL);
    let serving = serving(&model, more);
    let (mut socket, document) = (Socket::connect(&serving), OpenResponses::read());
    let counted = socket.turn(json!({ "input": "Count `a b`.", "stream_id": "one" }));
    assert!(counted.iter().all(|event| event["stream_id"] == "one"), "{counted:?}");
    assert_eq!(counted.last().unwrap()["response"]["output"][0]["type"], "mcp_call");
    let tool = json!({ "type": "function", "name": "get_weather", "parameters": {} });
    // `stream` says how an answer is sent, which is settled here.
    let asked = json!({ "input": "The weather?", "tools": [tool], "store": false, "stream": true });
    let told = socket.turn(asked);
    judge(document.as_ref(), &told);
    let first = &told.last().unwrap()["response"];
    let call = &first["output"][0];
    assert_eq!((&call["type"], &call["name"]), (&json!("function_call"), &json!("get_weather")));
    let result = json!([
        { "type": "function_call_output", "call_id": call["call_id"], "output": "11 degrees" },
    ]);
    let id = first["id"].clone();
    let next =
        json!({ "previous_response_id": id, "input": result, "tools": [tool], "store": false });
    let told = socket.turn(next);
    judge(document.as_ref(), &told);
    let said = text(&told.last().unwrap()["response"]).to_owned();
    assert!(said.contains("11 degrees"), "{said}");
}
