//! What a running call may know and do.

use std::any::Any;
use std::sync::Arc;

use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::caller::Caller;
use super::host::{
    AskPerson, CallProgress, FormFallback, Host, HostQuestion, LogEntry, LogLevel, Progress,
    QuestionError, QuestionKind, QuestionTiming,
};
use super::json_fields::JsonFields;
use super::name::SourceId;
use super::trace::{Trace, TraceState};
use crate::BoxFuture;
use crate::call::CallKey;
use crate::observe::observer::Observer;
use crate::observe::outbound::{OutboundOwner, OutboundSpan};
use crate::outcome::refusal::{Refusal, RefusalReason};
use crate::outcome::{ErrorKind, ToolError};
use crate::redact::Mask;

/// The surroundings of one call. Cheap to clone; only the executor makes one.
#[derive(Clone)]
pub struct CallContext {
    pub(crate) caller: Arc<Caller>,
    pub(crate) key: CallKey,
    pub(crate) attempt: u32,
    pub(crate) deadline: Instant,
    pub(crate) cancel: CancellationToken,
    pub(crate) session: Option<Arc<str>>,
    pub(crate) host: Option<Arc<dyn Host>>,
    /// What becomes of a form that the host cannot put to anybody.
    pub(crate) unheard: FormFallback,
    /// Asks a person whom the host cannot ask.
    pub(crate) asker: Option<Arc<dyn AskPerson>>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    pub(crate) trace: Option<Trace>,
    pub(crate) trace_state: Option<TraceState>,
    pub(crate) hops: u32,
    /// Where the tool comes from; `None`: nobody records what is asked of others for the call.
    pub(crate) recorded: Option<SourceId>,
    /// What the gate hands to tools that stand beside the catalog.
    pub(crate) extension: Option<Arc<dyn Any + Send + Sync>>,
    /// Takes out of what the call says the secrets of its source.
    pub(crate) mask: Option<Mask>,
    /// `None`: it runs under no key, and nobody can take it up.
    pub(crate) checkpoints: Option<Arc<dyn CallProgress>>,
}

