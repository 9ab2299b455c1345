//! Prompts and resources of the host program.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::broadcast;

use super::resources::{
    ResourceList, ResourceOperation, ResourceRequest, Resources, ServerInfo, UpdateStream,
};
use super::template::UriTemplate;
use crate::BoxFuture;
use crate::call::context::CallContext;
use crate::call::json_fields::JsonFields;
use crate::call::name::shown;
use crate::outcome::refusal::{Refusal, RefusalReason};
use crate::outcome::{ErrorKind, ToolError};
use crate::tool::source::Source;
use crate::tool::source_error::SourceError;
use crate::tool::toolset::Toolset;

/// Updates that a follower may lag behind; older ones are lost on it.
const BACKLOG: usize = 64;

type HandlerResult = Result<JsonFields, ToolError>;
type ResourceHandler =
    Arc<dyn Fn(JsonFields, CallContext) -> BoxFuture<'static, HandlerResult> + Send + Sync>;

/// Prompts and resources that are async functions; definitions and results have the shapes of the
/// protocol.
#[derive(Clone)]
pub struct CodeResources {
    holdings: ResourceList,
    prompts: HashMap<String, ResourceHandler>,
    resources: HashMap<String, ResourceHandler>,
    templates: Vec<(Arc<UriTemplate>, ResourceHandler)>,
    completion: Option<ResourceHandler>,
    updates: broadcast::Sender<String>,
}

impl Default for CodeResources {
    fn default() -> Self {
        Self {
            holdings: ResourceList::default(),
            prompts: HashMap::new(),
            resources: HashMap::new(),
            templates: Vec::new(),
            completion: None,
            updates: broadcast::Sender::new(BACKLOG),
        }
    }
}

impl CodeResources {
    /// Adds a prompt. `run` gets the parameters that its client says and gives its result.
    #[must_use]
    pub fn prompt<F>(
        mut self,
        definition: JsonFields,
        run: impl Fn(JsonFields, CallContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = HandlerResult> + Send + 'static,
    {
        self.prompts.insert(text(&definition, "name"), answerer(run));
        self.holdings.prompts.push(Arc::new(definition));
        self.can("prompts", json!({}))
    }

    /// Adds a resource. `run` gets the parameters that its client says and gives its result.
    #[must_use]
    pub fn resource<F>(
        mut self,
        definition: JsonFields,
        run: impl Fn(JsonFields, CallContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = HandlerResult> + Send + 'static,
    {
        self.resources.insert(text(&definition, "uri"), answerer(run));
        self.holdings.resources.push(Arc::new(definition));
        self.can("resources", json!({ "subscribe": true }))
    }

    /// Adds a template; the first that an address fits is asked for it.
    #[must_use]
    pub fn template<F>(
        mut self,
        definition: JsonFields,
        run: impl Fn(JsonFields, CallContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = HandlerResult> + Send + 'static,
    {
        let pattern = Arc::new(UriTemplate::new(&text(&definition, "uriTemplate")));
        self.templates.push((pattern, answerer(run)));
        self.holdings.templates.push(Arc::new(definition));
        self.can("resources", json!({ "subscribe": true }))
    }

    /// Completes arguments of prompts and templates: gets the parameters that its client says, and
    /// gives its result.
    #[must_use]
    pub fn completion<F>(
        mut self,
        run: impl Fn(JsonFields, CallContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = HandlerResult> + Send + 'static,
    {
        self.completion = Some(answerer(run));
        self.can("completions", json!({}))
    }

    fn can(mut self, what: &str, how: Value) -> Self {
        let said = &mut self.holdings.said;
        let mut now = ServerInfo::clone(said);
        now.capabilities.insert(what.to_owned(), how);
        *said = Arc::new(now);
        self
    }

    /// Tells whoever follows this resource that it changed.
    pub fn tell(&self, uri: &str) {
        // Nobody may be listening.
        let _ = self.updates.send(uri.to_owned());
    }

    fn find(&self, inquiry: &ResourceRequest) -> Option<&ResourceHandler> {
        match inquiry.about {
            ResourceOperation::Prompt => self.prompts.get(&text(&inquiry.params, "name")),
            ResourceOperation::Resource => {
                let uri = text(&inquiry.params, "uri");
                let mut templates = self.templates.iter();
                let exactly = self.resources.get(&uri);
                exactly.or_else(|| {
                    templates.find(|(pattern, _)| pattern.matches(&uri)).map(|(_, run)| run)
                })
            }
            ResourceOperation::Completion => self.completion.as_ref(),
            ResourceOperation::Level
            | ResourceOperation::Method(_)
            | ResourceOperation::Notice(_) => None,
        }
    }
}

impl Resources for CodeResources {
    fn load(&self) -> BoxFuture<'_, Result<ResourceList, SourceError>> {
        Box::pin(std::future::ready(Ok(self.holdings.clone())))
    }

    fn answer<'a>(
        &'a self,
        inquiry: ResourceRequest,
        context: &'a CallContext,
    ) -> BoxFuture<'a, HandlerResult> {
        Box::pin(async move {
            match self.find(&inquiry) {
                Some(run) => run(inquiry.params, context.clone()).await,
                None if inquiry.about == ResourceOperation::Completion => {
                    Ok(JsonFields::from_iter([("completion".to_owned(), json!({ "values": [] }))]))
                }
                None => {
                    let told = format!("nothing here answers {}", named(&inquiry.about));
                    let refusal = Refusal::new(RefusalReason::UnknownMethod, told);
                    Err(refusal.into_error(ErrorKind::Tool))
                }
            }
        })
    }

    fn follow<'a>(
        &'a self,
        uri: &'a str,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Result<UpdateStream, ToolError>> {
        let (updates, uri) = (self.updates.subscribe(), uri.to_owned());
        let told = futures_util::stream::unfold((updates, uri), |(mut updates, uri)| async {
            loop {
                match updates.recv().await {
                    Ok(changed) if changed == uri => {
                        let params =
                            JsonFields::from_iter([("uri".to_owned(), Value::from(changed))]);
                        return Some((params, (updates, uri)));
                    }
                    Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return None,
                }
            }
        });
        Box::pin(std::future::ready(Ok(UpdateStream::new(told))))
    }
}

/// Tools with a library beside them, as one source.
#[derive(Clone)]
pub struct WithResources {
    tools: Toolset,
    library: Arc<dyn Resources>,
}

impl WithResources {
    pub fn new(tools: Toolset, library: Arc<dyn Resources>) -> Self {
        Self { tools, library }
    }
}

impl Source for WithResources {
    fn load(&self) -> BoxFuture<'_, Result<Toolset, SourceError>> {
        self.tools.load()
    }

    fn library(&self) -> Option<Arc<dyn Resources>> {
        Some(Arc::clone(&self.library))
    }
}

fn answerer<F>(
    run: impl Fn(JsonFields, CallContext) -> F + Send + Sync + 'static,
) -> ResourceHandler
where
    F: Future<Output = HandlerResult> + Send + 'static,
{
    Arc::new(move |params, context| Box::pin(run(params, context)))
}

fn text(fields: &JsonFields, key: &str) -> String {
    fields.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// What was asked for, in words.
fn named(about: &ResourceOperation) -> String {
    match about {
        ResourceOperation::Prompt => "questions for prompts".to_owned(),
        ResourceOperation::Resource => "questions for resources".to_owned(),
        ResourceOperation::Completion => "questions for completions".to_owned(),
        ResourceOperation::Level => "who sets a level for lines of log".to_owned(),
        ResourceOperation::Method(method) | ResourceOperation::Notice(method) => {
            format!("`{}`", shown(method))
        }
    }
}
