//! Steps 1 to 5: what a call must pass before anybody is asked about it.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::RandomState;
use serde_json::{Map, Value};
use toolcrib_json::repair::{RepairBounds, RepairedJson, UnreadableJson};
use toolcrib_json::schema;

use crate::call::arguments::Arguments;
use crate::call::name::{SourceId, ToolName};
use crate::call::{Call, RawArguments};
use crate::gate::batch::options::{Audience, BatchOptions};
use crate::outcome::messages;
use crate::outcome::{ErrorKind, ToolError, ToolOutcome};
use crate::plan::relay;
use crate::plan::{Exposure, Plan, PlannedTool};
use crate::policy::limits::CribLimits;
use crate::tool::canonical;
use crate::tool::effect::Effect;
use crate::tool::spec::{ToolSpec, Validation, ValidationOrigin};

/// Where a call stands after its admission.
pub(super) enum Admission {
    Answered {
        outcome: ToolOutcome,
        repairs: Vec<String>,
    },
    /// The same call as the one at this position.
    Copy(usize),
    Ready(AdmittedCall),
}

/// A call that may be decided on.
pub(super) struct AdmittedCall {
    /// The tool's place in the catalog.
    pub(super) place: u32,
    pub(super) arguments: Arguments,
    pub(super) repairs: Vec<String>,
}

/// A call on its way through the steps.
enum AdmissionStep<'a> {
    Answered(ToolOutcome),
    Copy(usize),
    Parsed { tool: Option<FoundTool<'a>>, arguments: Map<String, Value>, repairs: Vec<String> },
}

/// A visible tool with its place in the catalog.
type FoundTool<'a> = (u32, PlannedTool<'a>);

/// What holds for the calls of one batch.
pub(super) struct AdmissionTerms<'a> {
    pub(super) max_calls: usize,
    pub(super) limits: &'a CribLimits,
    pub(super) options: &'a BatchOptions,
}

impl AdmissionTerms<'_> {
    /// How arguments meet the schema: as the word says that knows the tool best.
    fn validation(&self, spec: &ToolSpec) -> Validation {
        let is_client = self.options.audience == Audience::Client;
        match spec.validation_said {
            ValidationOrigin::Tool => spec.validation,
            ValidationOrigin::Source => self.limits.validation.unwrap_or(spec.validation),
            ValidationOrigin::Nobody => self.limits.validation.unwrap_or(if is_client {
                Validation::Off
            } else {
                spec.validation
            }),
        }
    }
}

pub(super) fn admit(plan: &Plan, calls: &mut [Call], terms: &AdmissionTerms<'_>) -> Vec<Admission> {
    let mut steps: Vec<_> = calls.iter_mut().map(|call| parse(plan, call, terms)).collect();
    dedupe(calls, &mut steps);
    cap(&mut steps, terms.max_calls);
    guard_control(&mut steps);
    calls.iter().zip(steps).map(|(call, step)| look_up(plan, call, step, terms)).collect()
}

fn failed(kind: ErrorKind, message: String) -> ToolOutcome {
    ToolOutcome::Failed(ToolError::new(kind, message))
}

/// Step 1: arguments may be an object, a JSON string, empty or `null`.
fn parse<'a>(plan: &'a Plan, call: &mut Call, terms: &AdmissionTerms<'_>) -> AdmissionStep<'a> {
    if let Some(fault) = &call.fault {
        return AdmissionStep::Answered(failed(ErrorKind::InvalidCall, messages::no_call(fault)));
    }
    let bounds = &terms.limits.arguments;
    let mut repairs = match relay::resolve(plan, call, bounds) {
        None => Vec::new(),
        Some(Ok(repairs)) => repairs,
        Some(Err(error)) => return AdmissionStep::Answered(ToolOutcome::Failed(error)),
    };
    let tool = plan.place(&call.name).and_then(|place| Some((place, plan.planned(place)?)));
    let signature = || tool.map_or_else(|| "{...}".to_owned(), |(_, tool)| signature(tool));
    let validation = tool.map(|(_, tool)| terms.validation(&tool.listed.spec));
    let strict = validation.is_some_and(|validation| validation != Validation::Coerce);
    let value = match std::mem::take(&mut call.arguments) {
        RawArguments::Absent => Value::Null,
        RawArguments::Value(value) => value,
        RawArguments::Text(text) => match read(&text, bounds, strict, &mut repairs) {
            Ok(value) => value,
            Err(problem) => {
                let message = messages::unreadable(&problem, &signature());
                return AdmissionStep::Answered(failed(ErrorKind::InvalidArguments, message));
            }
        },
    };
    let got = match value {
        Value::Object(arguments) => {
            return AdmissionStep::Parsed { tool, arguments, repairs };
        }
        Value::Null => {
            return AdmissionStep::Parsed { tool, arguments: Map::new(), repairs };
        }
        Value::Array(_) => "a list",
        Value::String(_) => "a string",
        Value::Number(_) => "a number",
        Value::Bool(_) => "true or false",
    };
    let message = messages::not_an_object(got, &signature());
    AdmissionStep::Answered(failed(ErrorKind::InvalidArguments, message))
}

