//! What the runs tell that work for the run of a stream: AG-UI has them as subagents, and each of
//! their events bears whose it is.

use std::collections::HashSet;

use serde_json::{Value, json};
use toolcrib_agent::{RunEnd, RunEvent, StopReason};

use super::super::live::live_run::RunMeta;
use super::writer::AguiWriter;

/// A run of a stream with those that work for it.
pub(super) struct AguiTree {
    first: AguiWriter,
    children: Vec<AguiChild>,
}

struct AguiChild {
    run: String,
    path: String,
    started: Value,
    /// Whether this stream has told that it is there, and not yet that it is over.
    is_told: bool,
    /// Tickets of people that it waits for.
    tickets: Vec<String>,
    writer: AguiWriter,
}

impl AguiTree {
    pub(super) fn new(meta: &RunMeta, body: &Value) -> Self {
        Self { first: AguiWriter::new(meta, body), children: Vec::new() }
    }

    pub(super) fn begin(&self, body: &Value) -> Vec<Value> {
        self.first.begin(body)
    }

    /// Whether the last event was told.
    pub(super) fn is_over(&self) -> bool {
        self.first.is_over()
    }

    /// The last event of a run that failed.
    pub(super) fn failed(&mut self, message: &str, code: &str) -> Value {
        self.first.failed(message, code)
    }

    /// Takes what another stream told of the run before. `known`: calls whose results came since,
    /// and that the client has by another way.
    pub(super) fn recall(&mut self, told: &[RunEvent], known: HashSet<String>) {
        for event in told {
            self.hear(event);
        }
        self.suspend();
        self.first.recall(&[], known);
    }

    pub(super) fn hear(&mut self, event: &RunEvent) -> Vec<Value> {
        if let RunEvent::ChildStarted { path, run, agent, task, call } = event {
            return self.child_begins((path, run), (agent, task), call);
        }
        if let RunEvent::Child { run, event, .. } = event {
            return self.child_tells(run, event);
        }
        self.first.hear(event)
    }

    /// The run waits for a person.
    pub(super) fn pause(&mut self, interrupts: &[Value]) -> Vec<Value> {
        let mut events = self.suspend();
        events.extend(self.first.pause(interrupts));
        events
    }

    /// The call that waits under a ticket.
    pub(super) fn call_of(&self, ticket: &str) -> Option<&str> {
        let of_child = || self.children.iter().find_map(|child| child.writer.call_of(ticket));
        self.first.call_of(ticket).or_else(of_child)
    }

    fn child_begins(
        &mut self,
        (path, run): (&str, &str),
        (agent, task): (&str, &str),
        call: &str,
    ) -> Vec<Value> {
        // What it told before is told again, by a process that took it up.
        self.children.retain(|child| child.run != run);
        let mut started = json!({
            "type": "SUBAGENT_STARTED", "subagentRunId": run, "name": agent, "description": task,
            "parentToolCallId": call,
        });
        let above = path.rsplit_once('/').map(|(above, _)| above);
        let above = self.children.iter().find(|child| Some(child.path.as_str()) == above);
        if let (Some(above), Value::Object(fields)) = (above, &mut started) {
            fields.insert("parentSubagentRunId".to_owned(), above.run.clone().into());
        }
        self.children.push(AguiChild {
            run: run.to_owned(),
            path: path.to_owned(),
            started: started.clone(),
            is_told: true,
            tickets: Vec::new(),
            writer: AguiWriter::of_child(run),
        });
        vec![started]
    }

    fn child_tells(&mut self, run: &str, event: &RunEvent) -> Vec<Value> {
        let Some(child) = self.children.iter_mut().find(|child| child.run == run) else {
            return Vec::new();
        };
        if let RunEvent::Waiting { call } = event {
            child.tickets.push(call.ticket.clone());
        }
        if let RunEvent::Ended { end, .. } = event {
            return child.end(end);
        }
        child.tell(|writer| writer.hear(event))
    }

    /// The stream ends while they wait.
    fn suspend(&mut self) -> Vec<Value> {
        // Those below first.
        let mut all = Vec::new();
        for child in self.children.iter_mut().rev().filter(|child| child.is_told) {
            let mut events = child.tell(AguiWriter::close_message);
            let outcome = json!({ "type": "suspended", "interruptIds": child.tickets });
            child.is_told = false;
            events.push(json!({
                "type": "SUBAGENT_FINISHED", "subagentRunId": child.run, "outcome": outcome,
            }));
            all.extend(events);
        }
        all
    }
}

impl AguiChild {
    fn tell(&mut self, write: impl FnOnce(&mut AguiWriter) -> Vec<Value>) -> Vec<Value> {
        let mut events = Vec::new();
        let told = write(&mut self.writer);
        // Steps are of the run as a whole: names of those at the same time would be mixed up.
        let told = told.into_iter().filter(|event| {
            let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
            !kind.starts_with("STEP_")
        });
        for mut event in told {
            if !std::mem::replace(&mut self.is_told, true) {
                events.push(self.started.clone());
            }
            if let Value::Object(fields) = &mut event {
                fields.insert("subagentRunId".to_owned(), self.run.clone().into());
            }
            events.push(event);
        }
        events
    }

    fn end(&mut self, end: &RunEnd) -> Vec<Value> {
        let mut events = self.tell(|writer| {
            let mut events = writer.close_message();
            events.extend(writer.answer_open());
            events
        });
        if !std::mem::replace(&mut self.is_told, true) {
            events.push(self.started.clone());
        }
        self.is_told = false;
        let run = &self.run;
        events.push(match (&end.fault, end.stop) {
            (Some(fault), _) => json!({
                "type": "SUBAGENT_ERROR", "subagentRunId": run, "message": fault.message,
                "code": fault.kind.as_str(),
            }),
            (None, StopReason::Cancelled) => json!({
                "type": "SUBAGENT_ERROR", "subagentRunId": run, "message": "it was cancelled",
                "code": "cancelled",
            }),
            (None, stop) => json!({
                "type": "SUBAGENT_FINISHED", "subagentRunId": run,
                "result": { "stop": stop, "text": end.text }, "outcome": { "type": "success" },
            }),
        });
        events
    }
}
