//! The models of the file: what finds tools by their meaning, and what agents ask.

mod team;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use toolcrib_agent::model::{ModelApi, ModelSettings, ModelTimeouts, TextCallFormat, TokenEngine};
use toolcrib_agent::{Budget, CheckPolicy, Price};
use toolcrib_embed::Prefixes;
use toolcrib_engine::discovery::PATIENCE;

use super::ConfigChecker;
use crate::config::Profile;
use crate::file::toml_path::TomlPath;
use crate::raw;
use crate::settings::agents::{AgentTemplate, DEFAULT_MODEL, ModelTemplate};
use crate::settings::embedder::{self, EmbedderTemplate};

/// Tokens that a model must be able to read beside what it writes.
const LEAST_READ: u32 = 1_024;

/// Longest prefix, in bytes: models want a word or a sentence.
const LONGEST_PREFIX: usize = 1000;

impl ConfigChecker<'_, '_, '_> {
    pub(super) fn embedder(
        &mut self,
        raw: Option<&raw::EmbedderTable>,
        place: &TomlPath,
    ) -> Option<EmbedderTemplate> {
        let raw = raw?;
        let within = self.timeout(raw.within.as_ref(), &place.key("within")).unwrap_or(PATIENCE);
        let vectors = raw.vectors.as_ref();
        let vectors = vectors.and_then(|path| self.path(path, &place.key("vectors")));
        let mut prefix = |text: Option<&String>, key: &str| {
            let text = text.cloned().unwrap_or_default();
            if text.len() > LONGEST_PREFIX {
                let cure = "write what the model's own page says";
                self.problem(&place.key(key), "no model wants so long a prefix", cure);
            }
            text
        };
        let prefixes = Prefixes {
            query: prefix(raw.query_prefix.as_ref(), "query_prefix"),
            tool: prefix(raw.tool_prefix.as_ref(), "tool_prefix"),
        };
        let model = match (&raw.local, &raw.endpoint) {
            (Some(folder), None) => self.local(raw, folder, place),
            (None, Some(address)) => self.endpoint(raw, address, place),
            (Some(_), Some(_)) | (None, None) => {
                let cure =
                    "write `local = \"FOLDER\"`, or `endpoint = \"https://...\"` and `model`";
                self.problem(place, "an embedder is in one place", cure);
                None
            }
        };
        Some(EmbedderTemplate { place: model?, prefixes, within, vectors })
    }

    fn local(
        &mut self,
        raw: &raw::EmbedderTable,
        folder: &str,
        place: &TomlPath,
    ) -> Option<embedder::EmbedderModelTemplate> {
        let of_endpoint = [
            ("model", raw.model.is_some()),
            ("key", raw.key.is_some()),
            ("dimensions", raw.dimensions.is_some()),
        ];
        for (key, _) in of_endpoint.into_iter().filter(|(_, is_there)| *is_there) {
            let message = format!("`{key}` is of an endpoint, and this model is in a folder");
            self.problem(&place.key(key), message, "take it out");
        }
        let at = place.key("local");
        if !cfg!(feature = "sentence-model") {
            let message = "this program was built without models of sentences";
            let cure = "use one that was built with the feature `sentence-model`, or name an \
                        `endpoint`";
            self.problem(&at, message, cure);
        }
        let path = self.path(folder, &at)?;
        self.needs_folder(&path, &at);
        Some(embedder::EmbedderModelTemplate::Local(path))
    }

    fn endpoint(
        &mut self,
        raw: &raw::EmbedderTable,
        address: &str,
        place: &TomlPath,
    ) -> Option<embedder::EmbedderModelTemplate> {
        let at = place.key("endpoint");
        let base = self.url(address, &at);
        self.in_the_open(base.as_ref(), raw.key.is_some(), &at);
        if raw.model.as_deref().is_none_or(str::is_empty) {
            let cure = "add it as the endpoint names it: `model = \"text-embedding-3-small\"`";
            self.problem(place, "an endpoint is asked for a model", cure);
        }
        if raw.dimensions == Some(0) {
            let cure = "leave it out, or write how many";
            self.problem(&place.key("dimensions"), "a vector has numbers", cure);
        }
        let key = raw.key.as_ref();
        let key = key.and_then(|key| self.template(key, &place.key("key")));
        let dimensions = raw.dimensions.and_then(|dimensions| usize::try_from(dimensions).ok());
        let model = raw.model.clone()?;
        Some(embedder::EmbedderModelTemplate::Endpoint { base: base?, model, key, dimensions })
    }
}

