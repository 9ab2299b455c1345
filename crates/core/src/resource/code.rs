//! Prompts and resources of the host program.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::broadcast;

use super::resources::{About, Following, Holdings, Inquiry, Library, Said};
use super::template::Pattern;
use crate::BoxFuture;
use crate::call::context::CallContext;
use crate::call::json_fields::Fields;
use crate::outcome::protocol_error::Refusal;
use crate::outcome::{ErrorKind, ToolError};
use crate::tool::source::Source;
use crate::tool::source_error::SourceError;
use crate::tool::toolset::Toolset;

/// Updates that a follower may lag behind; older ones are lost on it.
const BACKLOG: usize = 64;

type Answered = Result<Fields, ToolError>;
type Answerer = Arc<dyn Fn(Fields, CallContext) -> BoxFuture<'static, Answered> + Send + Sync>;

/// Prompts and resources that are async functions; definitions and results have the shapes of the
/// protocol.
#[derive(Clone)]
pub struct CodeLibrary {
    holdings: Holdings,
    prompts: HashMap<String, Answerer>,
    resources: HashMap<String, Answerer>,
    templates: Vec<(Arc<Pattern>, Answerer)>,
    completion: Option<Answerer>,
    updates: broadcast::Sender<String>,
}

impl Default for CodeLibrary {
    fn default() -> Self {
        Self {
            holdings: Holdings::default(),
            prompts: HashMap::new(),
            resources: HashMap::new(),
            templates: Vec::new(),
            completion: None,
            updates: broadcast::Sender::new(BACKLOG),
        }
    }
}

impl CodeLibrary {
    /// Adds a prompt. `run` gets the parameters of `prompts/get` and gives its result.
    #[must_use]
    pub fn prompt<F>(
        mut self,
        definition: Fields,
        run: impl Fn(Fields, CallContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Answered> + Send + 'static,
    {
        self.prompts.insert(text(&definition, "name"), answerer(run));
        self.holdings.prompts.push(Arc::new(definition));
        self.can("prompts", json!({}))
    }

    /// Adds a resource. `run` gets the parameters of `resources/read` and gives its result.
    #[must_use]
    pub fn resource<F>(
        mut self,
        definition: Fields,
        run: impl Fn(Fields, CallContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Answered> + Send + 'static,
    {
        self.resources.insert(text(&definition, "uri"), answerer(run));
        self.holdings.resources.push(Arc::new(definition));
        self.can("resources", json!({ "subscribe": true }))
    }

    /// Adds a template; the first that an address fits is asked for it.
    #[must_use]
    pub fn template<F>(
        mut self,
        definition: Fields,
        run: impl Fn(Fields, CallContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Answered> + Send + 'static,
    {
        let pattern = Arc::new(Pattern::new(&text(&definition, "uriTemplate")));
        self.templates.push((pattern, answerer(run)));
        self.holdings.templates.push(Arc::new(definition));
        self.can("resources", json!({ "subscribe": true }))
    }

    /// Completes arguments of prompts and templates: gets the parameters of
    /// `completion/complete` and gives its result.
    #[must_use]
    pub fn completion<F>(
        mut self,
        run: impl Fn(Fields, CallContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Answered> + Send + 'static,
    {
        self.completion = Some(answerer(run));
        self.can("completions", json!({}))
    }

    fn can(mut self, what: &str, how: Value) -> Self {
        let said = &mut self.holdings.said;
        let mut now = Said::clone(said);
        now.capabilities.insert(what.to_owned(), how);
        *said = Arc::new(now);
        self
    }

    /// Tells whoever follows this resource that it changed.
    pub fn tell(&self, uri: &str) {
        // Nobody may be listening.
        let _ = self.updates.send(uri.to_owned());
    }

    fn find(&self, inquiry: &Inquiry) -> Option<&Answerer> {
        match inquiry.about {
            About::Prompt => self.prompts.get(&text(&inquiry.params, "name")),
            About::Resource => {
                let uri = text(&inquiry.params, "uri");
                let mut templates = self.templates.iter();
                let exactly = self.resources.get(&uri);
                exactly.or_else(|| {
                    templates.find(|(pattern, _)| pattern.matches(&uri)).map(|(_, run)| run)
                })
            }
            About::Completion => self.completion.as_ref(),
            About::Level | About::Method(_) | About::Notice(_) => None,
        }
    }
}

impl Library for CodeLibrary {
    fn load(&self) -> BoxFuture<'_, Result<Holdings, SourceError>> {
        Box::pin(std::future::ready(Ok(self.holdings.clone())))
    }

    fn answer<'a>(&'a self, inquiry: Inquiry, context: &'a CallContext) -> BoxFuture<'a, Answered> {
        Box::pin(async move {
            match self.find(&inquiry) {
                Some(run) => run(inquiry.params, context.clone()).await,
                None if inquiry.about == About::Completion => {
                    Ok(Fields::from_iter([("completion".to_owned(), json!({ "values": [] }))]))
                }
                None => {
                    let told = format!("nothing here answers `{}`", inquiry.about.method());
                    let refusal = Refusal::new(Refusal::METHOD_NOT_FOUND, told);
                    Err(refusal.into_error(ErrorKind::Tool))
                }
            }
        })
    }

    fn follow<'a>(
        &'a self,
        uri: &'a str,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Result<Following, ToolError>> {
        let (updates, uri) = (self.updates.subscribe(), uri.to_owned());
        let told = futures_util::stream::unfold((updates, uri), |(mut updates, uri)| async {
            loop {
                match updates.recv().await {
                    Ok(changed) if changed == uri => {
                        let params = Fields::from_iter([("uri".to_owned(), Value::from(changed))]);
                        return Some((params, (updates, uri)));
                    }
                    Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return None,
                }
            }
        });
        Box::pin(std::future::ready(Ok(Following::new(told))))
    }
}

/// Tools with a library beside them, as one source.
#[derive(Clone)]
pub struct Stocked {
    tools: Toolset,
    library: Arc<dyn Library>,
}

impl Stocked {
    pub fn new(tools: Toolset, library: Arc<dyn Library>) -> Self {
        Self { tools, library }
    }
}

impl Source for Stocked {
    fn load(&self) -> BoxFuture<'_, Result<Toolset, SourceError>> {
        self.tools.load()
    }

    fn library(&self) -> Option<Arc<dyn Library>> {
        Some(Arc::clone(&self.library))
    }
}

fn answerer<F>(run: impl Fn(Fields, CallContext) -> F + Send + Sync + 'static) -> Answerer
where
    F: Future<Output = Answered> + Send + 'static,
{
    Arc::new(move |params, context| Box::pin(run(params, context)))
}

fn text(fields: &Fields, key: &str) -> String {
    fields.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}
