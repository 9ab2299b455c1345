//! What a reply tells of the tools that the provider ran.

use serde_json::Value;
use toolcrib_core::{Plan, Reference, SourceId};

/// What the provider's tools did in one reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostedWork {
    /// In the order of the reply. One whose end the reply does not tell is not among them.
    pub calls: Vec<HostedCall>,
    /// What the words of the reply are founded on, each once.
    pub citations: Vec<Reference>,
}

/// A call that the provider made and answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostedCall {
    /// Empty where the API gives none.
    pub id: String,
    /// The tool of the plan; where that has none, the word of the API.
    pub name: String,
    /// Of that tool.
    pub source: Option<SourceId>,
    /// JSON.
    pub arguments: String,
    /// What came of it, in short: no API tells of all.
    pub text: String,
    pub is_failed: bool,
}

/// Calls and citations of one reply that are told at the most.
const MOST: usize = 256;
/// Longest text that is told of a call, in bytes.
const LONGEST: usize = 8 << 10;

impl HostedWork {
    /// Adds a call; `word`: what the API calls the tool.
    pub(crate) fn call(&mut self, id: Option<&Value>, word: &str, arguments: &Value) -> &mut Self {
        if self.calls.len() < MOST {
            let id = id.and_then(Value::as_str).unwrap_or_default();
            self.calls.push(HostedCall {
                id: id.to_owned(),
                name: word.to_owned(),
                source: None,
                arguments: bounded(&arguments.to_string()),
                text: String::new(),
                is_failed: false,
            });
        }
        self
    }

    /// Says of the last call what came of it.
    pub(crate) fn came_to(&mut self, text: &str, is_failed: bool) {
        if let Some(call) = self.calls.last_mut() {
            call.text = bounded(text);
            call.is_failed = is_failed;
        }
    }

    /// Adds a citation by its address; one of the same was added before.
    pub(crate) fn cite(
        &mut self,
        url: Option<&Value>,
        title: Option<&Value>,
        text: Option<&Value>,
    ) {
        let [url, title, text] =
            [url, title, text].map(|said| said.and_then(Value::as_str).unwrap_or_default());
        let id = if url.is_empty() { title } else { url };
        let is_known = self.citations.iter().any(|known| known.id == id);
        if id.is_empty() || is_known || self.citations.len() >= MOST {
            return;
        }
        self.citations.push(Reference {
            id: bounded(id),
            title: bounded(title),
            url: (!url.is_empty()).then(|| bounded(url)),
            text: bounded(text),
        });
    }

    /// Puts the tools of a plan in the place of the words of the API. `is_of`: whether a definition
    /// is that of a word.
    pub(crate) fn named(
        mut self,
        plan: Option<&Plan>,
        dialect: &str,
        is_of: impl Fn(&Value, &str) -> bool,
    ) -> Self {
        let tools = plan.into_iter().flat_map(Plan::tools);
        let tools: Vec<_> =
            tools.map(|tool| &tool.listed.spec).filter(|spec| spec.hosted.is_some()).collect();
        for call in &mut self.calls {
            let own = tools.iter().find(|spec| {
                spec.builtin.get(dialect).is_some_and(|definition| is_of(definition, &call.name))
            });
            if let Some(spec) = own {
                call.name = spec.name.to_string();
                call.source = Some(spec.origin.source.clone());
            }
        }
        self
    }
}

/// Text by text, each on a line.
pub(crate) fn lines<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let texts: Vec<_> = texts.into_iter().filter(|text| !text.is_empty()).take(MOST).collect();
    texts.join("\n")
}

fn bounded(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let mut cut = LONGEST;
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    format!("{}…", text.get(..cut).unwrap_or_default())
}