/// As many as anybody keeps in mind.
const MOST_AGENTS: usize = 256;

impl ConfigChecker<'_, '_, '_> {
    pub(super) fn models(
        &mut self,
        raw: Option<&raw::ModelsValue>,
        place: &TomlPath,
    ) -> Vec<ModelTemplate> {
        let tables: Vec<(&raw::ModelTable, TomlPath)> = match raw {
            None => Vec::new(),
            Some(raw::ModelsValue::One(one)) => vec![(one, place.clone())],
            Some(raw::ModelsValue::Several(all)) => {
                all.iter().enumerate().map(|(index, one)| (one, place.index(index))).collect()
            }
        };
        let mut ids = BTreeSet::new();
        let mut models = Vec::new();
        for (table, place) in tables {
            let id = table.id.clone().unwrap_or_else(|| DEFAULT_MODEL.to_owned());
            if !ids.insert(id.clone()) {
                let message = format!("there are two models `{id}`");
                self.problem(&place, message, "give each an `id` of its own");
            }
            models.extend(self.model(id, table, &place));
        }
        models
    }

    fn model(
        &mut self,
        id: String,
        raw: &raw::ModelTable,
        place: &TomlPath,
    ) -> Option<ModelTemplate> {
        let (api, known) = api(raw.kind);
        if raw.name.as_deref().is_none_or(str::is_empty) {
            let cure = "add it as its server names it: `name = \"qwen3\"`";
            self.problem(place, "a server is asked for a model by its name", cure);
        }
        let at = place.key("url");
        let base = match (raw.url.as_deref(), known) {
            (Some(url), _) => self.url(url, &at),
            (None, Some(url)) => self.url(url, place),
            (None, None) => {
                let cure = "add `url = \"http://127.0.0.1:11434/v1\"`, or a `kind` whose address is \
                            known: `ollama`, `anthropic`";
                self.problem(place, "nobody knows where this model is", cure);
                None
            }
        };
        self.in_the_open(base.as_ref(), raw.key.is_some(), &at);
        let key = raw.key.as_ref().and_then(|key| self.template(key, &place.key("key")));
        let usual = ModelTimeouts::default();
        let mut time =
            |text, key, usual: Duration| self.timeout(text, &place.key(key)).unwrap_or(usual);
        let timeouts = ModelTimeouts {
            first_byte: time(raw.first_byte.as_ref(), "first_byte", usual.first_byte),
            between: time(raw.idle.as_ref(), "idle", usual.between),
            total: time(raw.timeout.as_ref(), "timeout", usual.total),
            ..usual
        };
        let engine = self.engine(raw, api, place);
        let price = raw.price.as_ref();
        let price = price.map(|own| Price { input: own.input, output: own.output });
        let plain = ModelSettings::new(api, base?, raw.name.clone()?);
        let plain = ModelSettings {
            text_calls: raw.calls.and_then(text_calls),
            max_tokens: raw.max_tokens.unwrap_or(plain.max_tokens),
            context: raw.context,
            temperature: raw.temperature,
            timeouts,
            retries: raw.retries.unwrap_or(plain.retries),
            engine,
            price,
            ..plain
        };
        self.context(&plain, &place.key("context"));
        Some(ModelTemplate { id, plain, key })
    }

    fn engine(
        &mut self,
        raw: &raw::ModelTable,
        api: ModelApi,
        place: &TomlPath,
    ) -> Option<TokenEngine> {
        let engine = match raw.engine? {
            raw::EngineWord::Vllm => TokenEngine::Vllm,
            raw::EngineWord::Sglang => TokenEngine::Sglang,
            raw::EngineWord::VllmGenerate => TokenEngine::VllmGenerate,
            raw::EngineWord::SglangGenerate => TokenEngine::SglangGenerate,
        };
        if api != ModelApi::OpenAiChat {
            let message = "only a server of the chat API tells the tokens of a turn";
            let cure = "write `kind = \"openai-chat\"`, or take it out";
            self.problem(&place.key("engine"), message, cure);
        }
        if engine.takes_tokens() && raw.calls == Some(raw::ModelCallsWord::Api) {
            let message = "an engine that answers with tokens calls in its words";
            let cure = "take it out, or write `calls = \"hermes\"` or another form";
            self.problem(&place.key("calls"), message, cure);
        }
        Some(engine)
    }

    fn context(&mut self, model: &ModelSettings, place: &TomlPath) {
        let most = model.max_tokens;
        if model.context.is_some_and(|context| context < most.saturating_add(LEAST_READ)) {
            let message = format!("an answer of {most} tokens leaves no room for a question");
            let cure = "write a smaller `max_tokens`, at the most half of `context`";
            self.problem(place, message, cure);
        }
    }

    pub(super) fn agents(
        &mut self,
        raw: &BTreeMap<String, raw::AgentTable>,
        models: &[ModelTemplate],
        profiles: &BTreeMap<String, Profile>,
    ) -> Vec<AgentTemplate> {
        let top = TomlPath::default().key("agent");
        if raw.len() > MOST_AGENTS {
            let message = format!("there are more than {MOST_AGENTS} agents");
            self.problem(&top, message, "split the file");
            return Vec::new();
        }
        self.circles(raw);
        let agents = raw.iter().filter_map(|(name, table)| {
            self.agent((name, table), raw, (models, profiles), &top.key(name))
        });
        let agents: Vec<_> = agents.collect();
        self.costs(&agents, models);
        agents
    }

    fn agent(
        &mut self,
        (name, raw): (&str, &raw::AgentTable),
        all: &BTreeMap<String, raw::AgentTable>,
        (models, profiles): (&[ModelTemplate], &BTreeMap<String, Profile>),
        place: &TomlPath,
    ) -> Option<AgentTemplate> {
        if name.is_empty() || name.len() > 64 || !name.bytes().all(is_of_name) {
            let cure = "use letters, digits, `-`, `_` and `.`, 64 at the most";
            self.problem(place, "clients cannot ask for an agent of this name", cure);
        }
        if let Some(profile) = raw.profile.as_ref().filter(|name| !profiles.contains_key(*name)) {
            let message = format!("there is no profile `{profile}`");
            let cure = "name one of the file, or leave `profile` out";
            self.problem(&place.key("profile"), message, cure);
        }
        let only = match models {
            [only] => Some(only),
            _ => None,
        };
        let model = match &raw.model {
            Some(id) => models.iter().find(|model| model.id == *id),
            None => models.iter().find(|model| model.id == DEFAULT_MODEL).or(only),
        };
        let Some(model) = model else {
            let ids: Vec<_> = models.iter().map(|model| format!("`{}`", model.id)).collect();
            let cure = match ids.as_slice() {
                [] => "add a `[model]` with `url` and `name`".to_owned(),
                ids => format!("write `model = ` and one of {}", ids.join(", ")),
            };
            self.problem(place, "this agent has no model", cure);
            return None;
        };
        let fallback = self.fallback(&raw.fallback, model, models, &place.key("fallback"));
        self.checks(raw, models, place);
        let budget = self.budget(raw.budget.as_ref(), model, &place.key("budget"));
        Some(AgentTemplate {
            name: name.to_owned(),
            description: raw.description.clone().unwrap_or_default(),
            instructions: raw.instructions.clone().unwrap_or_default(),
            profile: raw.profile.clone(),
            model: model.id.clone(),
            fallback,
            force: raw.force.clone(),
            checks: raw.checks.clone(),
            gate: raw.gate,
            judge: raw.judge.clone(),
            budget,
            tools: self.agent_tools(&raw.tools, &place.key("tools")),
            team: self.team(name, all, place),
        })
    }

    /// Checks and judges that there are not.
    fn checks(&mut self, raw: &raw::AgentTable, models: &[ModelTemplate], place: &TomlPath) {
        let known = CheckPolicy::known();
        for (index, name) in raw.checks.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                let message = format!("there is no check `{name}`");
                let cure = format!("write `{}`, or take it out", known.join("` or `"));
                self.problem(&place.key("checks").index(index), message, cure);
            }
        }
        let judge = raw.judge.as_ref();
        if let Some(id) = judge.filter(|id| models.iter().all(|model| model.id != **id)) {
            let message = format!("there is no model `{id}`");
            let cure = "name the `id` of a `[[model]]`, or take it out";
            self.problem(&place.key("judge"), message, cure);
        }
    }

    fn fallback(
        &mut self,
        ids: &[String],
        model: &ModelTemplate,
        models: &[ModelTemplate],
        place: &TomlPath,
    ) -> Vec<String> {
        let takes_tokens =
            |own: &ModelTemplate| own.plain.engine.is_some_and(TokenEngine::takes_tokens);
        let of_tokens = models.iter().filter(|own| takes_tokens(own));
        let of_tokens: BTreeSet<_> = of_tokens.map(|own| own.id.as_str()).collect();
        let mut others = BTreeSet::from([model.id.as_str()]);
        for (index, id) in ids.iter().enumerate() {
            let message = if models.iter().all(|other| other.id != *id) {
                format!("there is no model `{id}`")
            } else if !others.insert(id) {
                format!("the model `{id}` is asked already")
            } else if let Some(own) =
                [&model.id, id].into_iter().find(|id| of_tokens.contains(id.as_str()))
            {
                let message = format!("the tokens of the model `{own}` are nothing to another");
                let cure = "take `fallback` out: a server that sends tokens is asked again instead";
                self.problem(&place.index(index), message, cure);
                continue;
            } else {
                continue;
            };
            let cure = "name the `id` of another `[[model]]`, or take it out";
            self.problem(&place.index(index), message, cure);
        }
        ids.to_vec()
    }

    fn budget(
        &mut self,
        raw: Option<&raw::BudgetTable>,
        model: &ModelTemplate,
        place: &TomlPath,
    ) -> Budget {
        let usual = Budget::default();
        let Some(raw) = raw else { return usual };
        if raw.cost.is_some() && !model.is_priced() {
            let cure = "add `price = { input = 0.15, output = 0.6 }` to the model";
            self.problem(&place.key("cost"), "nobody knows what this model costs", cure);
        }
        Budget {
            turns: raw.turns.or(usual.turns),
            calls: raw.calls.or(usual.calls),
            tokens: raw.tokens,
            cost: raw.cost,
            time: raw.minutes.map(|minutes| Duration::from_mins(minutes.into())).or(usual.time),
        }
    }
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

