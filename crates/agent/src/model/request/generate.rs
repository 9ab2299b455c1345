//! The endpoints of an engine that takes tokens: one writes a thread as tokens by the template of its
//! model, one goes on with tokens, and one writes tokens as words.

use bytes::Bytes;
use serde::Serialize;
use url::Url;

/// The turns of such an engine are kept under this name: their words stand there as it wrote them,
/// with all that other models are not told again.
pub(crate) const GENERATED: &str = "generated";

/// An endpoint that takes tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GenerateWire {
    Vllm,
    Sglang,
}

/// How an engine draws an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SamplingWish {
    pub(crate) max_tokens: u64,
    /// `None`: the engine's own.
    pub(crate) temperature: Option<f64>,
    pub(crate) seed: Option<u32>,
}

/// What vLLM takes at `/inference/v1/generate`.
#[derive(Serialize)]
struct VllmBody<'a> {
    model: &'a str,
    token_ids: &'a [u32],
    sampling_params: VllmSampling,
    stream: bool,
}

#[derive(Serialize)]
struct VllmSampling {
    max_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u32>,
    logprobs: u32,
    skip_special_tokens: bool,
}

/// What `SGLang` takes at `/generate`.
#[derive(Serialize)]
struct SglangBody<'a> {
    input_ids: &'a [u32],
    sampling_params: SglangSampling,
    return_logprob: bool,
    /// Of the answer alone.
    logprob_start_len: i32,
    return_prompt_token_ids: bool,
    stream: bool,
}

#[derive(Serialize)]
struct SglangSampling {
    max_new_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampling_seed: Option<u32>,
    /// Else tags of calls that are tokens of their own are missing from the words.
    skip_special_tokens: bool,
}

/// Tokens that become words.
#[derive(Serialize)]
struct DetokenizeBody<'a> {
    model: &'a str,
    tokens: &'a [u32],
    /// Unknown to vLLM, which leaves none out.
    skip_special_tokens: bool,
}

impl GenerateWire {
    /// Where it writes a thread as tokens, by the template of the model.
    pub(crate) const TOKENIZE: &str = "/tokenize";
    /// Where it writes tokens as words.
    pub(crate) const DETOKENIZE: &str = "/detokenize";

    /// Where it goes on with tokens.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Vllm => "/inference/v1/generate",
            Self::Sglang => "/generate",
        }
    }

    /// These paths are of the root of a server, and not of its chat API.
    pub(crate) fn url(base: &Url, path: &str) -> Url {
        let root = base.path().trim_end_matches('/');
        let root = root.strip_suffix("/v1").unwrap_or(root).to_owned();
        let mut url = base.clone();
        url.set_path(&format!("{root}{path}"));
        url
    }

    pub(crate) fn body(self, model: &str, prompt: &[u32], wish: SamplingWish) -> Bytes {
        let SamplingWish { max_tokens, temperature, seed } = wish;
        let body = match self {
            Self::Vllm => serde_json::to_vec(&VllmBody {
                model,
                token_ids: prompt,
                sampling_params: VllmSampling {
                    max_tokens,
                    temperature,
                    seed,
                    logprobs: 1,
                    skip_special_tokens: false,
                },
                stream: false,
            }),
            Self::Sglang => serde_json::to_vec(&SglangBody {
                input_ids: prompt,
                sampling_params: SglangSampling {
                    max_new_tokens: max_tokens,
                    temperature,
                    sampling_seed: seed,
                    skip_special_tokens: false,
                },
                return_logprob: true,
                logprob_start_len: -1,
                return_prompt_token_ids: true,
                stream: false,
            }),
        };
        body.unwrap_or_default().into()
    }

    pub(crate) fn detokenize(model: &str, tokens: &[u32]) -> Bytes {
        let body = DetokenizeBody { model, tokens, skip_special_tokens: false };
        serde_json::to_vec(&body).unwrap_or_default().into()
    }
}
