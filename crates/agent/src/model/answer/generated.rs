//! What an engine writes that takes tokens. An answer without tokens is none.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::sampled::{NO_EVIDENCE, SampledTokens};
use crate::model::request::generate::GenerateWire;
use crate::usage::{Usage, UsageSource};

/// A turn in tokens.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GeneratedTurn {
    pub(crate) sampled: SampledTokens,
    /// Its words; `None`: the engine told none. The token that ended it is none of them.
    pub(crate) text: Option<String>,
    /// Its last token ended it.
    pub(crate) is_ended: bool,
    /// It may be no longer.
    pub(crate) was_cut: bool,
    pub(crate) usage: Usage,
}

/// Why what came is no turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotGenerated {
    /// The engine gave it up, for the reason that it tells.
    GivenUp(String),
    Unreadable(String),
}

#[derive(Deserialize)]
struct VllmAnswer {
    choices: Vec<VllmChoice>,
    prompt_token_ids: Option<Vec<u32>>,
    usage: Option<VllmUsage>,
}

#[derive(Deserialize)]
struct VllmChoice {
    token_ids: Option<Vec<u32>>,
    finish_reason: Option<String>,
    logprobs: Option<VllmLogprobs>,
}

#[derive(Deserialize)]
struct VllmLogprobs {
    content: Option<Vec<VllmLogprob>>,
}

#[derive(Deserialize)]
struct VllmLogprob {
    token: Option<String>,
    logprob: Option<f64>,
}

#[derive(Deserialize)]
struct VllmUsage {
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<CachedTokens>,
}

