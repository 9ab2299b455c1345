//! Step 10: one response for each call, in call order, with checks, references and debug record.

use std::collections::HashMap;
use std::sync::Arc;

use super::batch::Batch;
use crate::call::Call;
use crate::gate::batch::pending_call::EndedCall;
use crate::outcome::messages;
use crate::outcome::response::{CallFlag, Citation, DebugRecord, Report, Response};
use crate::outcome::run::Run;
use crate::outcome::{ErrorKind, ToolError, ToolOutcome};
use crate::plan::{Plan, PlannedTool};

pub(super) fn report(batch: Arc<Batch>, ended: Vec<EndedCall>) -> Report {
    // The tasks of the batch are over, and most of the time so are their shares of it.
    let (plan, calls) = match Arc::try_unwrap(batch) {
        Ok(batch) => (batch.plan, batch.calls),
        Err(shared) => (shared.plan.clone(), shared.calls.clone()),
    };
    let mut numbers = CitationNumbers::after(plan.run());
    let mut responses: Vec<Response> = Vec::with_capacity(calls.len());
    for (call, ended) in calls.into_iter().zip(ended) {
        // A copy always stands behind the call that it copies.
        let original = ended.copy_of.and_then(|of| responses.get(of));
        let response = match original {
            Some(original) => copy(original, call),
            None => respond(&plan, call, ended, &mut numbers),
        };
        responses.push(response);
    }
    Report { responses }
}

fn respond(
    plan: &Plan,
    call: Call,
    ended: EndedCall,
    numbers: &mut CitationNumbers<'_>,
) -> Response {
    let tool = ended.place.and_then(|place| plan.planned(place));
    let outcome = ended.outcome;
    let marks = [
        (ended.replayed, CallFlag::Replayed),
        (ended.was_begun, CallFlag::Resumed),
        (call.relayed, CallFlag::Relayed),
    ];
    let done = outcome.is_done();
    let mut debug = DebugRecord {
        key: ended.key,
        attempts: ended.attempts,
        waited: ended.waited,
        ran: ended.ran,
        cause: ended.ledger_fault,
        flags: marks.into_iter().filter_map(|(applies, flag)| applies.then_some(flag)).collect(),
        ..DebugRecord::default()
    };
    let mut response =
        Response { repairs: ended.repairs, whole: ended.whole, ..Response::of_call(call, outcome) };
    if let Some(error) = response.error() {
        debug.cause = error.causes().or(debug.cause);
    }
    if let Some(tool) = tool {
        let spec = &tool.listed.spec;
        debug.tool = Some(spec.name.clone());
        debug.source = Some(spec.origin.source.clone());
        debug.flags.extend(flags(tool));
        if done {
            response.checks.clone_from(&spec.checks);
            response.handed_over = spec.traits.takes_control;
        }
    }
    if let Some(content) = response.content() {
        response.references =
            content.references.iter().map(|reference| numbers.cite(reference)).collect();
    }
    response.debug = debug;
    response
}

fn flags(tool: PlannedTool<'_>) -> Vec<CallFlag> {
    let traits = &tool.listed.spec.traits;
    [
        (tool.forced, CallFlag::Forced),
        (traits.exclusive, CallFlag::Exclusive),
        (traits.capability, CallFlag::Capability),
        (traits.takes_control, CallFlag::TakesControl),
        (tool.listed.stale, CallFlag::Stale),
    ]
    .into_iter()
    .filter_map(|(applies, flag)| applies.then_some(flag))
    .collect()
}

/// The same answer under another call's id.
fn copy(original: &Response, call: Call) -> Response {
    Response {
        id: call.id,
        wire: call.wire,
        duplicate_of: Some(original.id.clone()),
        ..original.clone()
    }
}

/// Numbers sources across the run: a known one keeps its number.
struct CitationNumbers<'a> {
    run: &'a Run,
    fresh: HashMap<String, usize>,
}

impl<'a> CitationNumbers<'a> {
    fn after(run: &'a Run) -> Self {
        Self { run, fresh: HashMap::new() }
    }

    fn cite(&mut self, reference: &crate::outcome::content::Reference) -> Citation {
        let run = self.run;
        let number = run.number_of(&reference.id).unwrap_or_else(|| {
            let next = run.source_count() + self.fresh.len() + 1;
            *self.fresh.entry(reference.id.clone()).or_insert(next)
        });
        Citation { number: u32::try_from(number).unwrap_or(u32::MAX), reference: reference.clone() }
    }
}

/// The answer of a call whose batch was answered before, with sources numbered after this run.
pub(super) fn late(batch: &Batch, position: usize, ended: EndedCall, run: &Run) -> Response {
    let call = batch.calls.get(position).cloned().unwrap_or_default();
    respond(&batch.plan, call, ended, &mut CitationNumbers::after(run))
}

/// What was recorded of a call, without the call.
pub(super) fn alone(ended: EndedCall) -> Response {
    let debug = DebugRecord {
        key: ended.key,
        attempts: ended.attempts,
        flags: vec![CallFlag::Replayed],
        ..DebugRecord::default()
    };
    Response {
        repairs: ended.repairs,
        whole: ended.whole,
        debug,
        ..Response::of_call(Call::default(), ended.outcome)
    }
}

/// The answers to a batch that could not even be admitted: a fault of ours, nothing of it ran,
/// and still every call is answered.
pub(super) fn broken(calls: Vec<Call>) -> Report {
    let error = ToolError::new(ErrorKind::Internal, messages::not_admitted());
    let failed = || ToolOutcome::Failed(error.clone());
    let responses = calls.into_iter().map(|call| Response::of_call(call, failed()));
    Report { responses: responses.collect() }
}
