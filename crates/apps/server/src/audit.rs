//! The record of what was decided and how it ended: a file of JSON lines, each of which holds the
//! hash of the one before, so that none can be changed or taken out without a trace.
//!
//! Beside it `FILE.head` names the last record that is on the disk: what is missing at the end is
//! missed. Records hold digests of arguments and no argument, and no secret that is known.
//!
//! Read in this order: `chain` (what a line is), `rotation` (where lines are), `file` and `writer`
//! (the one thread that writes), `open_decisions` (which have no end), `interrupted_calls` (those
//! of a process before, which did not live to record them), `verify`.

mod chain;
mod error;
mod file;
mod interrupted_calls;
mod open_decisions;
mod rotation;
#[cfg(feature = "cli")]
mod verify;
mod writer;

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_config::AuditSettings;
use toolcrib_core::{
    BoxFuture, CallDecided, CallFinished, Caller, Effect, Fingerprint, LedgerError, ProvidedCall,
    QuestionEvent, ToolOutcome,
};
use toolcrib_store::{CallRecord, KnownEnd, Store};

use error::AuditError;
use file::AuditFile;
use interrupted_calls::InterruptedCall;
#[cfg(feature = "cli")]
pub(crate) use verify::{ChainFault, VerifiedChain, verify};
use writer::AuditWriter;

use crate::secrets;
use crate::telemetry::recent_calls::cut;

/// An open record.
pub(crate) struct AuditLog {
    writer: AuditWriter,
    required: bool,
    left: Vec<InterruptedCall>,
}

/// What a person says of a call of whose outcome nobody knows.
pub(crate) struct Resolution<'a> {
    pub(crate) call: &'a CallRecord,
    pub(crate) end: KnownEnd,
    pub(crate) by: &'a Caller,
}

impl Resolution<'_> {
    fn record(&self, stage: &str) -> Value {
        let Self { call, end, by } = self;
        json!({
            "record": "resolution",
            "call": call.key,
            "tenant": call.tenant,
            "subject": call.subject,
            "tool": call.tool,
            "source": call.source,
            "stage": stage,
            "ending": end.state(),
            "resolved_by": { "tenant": by.tenant, "subject": by.subject },
        })
    }
}

impl AuditLog {
    /// Opens the file, or makes it; its last record must be whole.
    pub(crate) fn open(settings: &AuditSettings) -> Result<Self, AuditError> {
        let (writer, left) = AuditWriter::start(settings)?;
        let audit = Self { writer, required: settings.required, left };
        audit.note(json!({ "record": "start", "version": env!("CARGO_PKG_VERSION") }));
        Ok(audit)
    }

    /// Fails as [`AuditLog::open`] would, and leaves all as it is.
    pub(crate) fn try_out(settings: &AuditSettings) -> Result<(), AuditError> {
        AuditFile::try_out(&settings.file)
    }

    /// Records how the calls ended whose end a process before did not live to record. To be asked
    /// before any call. `store`: where the ends are that outlived it.
    pub(crate) async fn resume(&self, store: Option<&Store>) -> anyhow::Result<()> {
        let mut ends = HashMap::new();
        if let Some(store) = store.filter(|_| !self.left.is_empty()) {
            ends = store.endings(self.left.iter().map(|left| left.call.clone()).collect()).await?;
        }
        for left in &self.left {
            self.note(left.outcome(store, ends.get(&left.call).copied()).await);
        }
        Ok(())
    }

