//! What a source offers beside tools: prompts, and resources with their templates.
//!
//! Definitions, questions and answers are JSON in the shapes of the Model Context Protocol, since
//! nobody here looks into them: fields that we do not know survive.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{Stream, StreamExt};

use super::address::ResourceAddress;
use super::kind::ResourceKind;
use crate::BoxFuture;
use crate::call::caller::Caller;
use crate::call::context::CallContext;
use crate::call::json_fields::JsonFields;
use crate::outcome::refusal::{Refusal, RefusalReason};
use crate::outcome::{ErrorKind, ToolError};
use crate::policy::UnlistedAccess;
use crate::redact::Mask;
use crate::tool::source_error::SourceError;

/// The prompts and resources of a source.
pub trait Resources: Send + Sync {
    /// Lists everything there is now. Empty lists mean that there is nothing; a library that
    /// cannot tell fails.
    fn load(&self) -> BoxFuture<'_, Result<ResourceList, SourceError>>;

    /// Resolves when a new `load` may say something else.
    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }

    /// Resolves when its owner says once more that what it has of a kind changed, though it is the
    /// same.
    fn change_announced(&self, _kind: ResourceKind) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }

    /// Tells the lines of log that its owner writes while it answers nothing, and that are meant
    /// for nobody but this visitor. `None`: it writes none.
    fn lines(&self, _visitor: ClientSession) -> Option<UpdateStream> {
        None
    }

    /// Gives the result of an inquiry, as the protocol has it. Only the executor can make a
    /// `CallContext`, so nobody reads without passing the gate.
    fn answer<'a>(
        &'a self,
        inquiry: ResourceRequest,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<JsonFields, ToolError>>;

    /// Whether it may answer to more than it lists (a prompt, a method of its own). Not where what
    /// is had of it goes by names: it may be another name of what is kept out.
    fn is_open(&self) -> bool {
        false
    }

    /// The secrets that its owner was given: as [`Tool::mask`](crate::Tool::mask) has them.
    fn mask(&self) -> Option<&Mask> {
        None
    }

    /// How far an address may be asked for that it does not list.
    fn leave(&self, _uri: &str, _address: &ResourceAddress) -> UnlistedAccess {
        UnlistedAccess::Any
    }

    /// Begins to tell of changes of one resource.
    fn follow<'a>(
        &'a self,
        uri: &'a str,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, Result<UpdateStream, ToolError>> {
        let told = format!("changes of `{uri}` are told to nobody: read it again when you need it");
        let refusal = Refusal::new(RefusalReason::UnknownMethod, told);
        Box::pin(std::future::ready(Err(refusal.into_error(ErrorKind::Tool))))
    }
}

/// All that a library has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResourceList {
    /// How the names of its prompts begin (`github__`), and what stands before the addresses of
    /// its resources where rules name them. Empty: nothing.
    pub stem: String,
    /// Definitions of prompts: each with a `name`.
    pub prompts: Vec<Arc<JsonFields>>,
    /// Each with a `uri`.
    pub resources: Vec<Arc<JsonFields>>,
    /// Each with a `uriTemplate`.
    pub templates: Vec<Arc<JsonFields>>,
    /// How long one answer may take; `None`: the crib's time for a call.
    pub timeout: Option<Duration>,
    pub said: Arc<ServerInfo>,
}

/// What a server says of itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerInfo {
    /// Name, version and whatever else it calls itself.
    pub server: JsonFields,
    pub capabilities: JsonFields,
    pub instructions: Option<String>,
    /// By the list, what it says besides its entries, as the origin names and says it; the same of
    /// what it says of itself.
    pub hints: JsonFields,
}

/// One question to a library, with its parameters as the client said them.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceRequest {
    pub about: ResourceOperation,
    pub params: JsonFields,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceOperation {
    /// A prompt, filled in.
    Prompt,
    /// What a resource holds.
    Resource,
    /// Values for an argument of a prompt or of a template.
    Completion,
    /// From which level on log lines are told.
    Level,
    /// A method that no protocol defines. It may do anything.
    Method(Arc<str>),
    /// The same as a notification: nothing comes back.
    Notice(Arc<str>),
}

/// Who inquires, and in which conversation, where the host keeps one.
#[derive(Debug, Clone)]
pub struct ClientSession {
    pub caller: Arc<Caller>,
    pub session: Option<Arc<str>>,
}

/// Changes of one resource, or lines of log, told for as long as this is held.
pub struct UpdateStream(Pin<Box<dyn Stream<Item = JsonFields> + Send>>);

impl UpdateStream {
    /// `updates`: the parameters of each notification; dropping it ends the following.
    pub fn new(updates: impl Stream<Item = JsonFields> + Send + 'static) -> Self {
        Self(Box::pin(updates))
    }

    /// The same without secrets.
    #[must_use]
    pub fn masked(self, mask: Mask) -> Self {
        Self(Box::pin(self.0.map(move |mut params| {
            mask.each(|redactor| redactor.fields(&mut params));
            params
        })))
    }

    /// The next one. `None`: nobody tells of any more.
    pub async fn next(&mut self) -> Option<JsonFields> {
        self.0.next().await
    }
}
