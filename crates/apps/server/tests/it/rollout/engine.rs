//! Stands in for an engine: its template and its tokens over the wire of vLLM or of `SGLang`.
//!
//! The vocabulary is a real one, so that text which was sampled in other pieces than those of the
//! tokenizer is read back as other tokens.

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};
use toolcrib_tokens::encode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EngineKind {
    Vllm,
    Sglang,
}

/// What it samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sampling {
    /// As the tokenizer would cut the text.
    Whole,
    /// Letter by letter: the tokenizer merges them when it reads them back.
    InLetters,
    /// As the tokenizer would, but it has no logprob of one token.
    WithoutEvidence,
}

/// Begins what somebody says; no text has these tokens.
const BEGIN: u32 = 210_000;
const END: u32 = 210_100;

fn role(role: &str) -> u32 {
    let roles = ["system", "user", "assistant", "tool"];
    let (_, token) = roles.iter().zip(BEGIN..).find(|(own, _)| **own == role).unwrap();
    token
}

/// A message as its template has it.
fn text(message: &Value) -> String {
    let said = message["content"].as_str().unwrap_or_default();
    let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
    let calls = calls.iter().map(|call| {
        let (name, arguments) = (&call["function"]["name"], &call["function"]["arguments"]);
        format!("<tool_call>{} {}</tool_call>", name.as_str().unwrap(), arguments.as_str().unwrap())
    });
    std::iter::once(said.to_owned()).chain(calls).collect()
}

/// The tokens of a prompt, with those that begin the answer.
pub(super) fn prompt(body: &Value) -> Vec<u32> {
    let mut tokens = Vec::new();
    for message in body["messages"].as_array().unwrap() {
        tokens.push(role(message["role"].as_str().unwrap()));
        tokens.extend(encode(&text(message)));
        tokens.push(END);
    }
    tokens.push(role("assistant"));
    tokens
}

fn sampled(message: &Value, sampling: Sampling) -> Vec<u32> {
    let text = text(message);
    let mut tokens = match sampling {
        Sampling::Whole | Sampling::WithoutEvidence => encode(&text),
        Sampling::InLetters => {
            text.chars().flat_map(|letter| encode(letter.encode_utf8(&mut [0; 4]))).collect()
        }
    };
    tokens.push(END);
    tokens
}

/// One that calls once for each of these, and then says what it is told to say.
pub(super) fn engine(kind: EngineKind, sampling: Sampling, calls: usize) -> ScriptedModel {
    ScriptedModel::by(move |number, body| {
        let messages = body["messages"].as_array().unwrap();
        let done = messages.iter().filter(|message| message["role"] == "tool").count();
        let message = if done < calls {
            let arguments = json!({ "text": format!("number {done}") }).to_string();
            let function = json!({ "name": "text_count", "arguments": arguments });
            let call =
                json!({ "id": format!("call_{number}"), "type": "function", "function": function });
            json!({ "role": "assistant", "content": null, "tool_calls": [call] })
        } else {
            json!({ "role": "assistant", "content": "All is counted." })
        };
        answer(kind, sampling, body, &message)
    })
    .unwrap()
}

fn answer(kind: EngineKind, sampling: Sampling, body: &Value, message: &Value) -> ScriptedTurn {
    let (prompt, sampled) = (prompt(body), sampled(message, sampling));
    let logprob = |place: usize| match sampling {
        Sampling::WithoutEvidence if place == 1 => -9999.0,
        Sampling::Whole | Sampling::InLetters | Sampling::WithoutEvidence => -0.5,
    };
    let entries: Vec<_> = sampled
        .iter()
        .enumerate()
        .map(|(place, token)| {
            let text = format!("token_id:{token}");
            json!({ "token": text, "logprob": logprob(place), "bytes": null, "top_logprobs": [] })
        })
        .collect();
    let is_call = !message["tool_calls"].is_null();
    let reason = if is_call { "tool_calls" } else { "stop" };
    let usage = json!({ "prompt_tokens": prompt.len(), "completion_tokens": sampled.len() });
    let wants = body["return_token_ids"] == true && body["logprobs"] == true;
    let is_streamed = body["stream"] == true;
    match kind {
        EngineKind::Sglang if wants && is_streamed => {
            let why = "return_token_ids is not supported with streaming on /v1/chat/completions";
            ScriptedTurn::Refuses(400, Vec::new(), json!({ "message": why }).to_string())
        }
        EngineKind::Sglang => {
            let mut choice = json!({ "index": 0, "message": message, "finish_reason": reason });
            if wants {
                choice["prompt_token_ids"] = json!(prompt);
                choice["token_ids"] = json!(sampled);
                choice["logprobs"] = json!({ "content": entries });
                choice["meta_info"] = json!({ "id": "x", "weight_version": "step-7" });
            }
            let reply = json!({ "id": "x", "object": "chat.completion", "created": 1, "model": "m",
                                "choices": [choice], "usage": usage });
            // A whole answer, with the status of one.
            ScriptedTurn::Refuses(200, Vec::new(), reply.to_string())
        }
        EngineKind::Vllm => ScriptedTurn::Writes(events(
            (message, reason),
            wants.then_some((prompt, sampled, entries)),
            &usage,
        )),
    }
}

/// A stream of vLLM: the prompt's tokens with the first piece, then those of each piece.
fn events(
    (message, reason): (&Value, &str),
    tokens: Option<(Vec<u32>, Vec<u32>, Vec<Value>)>,
    usage: &Value,
) -> String {
    let chunk = |choices: Value| {
        json!({ "id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m",
                "choices": choices })
    };
    let mut first = chunk(json!([{ "index": 0, "delta": { "role": "assistant", "content": "" },
                                   "logprobs": null, "finish_reason": null }]));
    let mut pieces = Vec::new();
    let mut said = match message["content"].as_str() {
        Some(text) => json!({ "content": text }),
        None => json!({ "tool_calls": [{ "index": 0, "id": message["tool_calls"][0]["id"],
            "type": "function", "function": message["tool_calls"][0]["function"] }] }),
    };
    match tokens {
        None => pieces.push(chunk(json!([{ "index": 0, "delta": said, "finish_reason": null }]))),
        Some((prompt, sampled, entries)) => {
            first["prompt_token_ids"] = json!(prompt);
            first["choices"][0]["token_ids"] = json!(null);
            for (token, entry) in sampled.iter().zip(entries) {
                let delta = std::mem::replace(&mut said, json!({}));
                pieces.push(chunk(json!([{ "index": 0, "delta": delta, "token_ids": [token],
                    "logprobs": { "content": [entry] }, "finish_reason": null }])));
            }
        }
    }
    let last = chunk(json!([{ "index": 0, "delta": {}, "finish_reason": reason }]));
    let mut end = chunk(json!([]));
    end["usage"] = usage.clone();
    let all = [vec![first], pieces, vec![last, end]].concat();
    let mut told: Vec<_> = all.iter().map(|event| format!("data: {event}\n\n")).collect();
    told.push("data: [DONE]\n\n".to_owned());
    told.concat()
}