    /// Resolves when the decision is written; for what may change something, when it is on the
    /// disk.
    pub(crate) fn decided<'a>(
        &'a self,
        call: &CallDecided<'a>,
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        let spec = &call.tool.spec;
        let arguments = Fingerprint::of(&call.arguments.clone().into_value());
        let record = json!({
            "record": "decision",
            "call": call.key,
            "tenant": call.caller.tenant,
            "subject": call.caller.subject,
            "tool": spec.name,
            "source": spec.origin.source,
            "effect": spec.effect,
            "fingerprint": call.tool.fingerprint,
            "arguments": arguments,
            "ruling": call.ruling.as_str(),
            "reason": call.ruling.reason().map(cut),
            "policy": call.policy,
            "ticket": call.ticket,
            "decided_by": call.decider.map(|by| json!({ "tenant": by.tenant, "subject": by.subject })),
        });
        let record = masked(record);
        let reads = spec.effect == Effect::Read;
        Box::pin(async move {
            if reads || !self.required {
                self.writer.hand_over_in_turn(record).await;
                return Ok(());
            }
            self.writer.ask(record).await.map_err(LedgerError::new)
        })
    }

    /// What was asked and answered stands in no record.
    pub(crate) fn questioned(&self, question: &QuestionEvent<'_>) {
        self.note(json!({
            "record": "question",
            "call": question.key,
            "tenant": question.caller.tenant,
            "subject": question.caller.subject,
            "tool": question.tool.spec.name,
            "source": question.tool.spec.origin.source,
            "ticket": question.ticket,
            "stage": question.stage.as_str(),
            "decided_by": question.by.map(|by| json!({ "tenant": by.tenant, "subject": by.subject })),
        }));
    }

    /// Resolves when what a person says of a call is on the disk, if that is required: it lets
    /// calls like it run.
    pub(crate) async fn resolved(&self, resolution: &Resolution<'_>) -> Result<(), AuditError> {
        let record = masked(resolution.record("given"));
        if !self.required {
            self.writer.hand_over_in_turn(record).await;
            return Ok(());
        }
        self.writer.ask(record).await
    }

    /// Resolves when what the operator changes is on the disk, if that is required: it may let calls
    /// run that did not.
    pub(crate) async fn changed(&self, records: Vec<Value>) -> Result<(), AuditError> {
        let mut records = records.into_iter().map(masked).peekable();
        while let Some(record) = records.next() {
            // One that is on the disk has those before it on the disk.
            if self.required && records.peek().is_none() {
                return self.writer.ask(record).await;
            }
            self.writer.hand_over_in_turn(record).await;
        }
        Ok(())
    }

    /// Resolves when it is on the disk which tools a person accepted, if that is required.
    pub(crate) async fn pinned(&self, record: Value) -> Result<(), AuditError> {
        let record = masked(record);
        if !self.required {
            self.writer.hand_over_in_turn(record).await;
            return Ok(());
        }
        self.writer.ask(record).await
    }

    /// The call has another end all the same, or none: something was faster, or could not be
    /// written.
    pub(crate) fn void(&self, resolution: &Resolution<'_>) {
        self.note(resolution.record("void"));
    }

    pub(crate) fn ended(&self, call: &CallFinished<'_>) {
        if !call.was_decided {
            let spec = call.tool.map(|tool| tool.spec);
            self.note(json!({
                "record": "decision",
                "call": call.key,
                "tenant": call.caller.tenant,
                "subject": call.caller.subject,
                "tool": cut(call.name),
                "source": spec.map(|spec| &spec.origin.source),
                "effect": spec.map(|spec| spec.effect),
                "ruling": "refuse",
                "reason": word(call.outcome),
            }));
        }
        self.note(json!({
            "record": "outcome",
            "call": call.key,
            "outcome": call.outcome.as_str(),
            "kind": word(call.outcome),
            "attempts": call.attempts,
            "ran_us": u64::try_from(call.ran.as_micros()).unwrap_or(u64::MAX),
        }));
    }

    /// What the provider of a model says that it did: nothing of it was decided here.
    pub(crate) fn provided(&self, call: &ProvidedCall<'_>) {
        let arguments = serde_json::from_str(call.arguments).unwrap_or(Value::Null);
        let arguments = (!arguments.is_null()).then(|| Fingerprint::of(&arguments));
        self.note(json!({
            "record": "provided",
            "tenant": call.caller.tenant,
            "subject": call.caller.subject,
            "agent": call.agent,
            "run": Some(call.run).filter(|run| !run.is_empty()),
            "tool": cut(call.name),
            "source": call.source,
            "arguments": arguments,
            "outcome": if call.is_failed { "failed" } else { "done" },
        }));
    }

    /// Something that nobody waits for.
    pub(crate) fn note(&self, record: Value) {
        self.writer.hand_over(masked(record));
    }

    /// Whether decisions can be recorded, as far as the last attempt shows, or need not be.
    pub(crate) fn lets_act(&self) -> bool {
        !self.required || self.writer.works()
    }

    /// Records that were written, and those that wait for a file that cannot be written.
    pub(crate) fn counts(&self) -> (u64, u64) {
        self.writer.counts()
    }

    /// Writes what is left, within this time.
    pub(crate) fn close(&self, patience: Duration) {
        self.note(json!({ "record": "stop" }));
        self.writer.flush(patience);
    }
}

fn word(outcome: &ToolOutcome) -> Option<&'static str> {
    match outcome {
        ToolOutcome::Failed(error) => Some(error.kind.as_str()),
        ToolOutcome::Done(_) | ToolOutcome::Denied { .. } | ToolOutcome::Pending(_) => None,
    }
}

/// Without secrets, and without fields that say nothing.
fn masked(mut record: Value) -> Value {
    if let Value::Object(fields) = &mut record {
        fields.retain(|_, value| !value.is_null());
    }
    secrets::mask(&mut record);
    record
}

#[cfg(test)]
mod tests;
