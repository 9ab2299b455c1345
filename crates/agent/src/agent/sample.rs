//! A run that is one of many samples: what comes to it is noted as training needs it.

use std::time::Duration;

use serde_json::{Map, Value};
use toolcrib_core::{
    Call, CallFlag, Content, Fingerprint, Part, Plan, Report, Response, ToolOutcome,
};

use super::{AgentRun, ChildRun};
use crate::item::ThreadItem;
use crate::model::{ModelAnswer, ModelApi};
use crate::run::notes::{CallNote, ChildNotes, RunNotes, TurnNote};
use crate::stop::StopReason;
use crate::usage::Usage;

/// Under these keys of `_meta` an MCP server says what its result is worth.
const REWARD: &str = "toolcrib/reward";
const METRICS: &str = "toolcrib/metrics";
/// Metrics of one result that are kept.
const MOST_METRICS: usize = 64;

impl AgentRun {
    /// A run that is one of many samples of its task. What comes to it is noted in detail, and the
    /// key of a call names its arguments too: where the run begins anew under its id, what it calls
    /// as before is answered from the record, and what it calls otherwise is a call of its own.
    ///
    /// `result_tokens`: of one result that are told at the most; `None`: as the crib has it.
    #[must_use]
    pub fn as_sample(mut self, result_tokens: Option<usize>) -> Self {
        self.notes = Some(Box::new(RunNotes::new(result_tokens)));
        self
    }

    /// What came to it; `None`: it is no sample, or they were taken before.
    pub fn take_notes(&mut self) -> Option<Box<RunNotes>> {
        self.notes.take()
    }

    /// Of a sample, since its beginning.
    pub(super) fn noted_time(&self) -> Duration {
        self.notes.as_ref().map_or(Duration::ZERO, |notes| notes.now())
    }

    pub(super) fn note_answer(
        &mut self,
        answer: &mut ModelAnswer,
        (plan, began, usage): (&Plan, Duration, Usage),
    ) {
        let is_first = self.notes.as_ref().is_some_and(|notes| notes.turns.is_empty());
        let tools = is_first.then(|| self.tools_in_chat(plan));
        let Some(notes) = &mut self.notes else { return };
        if let Some(tools) = tools {
            notes.tools = tools;
        }
        let item = self.state.items.len();
        let from = notes.turns.last().map_or(0, |turn| turn.item);
        let since = self.state.items.get(from..).unwrap_or_default();
        let is_branch = since.iter().any(|item| matches!(item, ThreadItem::Summary { .. }));
        let tokens = answer.sampled.take().map(|told| notes.tokens(*told, is_branch));
        let (ended, was_cut) = (notes.now(), answer.was_cut);
        notes.turns.push(TurnNote { item, began, ended, usage, was_cut, tokens });
    }

    /// All tools that the model is shown, as the chat API is told of them.
    fn tools_in_chat(&self, plan: &Plan) -> Value {
        let mut tools = ModelApi::OpenAiChat.dialect().tools(plan);
        let further = self.further_tools();
        let further = further.iter().map(|tool| tool.definition(ModelApi::OpenAiChat));
        if let Some(tools) = tools.as_array_mut() {
            tools.extend(further);
        } else if further.len() > 0 {
            tools = further.collect();
        }
        tools
    }

    /// Notes what calls came to, once their results are as the model reads them.
    pub(super) fn note_calls(&mut self, report: &mut Report, began: Duration) {
        let Some(notes) = &mut self.notes else { return };
        let ended = notes.now();
        for response in &mut report.responses {
            let cut = notes.result_tokens.and_then(|most| cut(response, most));
            let told = response.content().and_then(|content| content.extra.get("_meta"));
            let told = told.and_then(Value::as_object);
            let reward = told.and_then(|told| told.get(REWARD)).and_then(Value::as_f64);
            let metrics = told.and_then(|told| told.get(METRICS)).and_then(Value::as_object);
            notes.calls.push(CallNote {
                id: response.id.clone(),
                tool: response.name.clone(),
                began,
                ended,
                waited: response.debug.waited,
                ran: response.debug.ran,
                attempts: response.debug.attempts,
                is_replayed: response.debug.flags.contains(&CallFlag::Replayed),
                reward,
                metrics: metrics.map_or_else(Map::new, numbers),
                cut,
            });
        }
    }

    /// Notes what came to a run that worked for a sample.
    pub(super) fn note_child(&mut self, child: &mut ChildRun, stop: StopReason) {
        let Some(notes) = &mut self.notes else { return };
        let Some(own) = child.run.take_notes() else { return };
        let agent = &child.run.agent;
        notes.children.push(ChildNotes {
            run: child.id.clone(),
            call: child.call.id.clone(),
            agent: agent.name.clone(),
            model: agent.model.settings().name.clone(),
            instructions: agent.instructions.clone(),
            items: child.run.items().to_vec(),
            stop,
            notes: *own,
        });
    }

    /// The key of a call of a sample, which begins anew under its id.
    pub(super) fn name_sampled(&self, call: &mut Call) {
        if self.notes.is_none() {
            return;
        }
        let Some(key) = &mut call.key else { return };
        let print = Fingerprint::of(&Value::String(format!("{:?}", call.arguments)));
        let print: String = print.to_string().chars().take(16).collect();
        key.push(':');
        key.push_str(&print);
    }
}

fn numbers(told: &Map<String, Value>) -> Map<String, Value> {
    let numbers = told.iter().filter(|(_, value)| value.is_number());
    numbers.take(MOST_METRICS).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Cuts a result to so many tokens and says so; its tokens before and after, if it was longer.
fn cut(response: &mut Response, most: usize) -> Option<(usize, usize)> {
    let ToolOutcome::Done(content) = &response.outcome else { return None };
    let text = response.text();
    // No token has less than one byte.
    if text.len() <= most {
        return None;
    }
    let all = toolcrib_tokens::count(&text);
    if all <= most {
        return None;
    }
    let first = toolcrib_tokens::first(&text, most);
    let note = format!("{first}\n[The first {most} of {all} tokens of this result.]");
    let extra = content.extra.clone();
    let parts = vec![Part::text(note)];
    response.outcome = ToolOutcome::Done(Content { parts, extra, ..Content::default() });
    // They stand in the text already.
    response.references.clear();
    response.repairs.clear();
    Some((all, most))
}
