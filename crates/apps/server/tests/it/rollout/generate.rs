//! Stands in for an engine that takes tokens and gives tokens: `/tokenize`, `/detokenize` and
//! `/inference/v1/generate` of vLLM, or `/generate` of `SGLang`.
//!
//! Its template is text, and its tokenizer reads all of it between two special tokens at once: what
//! stands before an answer and what the answer begins with become one token where they can.

use serde_json::{Value, json};
use toolcrib_testkit::{ModelAsked, ScriptedModel, ScriptedTurn};
use toolcrib_tokens::{decode, encode};

use super::engine::EngineKind;

/// Texts that are one token.
const SPECIAL: [(&str, u32); 2] = [("<|im_start|>", 210_000), ("<|im_end|>", 210_001)];
pub(super) const END: u32 = 210_001;

/// How answers begin, and what its template makes of that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Thoughts {
    /// With no thought.
    #[default]
    Absent,
    Kept,
    /// The template leaves out what was thought in the turns before.
    Dropped,
    /// The template begins the thought itself.
    Opened,
}

/// What the engine does that one of them may do.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Habits {
    /// It samples letter by letter: the tokenizer merges them when it reads them back.
    pub(super) in_letters: bool,
    pub(super) thoughts: Thoughts,
    /// It has no logprob of the second token.
    pub(super) has_no_evidence: bool,
    /// From the second turn on it reads another token at this place than it was sent.
    pub(super) misreads: Option<usize>,
    /// It ends an answer after so many tokens.
    pub(super) most: Option<usize>,
}

pub(super) fn read(text: &str) -> Vec<u32> {
    let next = SPECIAL.iter().filter_map(|(word, id)| Some((text.find(word)?, *word, *id))).min();
    let Some((at, word, id)) = next else { return encode(text) };
    let rest = read(&text[at + word.len()..]);
    [encode(&text[..at]), vec![id], rest].concat()
}

pub(super) fn write(tokens: &[u32], with_special: bool) -> String {
    let parts = tokens.split_inclusive(|token| SPECIAL.iter().any(|(_, id)| id == token));
    let parts = parts.map(|part| {
        let last = part.last().and_then(|last| SPECIAL.iter().find(|(_, id)| id == last));
        let plain = if last.is_some() { &part[..part.len() - 1] } else { part };
        let word = last.map(|(word, _)| *word).filter(|_| with_special).unwrap_or_default();
        format!("{}{word}", decode(plain).unwrap())
    });
    parts.collect()
}

/// The thread as text, up to where the answer begins.
fn template(body: &Value, habits: Habits) -> String {
    let mut text = String::new();
    if let Some(tools) = body["tools"].as_array() {
        let lines: Vec<_> = tools.iter().map(Value::to_string).collect();
        text.extend(["<|im_start|>system\n# Tools\n", &lines.join("\n"), "<|im_end|>\n"]);
    }
    for message in body["messages"].as_array().unwrap() {
        let said = message["content"].as_str().unwrap_or_default();
        let (role, said) = match message["role"].as_str().unwrap() {
            "tool" => ("user", format!("<tool_response>\n{said}\n</tool_response>")),
            "assistant" if habits.thoughts == Thoughts::Dropped => {
                let rest = said.split_once("</think>").map_or(said, |(_, rest)| rest);
                ("assistant", rest.trim_start().to_owned())
            }
            "assistant" if habits.thoughts == Thoughts::Opened => {
                ("assistant", format!("<think>\n{said}"))
            }
            role => (role, said.to_owned()),
        };
        text.extend(["<|im_start|>", role, "\n", &said, "<|im_end|>\n"]);
    }
    text.push_str("<|im_start|>assistant\n");
    if habits.thoughts == Thoughts::Opened {
        text.push_str("<think>\n");
    }
    text
}

/// What it says to this prompt: it calls so many times, and then it is done.
fn said(prompt: &[u32], calls: usize, habits: Habits) -> String {
    let turns = write(prompt, true).matches("<|im_start|>assistant\n").count();
    let thought = match habits.thoughts {
        // It becomes one token with the line break before it.
        Thoughts::Absent => "\n",
        Thoughts::Kept | Thoughts::Dropped => "<think>\nI count.\n</think>\n\n",
        Thoughts::Opened => "I count.\n</think>\n\n",
    };
    if turns > calls {
        return format!("{thought}All is counted.");
    }
    let arguments = json!({ "text": format!("number {}", turns - 1) });
    let call = json!({ "name": "text_count", "arguments": arguments });
    format!("{thought}<tool_call>\n{call}\n</tool_call>")
}

fn refuses(status: u16, body: &Value) -> ScriptedTurn {
    ScriptedTurn::Refuses(status, Vec::new(), body.to_string())
}

/// A whole answer, with the status of one.
fn answers(body: &Value) -> ScriptedTurn {
    refuses(200, body)
}

fn ids(value: &Value) -> Vec<u32> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|id| u32::try_from(id.as_u64().unwrap()).unwrap())
        .collect()
}