impl CallContext {
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// What the gate handed to a tool that stands beside the catalog; see `Plan::of_call`.
    pub(crate) fn extension<T: 'static>(&self) -> Option<&T> {
        self.extension.as_deref()?.downcast_ref()
    }

    /// Our own name for the call; the model's id is not unique.
    pub fn key(&self) -> CallKey {
        self.key
    }

    /// 1 for the first try.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Resolves when nobody waits for the result any more; then tidy up and return soon.
    pub async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// A token that sub-tasks may hold.
    pub fn cancellation(&self) -> CancellationToken {
        self.cancel.child_token()
    }

    /// The host's name for the conversation, for tools that keep state in one; `None`: the host
    /// keeps none.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Where the call stands in a trace; `None`: nobody traces. What is asked of others for the
    /// call has a place of its own: see [`CallContext::outbound_span`].
    pub fn trace(&self) -> Option<Trace> {
        self.trace.filter(|trace| trace.goes_on())
    }

    /// What others wrote beside it, for whoever is told the place.
    pub fn trace_state(&self) -> Option<&TraceState> {
        self.trace_state.as_ref().filter(|_| self.trace().is_some())
    }

    /// How many agents have handed on the request that the call is for, before it came here.
    pub fn hops(&self) -> u32 {
        self.hops
    }

    /// Leaves word of how far the call is, at most [`LONGEST_CHECKPOINT`] bytes: an attempt after
    /// this one is given it by [`CallContext::resumed`], in another process too if the call runs
    /// under a key. Where it cannot be kept the call goes on without.
    ///
    /// [`LONGEST_CHECKPOINT`]: crate::LONGEST_CHECKPOINT
    pub async fn checkpoint(&self, text: &str) {
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.leave(text).await;
        }
    }

    /// The last word of an attempt before this one, which may have been made by another process.
    pub fn resumed(&self) -> Option<Arc<str>> {
        self.checkpoints.as_ref()?.last()
    }

    /// Begins a request to somebody else, who does a part of the call. `name`: what is asked for,
    /// without anything that an argument says (a method and a tool, or `GET /pets/{id}`).
    pub fn outbound_span(&self, name: impl FnOnce() -> String) -> OutboundSpan {
        let trace = self.trace();
        let (Some(source), Some(observer), Some(of_call)) = (&self.recorded, &self.observer, trace)
        else {
            return OutboundSpan::untold(trace);
        };
        OutboundSpan::begin(
            Arc::clone(observer),
            OutboundOwner {
                key: self.key,
                source: source.clone(),
                attempt: self.attempt,
                deadline: self.deadline,
            },
            of_call.child(),
            name(),
        )
    }

    /// The same call, of which nobody hears these secrets while it runs; in place of any that were
    /// to be kept back before.
    #[must_use]
    pub fn masked(&self, mask: &Mask) -> Self {
        Self { mask: Some(mask.clone()), ..self.clone() }
    }

    pub fn progress(&self, mut progress: Progress) {
        if let Some(mask) = &self.mask {
            mask.progress(&mut progress);
        }
        if let Some(observer) = &self.observer {
            observer.progress(self.key, &progress);
        }
        if let Some(host) = &self.host {
            host.progress(self.key, progress);
        }
    }

    pub fn log(&self, mut entry: LogEntry) {
        if let Some(mask) = &self.mask {
            mask.log(&mut entry);
        }
        if let Some(host) = &self.host {
            host.log(self.key, entry);
        }
    }

    /// Says that what was to be done at an address which the host was asked to open is done.
    pub fn opened(&self, mut said: JsonFields) {
        if let Some(mask) = &self.mask {
            mask.each(|redactor| redactor.fields(&mut said));
        }
        if let Some(host) = &self.host {
            host.opened(self.key, said);
        }
    }

    /// The lowest level of lines that somebody reads; `None`: nobody reads any.
    pub fn hears(&self) -> Option<LogLevel> {
        self.host.as_ref().and_then(|host| host.hears())
    }

    /// Which questions have somebody to answer them.
    pub fn answers(&self) -> &[QuestionKind] {
        match &self.asker {
            Some(asker) => asker.answers(),
            None => self.host.as_ref().map_or(&[], |host| host.answers()),
        }
    }

    /// Whether what it asks waits for a person under a ticket, since its host can put it to nobody.
    pub fn asks_by_ticket(&self) -> bool {
        self.asker.is_some()
    }

    /// The same call with nobody to answer but its host: what that cannot answer waits for no
    /// person.
    #[must_use]
    pub fn asking_host_alone(&self) -> Self {
        Self { asker: None, unheard: FormFallback::PutAway, ..self.clone() }
    }

    /// What becomes of a form that the host cannot put to anybody.
    pub fn unheard(&self) -> FormFallback {
        self.unheard
    }

    /// When questions reach the host, if it says so.
    pub fn question_timing(&self) -> Option<QuestionTiming> {
        self.host.as_ref().and_then(|host| host.question_timing())
    }

    /// Fails, and says what is lacking, unless the host can answer this.
    pub fn require(&self, question: QuestionKind) -> Result<(), ToolError> {
        if self.answers().contains(&question) {
            return Ok(());
        }
        let told = "the client lacks what this needs: tell the user, or use another tool";
        let refusal = Refusal::new(RefusalReason::HostLacks(question), told);
        Err(refusal.into_error(ErrorKind::Tool))
    }

    /// Asks the host and waits for its answer, or for the end of the call. What nobody would see in
    /// the question is written out; an address that is not the one that a person would read is
    /// shown to nobody.
    pub async fn ask(&self, mut ask: HostQuestion) -> Result<Value, QuestionError> {
        if let Some(mask) = &self.mask {
            mask.ask(&mut ask);
        }
        ask.tell_all();
        if ask.hides_its_address() {
            return Err(QuestionError::Unable);
        }
        let host = self.host.as_ref().filter(|host| host.answers().contains(&ask.question));
        let answer: BoxFuture<'_, _> = match (host, &self.asker) {
            (Some(host), _) => host.ask(self.key, ask),
            (None, Some(asker)) if ask.question == QuestionKind::Form => Arc::clone(asker).ask(ask),
            (None, _) => return Err(QuestionError::Unable),
        };
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(QuestionError::Cancelled),
            answer = answer => answer,
        }
    }
}
