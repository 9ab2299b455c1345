//! The models of the file: what finds tools by their meaning, and what agents ask.

use schemars::JsonSchema;
use serde::Deserialize;

use super::scalar::{PauseText, SecretText};

/// A model that tells which texts mean the same: one in a folder, or one at an address. Write one of
/// `local` and `endpoint`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Embedder")]
pub(crate) struct EmbedderTable {
    /// The folder of a sentence-transformer (BERT, `model.safetensors`, `tokenizer.json`). Nothing
    /// is fetched.
    pub(crate) local: Option<String>,
    /// What stands before `/embeddings` at a server that speaks as `OpenAI` does:
    /// `https://api.openai.com/v1`. Names and descriptions of tools and questions go there.
    pub(crate) endpoint: Option<String>,
    /// The model of the endpoint, as it names it.
    pub(crate) model: Option<String>,
    /// The key of the endpoint, sent as a bearer token: `${env:NAME}`.
    pub(crate) key: Option<SecretText>,
    /// Numbers of a vector, for models that can give fewer than they have.
    #[schemars(range(min = 1, max = 8192))]
    pub(crate) dimensions: Option<u32>,
    /// What the model wants before a question: `query: `.
    pub(crate) query_prefix: Option<String>,
    /// What the model wants before a tool: `passage: `.
    pub(crate) tool_prefix: Option<String>,
    /// How long a question is waited for before its words alone count. `1s` if not set.
    pub(crate) within: Option<PauseText>,
    /// The file that keeps the vectors of tools; one in the state folder if not set.
    pub(crate) vectors: Option<String>,
}

/// One model, or several with ids.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Models")]
pub(crate) enum ModelsValue {
    One(Box<ModelTable>),
    Several(Vec<ModelTable>),
}

/// A model that agents ask.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Model")]
pub(crate) struct ModelTable {
    /// What agents call it. `default` if not set.
    pub(crate) id: Option<String>,
    /// How it is spoken to. `openai-chat` if not set, which most servers speak.
    pub(crate) kind: Option<ModelKindWord>,
    /// What stands before the paths of the API: `http://127.0.0.1:11434/v1`. That of the provider if
    /// `kind` names one.
    pub(crate) url: Option<String>,
    /// The model, as the API names it.
    pub(crate) name: Option<String>,
    /// How it calls tools. `api` if not set: by the tool calls of its API.
    pub(crate) calls: Option<ModelCallsWord>,
    /// The key of the API: `${env:NAME}`.
    pub(crate) key: Option<SecretText>,
    /// Tokens of one answer at the most. 4096 if not set.
    #[schemars(range(min = 16, max = 1_000_000))]
    pub(crate) max_tokens: Option<u32>,
    /// Tokens that the model reads and writes at a time. What a thread has beyond is summed up by the
    /// model itself. If not set, that is done when the model says that a thread is too long.
    #[schemars(range(min = 2_048, max = 100_000_000))]
    pub(crate) context: Option<u32>,
    /// How much chance is in its answers; the API's own if not set.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub(crate) temperature: Option<f64>,
    /// How long the beginning of an answer is waited for. `2m` if not set.
    pub(crate) first_byte: Option<PauseText>,
    /// How long the next piece of an answer is waited for. `1m` if not set.
    pub(crate) idle: Option<PauseText>,
    /// How long a whole answer may take. `10m` if not set.
    pub(crate) timeout: Option<PauseText>,
    /// The server that tells the tokens of a turn, for `toolcrib rollout`: what was read and sampled
    /// is recorded, and each prompt is held against what was sampled before.
    pub(crate) engine: Option<EngineWord>,
    /// How often a request is made again that came to nothing. 2 if not set.
    #[schemars(range(min = 0, max = 10))]
    pub(crate) retries: Option<u32>,
    /// What a million tokens cost, for `cost` in a budget; what its provider lists if not set.
    pub(crate) price: Option<PriceTable>,
}

/// What a million tokens cost, in the currency in which budgets are written. Prices of providers are
/// known in US dollars.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Price")]
pub(crate) struct PriceTable {
    /// Tokens that are read.
    #[schemars(range(min = 0.0))]
    pub(crate) input: f64,
    /// Tokens that are written.
    #[schemars(range(min = 0.0))]
    pub(crate) output: f64,
}

/// How a model is spoken to: `openai-chat` is `/chat/completions`, as most servers speak it, and
/// `ollama`, `llama-cpp`, `vllm`, `lm-studio` and `litellm` are the same at their usual address on
/// this machine. `openai-responses` is `/responses`; that one, `anthropic` and `gemini` are at the
/// address of their provider if no `url` is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "ModelKind")]
pub(crate) enum ModelKindWord {
    OpenaiChat,
    OpenaiResponses,
    Anthropic,
    Gemini,
    Ollama,
    LlamaCpp,
    Vllm,
    LmStudio,
    Litellm,
}

