//! One request to a model, in the shape of its API.

pub(crate) mod choice;
pub(crate) mod engine;
pub(crate) mod generate;
mod tokenize;

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolcrib_core::Plan;
use url::Url;

use super::fault::{ModelFault, ModelFaultKind};
use super::hosted;
use super::messages::{answered, messages};
use super::settings::{ModelApi, ModelSettings};
use super::text_calls::{self, TextCallFormat, TextTools};
use crate::item::ThreadItem;
use choice::CallChoice;
use generate::GenerateWire;

/// What a model is asked.
#[derive(Clone, Copy)]
pub struct ModelRequest<'a> {
    pub instructions: &'a str,
    pub items: &'a [ThreadItem],
    /// The tools that it is shown; `None`: none at all.
    pub plan: Option<&'a Plan>,
    /// It is to answer and call none of them. They are shown all the same: some APIs refuse a thread
    /// with calls and no tools.
    pub is_last: bool,
    /// What else is wanted of its calls.
    pub choice: &'a CallChoice,
    /// Tools that whoever asks runs itself.
    pub caller_tools: &'a [CallerTool],
    /// Tokens of the answer at the most.
    pub max_tokens: u64,
    /// Tokens that were read and sampled for this thread so far, for an engine that takes tokens;
    /// `None`: the thread is written as tokens anew.
    pub before: Option<&'a [u32]>,
}

/// A tool that the client of an agent runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallerTool {
    pub name: String,
    pub description: String,
    /// JSON Schema of an object.
    pub parameters: Value,
}

/// The version of the API that we speak.
const ANTHROPIC_VERSION: &str = "2023-06-01";

impl ModelRequest<'_> {
    /// The body, asking for a stream.
    pub(crate) fn body(&self, model: &ModelSettings) -> Map<String, Value> {
        if model.wire().is_some() {
            return self.token_body(model);
        }
        let items = answered(self.items);
        if let Some(format) = model.text_calls {
            return self.text_body(format, model, items);
        }
        let mut body = self.plain_body(model, &items);
        if let Some(plan) = self.plan {
            body.extend(model.api.dialect().request(plan));
            self.add_caller_tools(model.api, &mut body);
            hosted::leave_out(model, &mut body);
            hosted::include(model.api, &mut body);
            self.choice().write(model.api, &mut body);
        }
        body
    }

    /// All but the tools. `items`: those of the thread, as this model is told of them.
    fn plain_body(&self, model: &ModelSettings, items: &[ThreadItem]) -> Map<String, Value> {
        let items = messages(model.api, items);
        match model.api {
            ModelApi::OpenAiChat => self.chat(model, items),
            ModelApi::OpenAiResponses => self.responses(model, items),
            ModelApi::Anthropic => self.anthropic(model, items),
            ModelApi::Gemini => self.gemini(model, items),
        }
    }

    /// For a model that is told of its tools in words, and calls in words.
    fn text_body(
        &self,
        format: TextCallFormat,
        model: &ModelSettings,
        items: Vec<ThreadItem>,
    ) -> Map<String, Value> {
        let tools = self.text_tools(model);
        let choice = self.choice();
        let calls_none = *choice == CallChoice::Never;
        let told = text_calls::instructions(format, self.instructions, &tools, calls_none);
        let told = match choice.in_words(&self.forced()).filter(|_| !tools.is_empty()) {
            Some(forced) => format!("{told}\n\n{forced}"),
            None => told,
        };
        let items = text_calls::retold(format, model.api.dialect().name(), items);
        ModelRequest { instructions: &told, ..*self }.plain_body(model, &items)
    }

    fn choice(&self) -> &CallChoice {
        if self.is_last { &CallChoice::Never } else { self.choice }
    }

    /// What the plan makes a model call that has no `tool_choice`, by the names that it is told.
    fn forced(&self) -> Vec<String> {
        let Some(plan) = self.plan else { return Vec::new() };
        let rendering = ModelApi::OpenAiChat.dialect().rendering(plan);
        let names = plan.forced().filter_map(|tool| {
            let name = rendering.wire_name(tool.listed.spec.name.as_str())?;
            Some(format!("`{name}`"))
        });
        names.collect()
    }

    /// The tools that this model is told of in words; none if it calls by the API.
    pub(super) fn text_tools(&self, model: &ModelSettings) -> TextTools {
        let further = self.caller_tools.iter().map(|tool| tool.definition(ModelApi::OpenAiChat));
        let plan = self.plan.filter(|_| model.call_format().is_some());
        plan.map(|plan| TextTools::of(plan, further)).unwrap_or_default()
    }

    fn chat(&self, model: &ModelSettings, items: Vec<Value>) -> Map<String, Value> {
        let mut said = Vec::new();
        if !self.instructions.is_empty() {
            said.push(json!({ "role": "system", "content": self.instructions }));
        }
        said.extend(items);
        let mut body = fields(json!({
            "model": model.name, "messages": null,
            "stream": true, "stream_options": { "include_usage": true },
        }));
        // A long thread is moved and not copied.
        body.insert("messages".to_owned(), said.into());
        // OpenAI's models that think refuse the word that all other servers know.
        let is_openai = model.base.domain().is_some_and(|host| host == "api.openai.com");
        let most = if is_openai { "max_completion_tokens" } else { "max_tokens" };
        body.insert(most.to_owned(), self.max_tokens.into());
        body.extend(model.temperature.map(|own| ("temperature".to_owned(), own.into())));
        if let Some(engine) = model.engine {
            engine.ask(model.seed, &mut body);
        }
        body
    }

    fn responses(&self, model: &ModelSettings, items: Vec<Value>) -> Map<String, Value> {
        // Nothing is kept at the provider: what its model thought comes back to us sealed.
        let mut body = fields(json!({
            "model": model.name, "input": null,
            "max_output_tokens": self.max_tokens, "stream": true, "store": false,
            "include": ["reasoning.encrypted_content"],
        }));
        body.insert("input".to_owned(), items.into());
        if !self.instructions.is_empty() {
            body.insert("instructions".to_owned(), self.instructions.into());
        }
        body.extend(model.temperature.map(|own| ("temperature".to_owned(), own.into())));
        body
    }

    fn anthropic(&self, model: &ModelSettings, items: Vec<Value>) -> Map<String, Value> {
        let mut body = fields(json!({
            "model": model.name, "messages": null,
            "max_tokens": self.max_tokens, "stream": true,
        }));
        body.insert("messages".to_owned(), items.into());
        if !self.instructions.is_empty() {
            body.insert("system".to_owned(), self.instructions.into());
        }
        body.extend(model.temperature.map(|own| ("temperature".to_owned(), own.into())));
        body
    }

    fn gemini(&self, model: &ModelSettings, items: Vec<Value>) -> Map<String, Value> {
        let mut generation = fields(json!({ "maxOutputTokens": self.max_tokens }));
        generation.extend(model.temperature.map(|own| ("temperature".to_owned(), own.into())));
        let mut body = fields(json!({ "contents": null, "generationConfig": generation }));
        body.insert("contents".to_owned(), items.into());
        if !self.instructions.is_empty() {
            let said = json!({ "parts": [{ "text": self.instructions }] });
            body.insert("systemInstruction".to_owned(), said);
        }
        body
    }

    fn add_caller_tools(&self, api: ModelApi, body: &mut Map<String, Value>) {
        if self.caller_tools.is_empty() {
            return;
        }
        let own: Vec<Value> = self.caller_tools.iter().map(|tool| tool.definition(api)).collect();
        let tools = body.entry("tools").or_insert_with(|| json!([]));
        let list = match api {
            ModelApi::Gemini => {
                if tools.pointer("/0/functionDeclarations").is_none()
                    && let Some(list) = tools.as_array_mut()
                {
                    list.insert(0, json!({ "functionDeclarations": [] }));
                }
                tools.pointer_mut("/0/functionDeclarations").and_then(Value::as_array_mut)
            }
            ModelApi::OpenAiChat | ModelApi::OpenAiResponses | ModelApi::Anthropic => {
                tools.as_array_mut()
            }
        };
        if let Some(list) = list {
            list.extend(own);
        }
    }
}