/// The JSON of a text; a text that holds JSON in a string once more is opened once more.
fn read(
    text: &str,
    bounds: &RepairBounds,
    strict: bool,
    repairs: &mut Vec<String>,
) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    let read = |text: &str| {
        if strict {
            let value = bounds.read_strict(text)?;
            return Ok(RepairedJson { value, repairs: Vec::new() });
        }
        bounds.read(text)
    };
    let mut first = read(text).map_err(|error: UnreadableJson| error.to_string())?;
    if let (Value::String(inner), false) = (&first.value, strict)
        && let Ok(second) = read(inner)
        && second.value.is_object()
    {
        repairs.push("opened an object that was written as a string".to_owned());
        first = second;
    }
    repairs.extend(first.repairs.iter().map(ToString::to_string));
    Ok(first.value)
}

/// Step 2: the same name and the same arguments run once; ids do not count. A reader runs again
/// behind a call that may have changed what it reads.
fn dedupe(calls: &[Call], steps: &mut [AdmissionStep<'_>]) {
    if steps.len() < 2 {
        return;
    }
    // Keyed at random, so that nobody can write calls whose hashes fall together.
    let state = RandomState::default();
    let mut seen = HashMap::with_capacity_and_hasher(steps.len(), state.clone());
    let mut last_writers: HashMap<&SourceId, usize, _> = HashMap::with_hasher(state.clone());
    for position in 0..steps.len() {
        let (Some(call), Some(AdmissionStep::Parsed { tool, arguments, .. })) =
            (calls.get(position), steps.get(position))
        else {
            continue;
        };
        let mut hasher = state.build_hasher();
        call.name.hash(&mut hasher);
        canonical::hash_object(arguments, &state, &mut hasher);
        let mut key = hasher.finish();
        // Equal hashes of unequal calls step aside to the next free number.
        let first = loop {
            match seen.get(&key) {
                None => break None,
                Some(first) if is_same(calls, steps, *first, position) => break Some(*first),
                Some(_) => key = key.wrapping_add(1),
            }
        };
        let spec = tool.map(|(_, tool)| &tool.listed.spec);
        let is_stale = |first: usize| {
            let reader = spec.filter(|spec| spec.effect == Effect::Read);
            let writer = reader.and_then(|spec| last_writers.get(&spec.origin.source));
            writer.is_some_and(|writer| *writer > first)
        };
        match first.filter(|first| !is_stale(*first)) {
            None => {
                seen.insert(key, position);
                if let Some(spec) = spec.filter(|spec| spec.effect != Effect::Read) {
                    last_writers.insert(&spec.origin.source, position);
                }
            }
            Some(first) => {
                if let Some(step) = steps.get_mut(position) {
                    *step = AdmissionStep::Copy(first);
                }
            }
        }
    }
}

fn is_same(calls: &[Call], steps: &[AdmissionStep<'_>], first: usize, second: usize) -> bool {
    let name = |position: usize| calls.get(position).map(|call| &call.name);
    let (
        Some(AdmissionStep::Parsed { arguments: one, .. }),
        Some(AdmissionStep::Parsed { arguments: other, .. }),
    ) = (steps.get(first), steps.get(second))
    else {
        return false;
    };
    name(first) == name(second)
        && one.len() == other.len()
        && one.iter().all(|(key, l)| other.get(key).is_some_and(|r| canonical::same(l, r)))
}

/// Step 3: what is beyond the limit is told so.
fn cap(steps: &mut [AdmissionStep<'_>], max_calls: usize) {
    let distinct = steps.iter_mut().filter(|step| !matches!(step, AdmissionStep::Copy(_)));
    for step in distinct.skip(max_calls).filter(|step| matches!(step, AdmissionStep::Parsed { .. }))
    {
        *step =
            AdmissionStep::Answered(failed(ErrorKind::OverLimit, messages::over_limit(max_calls)));
    }
}

/// Step 4: a tool that takes control comes alone, or nothing of the batch runs.
fn guard_control(steps: &mut [AdmissionStep<'_>]) {
    let left = steps.iter().filter(|step| matches!(step, AdmissionStep::Parsed { .. })).count();
    let mut controlling: Vec<_> = steps.iter().filter_map(AdmissionStep::controlling).collect();
    if left < 2 || controlling.is_empty() {
        return;
    }
    controlling.sort();
    controlling.dedup();
    for step in steps.iter_mut().filter(|step| matches!(step, AdmissionStep::Parsed { .. })) {
        let message = step
            .controlling()
            .map_or_else(|| messages::refused_beside(&controlling), messages::comes_alone);
        *step = AdmissionStep::Answered(failed(ErrorKind::ControlConflict, message));
    }
}

impl<'a> AdmissionStep<'a> {
    /// The name of the tool, if the call is still open and its tool takes control.
    fn controlling(&self) -> Option<&'a ToolName> {
        let Self::Parsed { tool: Some((_, tool)), .. } = self else {
            return None;
        };
        let spec = &tool.listed.spec;
        spec.traits.takes_control.then_some(&spec.name)
    }
}

/// Step 5: look up in the pinned plan, then validate.
fn look_up(
    plan: &Plan,
    call: &Call,
    step: AdmissionStep<'_>,
    terms: &AdmissionTerms<'_>,
) -> Admission {
    let (tool, arguments, repairs) = match step {
        AdmissionStep::Answered(outcome) => {
            return Admission::Answered { outcome, repairs: Vec::new() };
        }
        AdmissionStep::Copy(of) => return Admission::Copy(of),
        AdmissionStep::Parsed { tool, arguments, repairs } => (tool, arguments, repairs),
    };
    let Some((place, tool)) = tool else {
        let missing = terms.options.missing.as_ref();
        if let Some(error) = missing.and_then(|why| plan.missing(&call.name, why)) {
            return Admission::Answered { outcome: ToolOutcome::Failed(error), repairs };
        }
        let available: Vec<_> = plan.shown_names().collect();
        let finder = plan.meta_tools().finder.as_ref();
        let nearest = plan.nearest(&call.name);
        let message = messages::unknown_tool(&call.name, &nearest, &available, finder);
        return Admission::Answered { outcome: failed(ErrorKind::UnknownTool, message), repairs };
    };
    if tool.exposure == Exposure::Hidden && !call.relayed && !plan.is_beside(tool.listed) {
        let message = messages::not_loaded(
            &tool.listed.spec.name,
            plan.meta_tools().finder.as_ref(),
            plan.meta_tools().relay.as_ref(),
        );
        return Admission::Answered { outcome: failed(ErrorKind::NotLoaded, message), repairs };
    }
    validate(place, tool, arguments, (repairs, terms.validation(&tool.listed.spec)))
}

fn validate(
    place: u32,
    tool: PlannedTool<'_>,
    arguments: Map<String, Value>,
    (mut repairs, validation): (Vec<String>, Validation),
) -> Admission {
    let ready = |value: Value, repairs| match value {
        Value::Object(fields) => {
            Admission::Ready(AdmittedCall { place, arguments: Arguments::new(fields), repairs })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            let message = messages::not_an_object("something else", &signature(tool));
            let outcome = failed(ErrorKind::InvalidArguments, message);
            Admission::Answered { outcome, repairs: Vec::new() }
        }
    };
    let Some(schema) = tool.listed.schema() else {
        let outcome = failed(ErrorKind::Internal, messages::crashed());
        return Admission::Answered { outcome, repairs };
    };
    let mut value = Value::Object(arguments);
    if validation == Validation::Off || schema.is_valid(&value) {
        return ready(value, repairs);
    }
    if validation == Validation::Coerce {
        let (coerced, notes) = schema.coerce(value);
        if schema.is_valid(&coerced) {
            repairs.extend(notes.iter().map(ToString::to_string));
            return ready(coerced, repairs);
        }
        value = coerced;
    }
    let violations = schema.check(&value).err().map(|violations| violations.to_string());
    let message = messages::refused(&violations.unwrap_or_default(), &signature(tool));
    Admission::Answered { outcome: failed(ErrorKind::InvalidArguments, message), repairs }
}

/// How the tool is called, in one line.
fn signature(tool: PlannedTool<'_>) -> String {
    schema::signature(tool.listed.spec.name.as_str(), &tool.listed.spec.input.value())
}
