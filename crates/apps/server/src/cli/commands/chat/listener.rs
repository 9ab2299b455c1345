//! What a run tells, as lines for a person or as JSON.

use anyhow::{Result, anyhow};
use toolcrib_agent::{CallEnd, CallOutcome, CallText, RunEnd, RunEvent, RunReference, StopReason};
use toolcrib_json::invisible::exact;

use crate::cli::output::Output;

/// Of arguments and results a person sees so many characters.
const SHOWN: usize = 200;

/// Prints what a run tells.
pub(super) struct ChatListener<'a> {
    output: &'a Output,
    /// The last that was printed of an answer did not end its line.
    is_within_line: bool,
    /// Nobody reads us any more.
    fault: Option<anyhow::Error>,
}

impl<'a> ChatListener<'a> {
    pub(super) fn new(output: &'a Output) -> Self {
        Self { output, is_within_line: false, fault: None }
    }

    pub(super) fn hear(&mut self, event: &RunEvent) {
        if self.fault.is_none()
            && let Err(fault) = self.tell(event)
        {
            self.fault = Some(fault);
        }
    }

    /// Ends the line of an answer; an error if nobody reads it.
    pub(super) fn end(mut self) -> Result<()> {
        if self.fault.is_none() {
            self.new_line()?;
        }
        self.fault.map_or(Ok(()), Err)
    }

    fn tell(&mut self, event: &RunEvent) -> Result<()> {
        if self.output.json {
            return self.output.line(&event.to_json());
        }
        match event {
            RunEvent::Text { delta } => {
                self.output.words(delta)?;
                self.is_within_line = !delta.ends_with('\n');
            }
            RunEvent::Retracted { why } => {
                self.new_line()?;
                self.output.note(&format!("{why}; the answer begins anew"));
            }
            RunEvent::Calls { calls } => {
                self.new_line()?;
                for called_tool in calls {
                    self.output.note(&called(&called_tool.call));
                }
            }
            RunEvent::CallDone { response } => self.output.note(&done(response)),
            RunEvent::Progress { text } => self.output.note(&cut(text)),
            RunEvent::Notice { text } => {
                self.new_line()?;
                self.output.note(text);
            }
            RunEvent::Checked { verdict } => {
                self.new_line()?;
                self.output.note(&format!(
                    "the check `{}`: {}. {}",
                    exact(&verdict.name),
                    verdict.outcome.as_str(),
                    cut(&verdict.reason),
                ));
            }
            RunEvent::Compacted { hides, .. } => {
                self.new_line()?;
                self.output.note(&format!(
                    "the thread is longer than the model reads: its first {hides} entries were \
                     summed up"
                ));
            }
            RunEvent::ChildStarted { path, agent, task, .. } => {
                self.new_line()?;
                self.output.note(&format!("{}`{}`: {}", indent(path), exact(agent), cut(task)));
            }
            RunEvent::Child { path, event, .. } => {
                if let Some(line) = of_child(event) {
                    self.new_line()?;
                    self.output.note(&format!("{}  {line}", indent(path)));
                }
            }
            RunEvent::Ended { end, .. } => self.ended(end)?,
            RunEvent::TurnStarted { .. }
            | RunEvent::Reasoning { .. }
            | RunEvent::Waiting { .. }
            | RunEvent::Usage { .. } => {}
        }
        Ok(())
    }

    fn ended(&mut self, end: &RunEnd) -> Result<()> {
        self.new_line()?;
        if let Some(fault) = &end.fault {
            let message = fault.message.clone();
            self.output.error(&match &fault.detail {
                Some(detail) => anyhow!(detail.clone()).context(message),
                None => anyhow!(message),
            });
        } else if matches!(end.stop, StopReason::HandedOver | StopReason::Withheld) {
            self.output.text(&end.text)?;
        } else if end.stop.is_limit() {
            self.output.note(&format!("the run ended at a limit: {}", end.stop.as_str()));
        }
        let cited = end.references.iter().filter(|source| source.cited);
        let lines: Vec<_> = cited.map(source).collect();
        if !lines.is_empty() {
            self.output.text(&format!("\n{}", lines.join("\n")))?;
        }
        Ok(())
    }

    fn new_line(&mut self) -> Result<()> {
        if std::mem::take(&mut self.is_within_line) {
            self.output.words("\n")?;
        }
        Ok(())
    }
}

/// By how far below a run stands.
fn indent(path: &str) -> String {
    "  ".repeat(path.split('/').count())
}

/// What is shown of what a run tells that works for the one that is listened to.
fn of_child(event: &RunEvent) -> Option<String> {
    match event {
        RunEvent::Calls { calls } => {
            let calls: Vec<_> = calls.iter().map(|one| called(&one.call)).collect();
            Some(calls.join("; "))
        }
        RunEvent::CallDone { response } => Some(done(response)),
        RunEvent::Progress { text } | RunEvent::Notice { text } => Some(cut(text)),
        RunEvent::Retracted { why } => Some(format!("{why}; its answer begins anew")),
        RunEvent::Ended { end, .. } => match &end.fault {
            Some(fault) => Some(format!("it ended: {}", exact(&fault.message))),
            None => Some(format!("it answers: {}", cut(&end.text))),
        },
        RunEvent::TurnStarted { .. }
        | RunEvent::Text { .. }
        | RunEvent::Reasoning { .. }
        | RunEvent::Compacted { .. }
        | RunEvent::Checked { .. }
        | RunEvent::Waiting { .. }
        | RunEvent::ChildStarted { .. }
        | RunEvent::Child { .. }
        | RunEvent::Usage { .. } => None,
    }
}

fn called(call: &CallText) -> String {
    format!("calls `{}` with {}", exact(&call.name), cut(&call.arguments))
}

fn source(source: &RunReference) -> String {
    let url = source.url.as_ref().filter(|url| *url != source.label());
    let url = url.map(|url| format!(" <{}>", exact(url))).unwrap_or_default();
    format!("[{}] {}{url}", source.number, exact(source.label()))
}

fn done(end: &CallEnd) -> String {
    let name = exact(&end.name);
    match end.outcome {
        CallOutcome::Done => format!("`{name}`: {}", cut(&end.text)),
        CallOutcome::Failed => format!("`{name}` failed: {}", cut(&end.text)),
        CallOutcome::Denied => format!("`{name}` was denied: {}", cut(&end.text)),
        CallOutcome::Pending => format!("`{name}` waits for a person"),
    }
}

/// The beginning, on one line, with every letter to be seen.
pub(super) fn cut(text: &str) -> String {
    let line = exact(text.trim()).replace('\n', " ");
    let mut cut: String = line.chars().take(SHOWN).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    cut
}