#[derive(Deserialize)]
struct CachedTokens {
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct SglangAnswer {
    text: Option<String>,
    output_ids: Option<Vec<u32>>,
    prompt_token_ids: Option<Vec<u32>>,
    meta_info: SglangMeta,
}

#[derive(Deserialize)]
struct SglangMeta {
    finish_reason: Option<SglangFinish>,
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    cached_tokens: Option<u64>,
    output_token_logprobs: Option<Vec<(Option<f64>, u32, IgnoredAny)>>,
    weight_version: Option<String>,
}

#[derive(Deserialize)]
struct SglangFinish {
    #[serde(rename = "type")]
    kind: String,
    message: Option<String>,
}

/// What an engine told of a turn, whichever it is.
struct ToldTurn {
    /// As the engine read it, if it says so.
    prompt: Option<Vec<u32>>,
    completion: Option<Vec<u32>>,
    /// For each token: which one, and its logprob.
    logprobs: Vec<(Option<u32>, Option<f64>)>,
    version: Option<String>,
    text: Option<String>,
    finish: Option<String>,
    why: Option<String>,
    read: Option<u64>,
    written: Option<u64>,
    cached: Option<u64>,
}

/// The turn in an answer. `sent`: the tokens that the engine was to go on with.
pub(crate) fn read(
    wire: GenerateWire,
    answer: &[u8],
    sent: &[u32],
) -> Result<GeneratedTurn, NotGenerated> {
    let unreadable = |error: serde_json::Error| NotGenerated::Unreadable(error.to_string());
    let told = match wire {
        GenerateWire::Vllm => of_vllm(serde_json::from_slice(answer).map_err(unreadable)?),
        GenerateWire::Sglang => {
            Some(of_sglang(serde_json::from_slice(answer).map_err(unreadable)?))
        }
    };
    let told = told.ok_or_else(|| NotGenerated::Unreadable("it has no choice".to_owned()))?;
    let finish = told.finish.as_deref().unwrap_or_default();
    if !matches!(finish, "stop" | "length" | "tool_calls") {
        let why = told.why.unwrap_or_else(|| format!("it ended with `{finish}`"));
        return Err(NotGenerated::GivenUp(why));
    }
    let (is_ended, was_cut) = (finish != "length", finish == "length");
    let completion = told.completion.filter(|tokens| !tokens.is_empty());
    let completion =
        completion.ok_or_else(|| NotGenerated::Unreadable("it has no tokens".to_owned()))?;
    let written = u64::try_from(completion.len()).unwrap_or(u64::MAX);
    let fault = evidence(&completion, &told.logprobs).err();
    let prompt = told.prompt.unwrap_or_else(|| sent.to_vec());
    let read = u64::try_from(prompt.len()).unwrap_or(u64::MAX);
    let other = told.read.filter(|told| *told != read);
    let misread =
        other.map(|other| format!("the engine read {other} tokens, and was sent {read} of them"));
    let logprobs = told.logprobs.iter().map(|(_, logprob)| logprob.unwrap_or(NO_EVIDENCE));
    Ok(GeneratedTurn {
        usage: Usage {
            input_tokens: told.read.unwrap_or(read),
            cached_tokens: told.cached.unwrap_or(0),
            output_tokens: told.written.unwrap_or(written),
            reasoning_tokens: 0,
            source: UsageSource::Reported,
        },
        sampled: SampledTokens {
            prompt,
            logprobs: Some(logprobs.collect()),
            version: told.version,
            fault: fault.or(misread),
            completion,
        },
        text: told.text,
        is_ended,
        was_cut,
    })
}

fn of_vllm(answer: VllmAnswer) -> Option<ToldTurn> {
    let VllmAnswer { choices, prompt_token_ids, usage } = answer;
    let VllmChoice { token_ids, finish_reason, logprobs } = choices.into_iter().next()?;
    let content = logprobs.and_then(|own| own.content).unwrap_or_default();
    let named = |token: Option<String>| token?.strip_prefix("token_id:")?.parse().ok();
    let logprobs = content.into_iter().map(|own| (named(own.token), own.logprob)).collect();
    let cached = usage.as_ref().and_then(|usage| usage.prompt_tokens_details.as_ref());
    Some(ToldTurn {
        prompt: prompt_token_ids,
        completion: token_ids,
        logprobs,
        version: None,
        text: None,
        finish: finish_reason,
        why: None,
        cached: cached.and_then(|cached| cached.cached_tokens),
        read: usage.as_ref().map(|usage| usage.prompt_tokens),
        written: usage.and_then(|usage| usage.completion_tokens),
    })
}

fn of_sglang(answer: SglangAnswer) -> ToldTurn {
    let SglangAnswer { text, output_ids, prompt_token_ids, meta_info: meta } = answer;
    let pairs = meta.output_token_logprobs.unwrap_or_default();
    let of_pairs = || pairs.iter().map(|(_, token, _)| *token).collect();
    let completion = output_ids.or_else(|| (!pairs.is_empty()).then(of_pairs));
    let logprobs = pairs.into_iter().map(|(logprob, token, _)| (Some(token), logprob)).collect();
    let (finish, why) = meta.finish_reason.map(|own| (own.kind, own.message)).unzip();
    ToldTurn {
        prompt: prompt_token_ids,
        completion,
        logprobs,
        version: meta.weight_version,
        text,
        finish,
        why: why.flatten(),
        read: meta.prompt_tokens,
        written: meta.completion_tokens,
        cached: meta.cached_tokens,
    }
}

/// Whether there is a logprob of each token, and of no other.
fn evidence(tokens: &[u32], logprobs: &[(Option<u32>, Option<f64>)]) -> Result<(), String> {
    if tokens.len() != logprobs.len() {
        let (given, wanted) = (logprobs.len(), tokens.len());
        return Err(format!("the engine gave {given} logprobs for {wanted} tokens"));
    }
    for (place, (token, (named, logprob))) in tokens.iter().zip(logprobs).enumerate() {
        if named.is_some_and(|named| named != *token) {
            return Err(format!("the logprob of token {place} of the answer is one of another"));
        }
        if logprob.is_none_or(|logprob| logprob <= NO_EVIDENCE) {
            return Err(format!("the engine has no logprob of token {place} of the answer"));
        }
    }
    Ok(())
}