impl CallerTool {
    pub(crate) fn definition(&self, api: ModelApi) -> Value {
        let Self { name, description, parameters } = self;
        match api {
            ModelApi::OpenAiChat => json!({ "type": "function", "function": {
                "name": name, "description": description, "parameters": parameters,
            } }),
            ModelApi::OpenAiResponses => json!({
                "type": "function", "name": name, "description": description,
                "parameters": parameters, "strict": false,
            }),
            ModelApi::Anthropic => {
                json!({ "name": name, "description": description, "input_schema": parameters })
            }
            ModelApi::Gemini => json!({
                "name": name, "description": description, "parametersJsonSchema": parameters,
            }),
        }
    }
}

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}

/// Where the model is asked.
pub(super) fn url(model: &ModelSettings) -> Url {
    if model.wire().is_some() {
        return GenerateWire::url(&model.base, GenerateWire::TOKENIZE);
    }
    let mut url = model.base.clone();
    let base = model.base.path().trim_end_matches('/').to_owned();
    match model.api {
        ModelApi::OpenAiChat => url.set_path(&format!("{base}/chat/completions")),
        ModelApi::OpenAiResponses => url.set_path(&format!("{base}/responses")),
        ModelApi::Anthropic => url.set_path(&format!("{base}/messages")),
        ModelApi::Gemini => {
            url.set_path(&format!("{base}/models/{}:streamGenerateContent", model.name));
            url.set_query(Some("alt=sse"));
        }
    }
    url
}

/// What goes with every request to this model.
pub(super) fn headers(model: &ModelSettings) -> Result<HeaderMap, ModelFault> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    if model.api == ModelApi::Anthropic {
        let name = HeaderName::from_static("anthropic-version");
        headers.insert(name, HeaderValue::from_static(ANTHROPIC_VERSION));
    }
    if let Some(key) = &model.key {
        let (name, value) = match model.api {
            ModelApi::OpenAiChat | ModelApi::OpenAiResponses => {
                (AUTHORIZATION, format!("Bearer {}", key.expose()))
            }
            ModelApi::Anthropic => (HeaderName::from_static("x-api-key"), key.expose().to_owned()),
            ModelApi::Gemini => {
                (HeaderName::from_static("x-goog-api-key"), key.expose().to_owned())
            }
        };
        let mut value = HeaderValue::from_str(&value).map_err(|_| {
            let message = format!(
                "the key of the model `{}` has signs that no header can carry: look at `key` of \
                 `[model]`",
                model.name
            );
            ModelFault::new(ModelFaultKind::Unauthorized, message)
        })?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}