/// The tokens that it was sent to go on with, at its own path.
pub(super) fn prompt(kind: EngineKind, asked: &ModelAsked) -> Option<Vec<u32>> {
    let (path, key) = match kind {
        EngineKind::Vllm => ("/inference/v1/generate", "token_ids"),
        EngineKind::Sglang => ("/generate", "input_ids"),
    };
    (asked.path == path).then(|| ids(&asked.body[key]))
}

/// What it answers to a request, if nothing comes between.
pub(super) fn reply(
    kind: EngineKind,
    habits: Habits,
    calls: usize,
    asked: &ModelAsked,
) -> ScriptedTurn {
    let body = &asked.body;
    let known = body.get("model").is_none_or(|model| model == "m");
    if !known {
        let error = json!({ "message": "The model does not exist.", "code": 404 });
        return refuses(404, &json!({ "error": error }));
    }
    match asked.path.as_str() {
        "/tokenize" => {
            let tokens = read(&template(body, habits));
            answers(&json!({ "count": tokens.len(), "max_model_len": 8192, "tokens": tokens }))
        }
        "/detokenize" => {
            let keeps = kind == EngineKind::Vllm || body["skip_special_tokens"] == false;
            let text = write(&ids(&body["tokens"]), keeps);
            let key = if kind == EngineKind::Vllm { "prompt" } else { "text" };
            answers(&json!({ key: text }))
        }
        _ => match prompt(kind, asked) {
            Some(prompt) => generated(kind, habits, (calls, prompt), body),
            None => refuses(404, &json!({ "detail": "Not Found" })),
        },
    }
}

fn generated(
    kind: EngineKind,
    habits: Habits,
    (calls, sent): (usize, Vec<u32>),
    body: &Value,
) -> ScriptedTurn {
    let text = said(&sent, calls, habits);
    let mut sampled = if habits.in_letters {
        text.chars().flat_map(|letter| encode(letter.encode_utf8(&mut [0; 4]))).collect()
    } else {
        encode(&text)
    };
    sampled.push(END);
    let is_cut = habits.most.is_some_and(|most| most < sampled.len());
    sampled.truncate(habits.most.unwrap_or(usize::MAX));
    let mut read = sent;
    let is_first = write(&read, true).matches("<|im_start|>assistant\n").count() == 1;
    if let Some(place) = habits.misreads.filter(|_| !is_first) {
        read[place] += 1;
    }
    let logprob = |place| if habits.has_no_evidence && place == 1 { -9999.0 } else { -0.5 };
    let logprobs: Vec<f64> = (0..sampled.len()).map(logprob).collect();
    let drawn = DrawnAnswer { sampled, logprobs, is_cut };
    answers(&match kind {
        EngineKind::Vllm => of_vllm(&drawn, habits.misreads.is_some().then_some(read), body),
        EngineKind::Sglang => of_sglang(&drawn, &read, body),
    })
}

struct DrawnAnswer {
    sampled: Vec<u32>,
    logprobs: Vec<f64>,
    is_cut: bool,
}

fn of_vllm(drawn: &DrawnAnswer, read: Option<Vec<u32>>, body: &Value) -> Value {
    assert_eq!(body["sampling_params"]["logprobs"], 1, "{body}");
    let entries = drawn.sampled.iter().zip(&drawn.logprobs).map(|(token, logprob)| {
        json!({ "token": format!("token_id:{token}"), "logprob": logprob, "bytes": null,
                "top_logprobs": [] })
    });
    let choice = json!({
        "index": 0, "token_ids": drawn.sampled,
        "finish_reason": if drawn.is_cut { "length" } else { "stop" },
        "logprobs": { "content": entries.collect::<Vec<_>>() },
    });
    let mut reply = json!({ "request_id": "r", "choices": [choice], "prompt_logprobs": null,
                            "kv_transfer_params": null });
    if let Some(read) = read {
        reply["prompt_token_ids"] = json!(read);
    }
    reply
}

fn of_sglang(drawn: &DrawnAnswer, read: &[u32], body: &Value) -> Value {
    assert_eq!(body["return_logprob"], true, "{body}");
    let DrawnAnswer { sampled, logprobs, is_cut } = drawn;
    let skips = body["sampling_params"]["skip_special_tokens"] != false;
    let words = sampled.strip_suffix(&[END]).unwrap_or(sampled);
    let reason = if *is_cut {
        json!({ "type": "length", "length": sampled.len() })
    } else {
        json!({ "type": "stop", "matched": END })
    };
    let triples = sampled.iter().zip(logprobs).map(|(token, own)| json!([own, token, null]));
    json!({
        "text": write(words, !skips), "output_ids": sampled, "prompt_token_ids": read,
        "meta_info": {
            "id": "r", "finish_reason": reason, "prompt_tokens": read.len(),
            "weight_version": "step-7", "completion_tokens": sampled.len(), "cached_tokens": 0,
            "output_token_logprobs": triples.collect::<Vec<_>>(), "e2e_latency": 0.1,
        },
    })
}

/// One that calls so many times, and then says that all is done.
pub(super) fn engine(kind: EngineKind, habits: Habits, calls: usize) -> ScriptedModel {
    ScriptedModel::by_request(move |_, asked| reply(kind, habits, calls, asked)).unwrap()
}