/// The form of calls in the text of a model; `None`: it calls by the API.
fn text_calls(word: raw::ModelCallsWord) -> Option<TextCallFormat> {
    use raw::ModelCallsWord as Word;
    match word {
        Word::Api => None,
        Word::Hermes => Some(TextCallFormat::Hermes),
        Word::Json => Some(TextCallFormat::Json),
        Word::Llama => Some(TextCallFormat::Llama),
        Word::Cline => Some(TextCallFormat::Cline),
        Word::React => Some(TextCallFormat::React),
    }
}

/// The API of a kind, and its usual address.
fn api(kind: Option<raw::ModelKindWord>) -> (ModelApi, Option<&'static str>) {
    use raw::ModelKindWord as Kind;
    match kind {
        None | Some(Kind::OpenaiChat) => (ModelApi::OpenAiChat, None),
        Some(Kind::OpenaiResponses) => {
            (ModelApi::OpenAiResponses, Some("https://api.openai.com/v1"))
        }
        Some(Kind::Anthropic) => (ModelApi::Anthropic, Some("https://api.anthropic.com/v1")),
        Some(Kind::Gemini) => {
            (ModelApi::Gemini, Some("https://generativelanguage.googleapis.com/v1beta"))
        }
        Some(Kind::Ollama) => (ModelApi::OpenAiChat, Some("http://127.0.0.1:11434/v1")),
        Some(Kind::LlamaCpp) => (ModelApi::OpenAiChat, Some("http://127.0.0.1:8080/v1")),
        Some(Kind::Vllm) => (ModelApi::OpenAiChat, Some("http://127.0.0.1:8000/v1")),
        Some(Kind::LmStudio) => (ModelApi::OpenAiChat, Some("http://127.0.0.1:1234/v1")),
        Some(Kind::Litellm) => (ModelApi::OpenAiChat, Some("http://127.0.0.1:4000/v1")),
    }
}