/// A server for training: `vllm` is asked with `return_token_ids`, `sglang` with that and without a
/// stream. `vllm-generate` (`/inference/v1/generate`) and `sglang-generate` (`/generate`) are sent
/// tokens and answer with tokens: what was sampled is sent again as it was, and the thread is
/// written as tokens by `/tokenize` of the same server. Calls stand in the words then, as Hermes and
/// Qwen write them; with `calls` set, the tools are told in words too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Engine")]
pub(crate) enum EngineWord {
    Vllm,
    Sglang,
    VllmGenerate,
    SglangGenerate,
}

/// How a model calls tools: by its API (`api`), or in its text. `hermes` is
/// `<tool_call>{"name": .., "arguments": ..}</tool_call>`, as Hermes and Qwen write it; `json` is
/// such an object, or a list of them, as the whole answer; `llama` is `{"name": .., "parameters":
/// ..}`, `<function=NAME>{..}</function>` or `[f(a=1)]`; `cline` is
/// `<NAME><PARAMETER>value</PARAMETER></NAME>`; `react` is `Action:` and `Action Input:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "ModelCalls")]
pub(crate) enum ModelCallsWord {
    Api,
    Hermes,
    Json,
    Llama,
    Cline,
    React,
}

/// A model with instructions, over the tools of a profile.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Agent")]
pub(crate) struct AgentTable {
    /// What it is for, in a sentence, for those who choose an agent.
    pub(crate) description: Option<String>,
    /// What the model is told before anything is said.
    pub(crate) instructions: Option<String>,
    /// The profile whose tools it has; those of the whole file if not set.
    pub(crate) profile: Option<String>,
    /// The id of its model. `default` if not set, or the only one that there is.
    pub(crate) model: Option<String>,
    /// Ids of models that are asked in its place, one after the other, while it cannot be reached or
    /// is overloaded.
    pub(crate) fallback: Vec<String>,
    /// Tools that the first turn of a run must call.
    pub(crate) force: Vec<String>,
    /// Checks of every answer: `hallucination` (it says no more than the tools gave), `relevancy` (it
    /// is one to the question). Those that tools ask for (`checks` at a tool) are made too.
    pub(crate) checks: Vec<String>,
    /// Whether an answer is shown only once all its checks have passed. If not set, their verdicts
    /// stand beside it.
    pub(crate) gate: bool,
    /// The id of the model that makes the checks; its own if not set.
    pub(crate) judge: Option<String>,
    /// What one run may spend; with those that work for it.
    pub(crate) budget: Option<BudgetTable>,
    /// Patterns of the tools that it has, of those of its profile; all of these if not set.
    pub(crate) tools: Vec<String>,
    /// Agents that work for it, and toolsets, each of which becomes one that does; `*` stands for
    /// all toolsets, `github_*` for those that begin so. They have no tool that it may not use.
    pub(crate) specialists: Vec<String>,
    /// How it uses them. `planner` if not set.
    pub(crate) mode: Option<AgentModeWord>,
    /// Runs below each other. 2 if not set.
    #[schemars(range(min = 1, max = 5))]
    pub(crate) depth: Option<u32>,
    /// Runs of its whole tree that work at the same time, without its own. 8 if not set.
    #[schemars(range(min = 1, max = 256))]
    pub(crate) active: Option<u32>,
}

/// How an agent uses its specialists: `direct` not at all; `router` by one tool, which runs one tool
/// of one of them; `planner` gives them parts of the task, and has itself the tools that none of
/// them has; `auto` decides by the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "AgentMode")]
pub(crate) enum AgentModeWord {
    Direct,
    Router,
    Planner,
    Auto,
}

/// What one run of an agent may spend. At a limit the model answers once more, without tools.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Budget")]
pub(crate) struct BudgetTable {
    /// Requests to the model that carry tools. 20 if not set.
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) turns: Option<u32>,
    /// Calls of tools. 100 if not set.
    #[schemars(range(min = 0, max = 100_000))]
    pub(crate) calls: Option<u32>,
    /// Tokens that are read and written; no limit if not set.
    #[schemars(range(min = 2_000))]
    pub(crate) tokens: Option<u64>,
    /// Money; the price of the model must be known. No limit if not set.
    #[schemars(range(min = 0.0))]
    pub(crate) cost: Option<f64>,
    /// Minutes, while no person is waited for. 10 if not set.
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) minutes: Option<u32>,
}
