//! An answer that is checked before the run ends with it.

use toolcrib_core::{NextStep, Report, Run};

use super::end::RunEnd;
use super::verdict::{CheckOutcome, CheckVerdict, Evidence};
use super::{RunEffect, RunPhase, RunState};
use crate::item::{InputPart, ThreadItem};
use crate::stop::StopReason;

impl RunState {
    /// Ends with an answer, or has it checked before. Behind a gate the thread does not have it
    /// until it has passed.
    pub(super) fn conclude(
        &mut self,
        stop: StopReason,
        text: String,
        item: ThreadItem,
    ) -> RunEffect {
        let names = self.wanted_checks();
        if names.is_empty() || text.trim().is_empty() {
            self.items.push(item);
            return self.end(stop, text);
        }
        let held = if self.checks.gate {
            Some(item)
        } else {
            self.items.push(item);
            None
        };
        self.phase = RunPhase::Checking { stop, text: text.clone(), held };
        RunEffect::Check { names, answer: text }
    }

    /// The checks of this run: those of every answer, and those that its tools asked for.
    pub(super) fn wanted_checks(&self) -> Vec<String> {
        self.checks_after(&self.run)
    }

    fn checks_after(&self, run: &Run) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        if self.checks.are_made {
            let asked = run.checks().map(str::to_owned);
            for name in self.checks.always.iter().cloned().chain(asked) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// The end of a run whose answer was judged.
    pub(super) fn judged(
        &mut self,
        (stop, text): (StopReason, String),
        held: Option<ThreadItem>,
        checks: Vec<CheckVerdict>,
    ) -> RunEffect {
        // What is held is behind a gate, whatever the agent has now.
        let is_gated = held.is_some();
        let passes = checks.iter().all(|check| check.outcome == CheckOutcome::Passed);
        if is_gated && !passes {
            let told = withheld(&checks);
            self.items.extend(held.map(|held| in_place_of(held, &told)));
            self.phase = RunPhase::Ended;
            return RunEffect::End(RunEnd { checks, ..RunEnd::new(StopReason::Withheld, told) });
        }
        self.items.extend(held);
        self.phase = RunPhase::Ended;
        RunEffect::End(RunEnd { checks, ..RunEnd::new(stop, text) })
    }

    /// The end of a run that nobody judges any more: the thread is told that a call of it has run.
    pub(super) fn leave_unjudged(&mut self, held: Option<ThreadItem>) {
        let of_tool = held.filter(|held| matches!(held, ThreadItem::Results { .. }));
        let told = "This call has run. What it gave is not shown: the run ended before the checks.";
        self.items.extend(of_tool.map(|held| in_place_of(held, told)));
    }

    /// Whether the answer of a tool that takes over is behind the gate: nothing of it is told before
    /// its checks.
    pub(crate) fn holds(&self, report: &Report) -> bool {
        let mut run = self.run.clone();
        let NextStep::HandedOver { text, .. } = run.absorb(report) else { return false };
        self.checks.gate && !text.trim().is_empty() && !self.checks_after(&run).is_empty()
    }

    /// What the user said last.
    pub(crate) fn question(&self) -> String {
        let last = self.items.iter().rev().find_map(|item| match item {
            ThreadItem::User { parts } => Some(parts),
            ThreadItem::System { .. }
            | ThreadItem::Assistant { .. }
            | ThreadItem::Results { .. }
            | ThreadItem::Summary { .. } => None,
        });
        let texts = last.into_iter().flatten().filter_map(|part| match part {
            InputPart::Text { text } => Some(text.as_str()),
            InputPart::Image { .. } | InputPart::ImageUrl { .. } | InputPart::File { .. } => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// What tools of ours gave. What a caller brought as a result is the caller's word, and proves
    /// nothing.
    pub(crate) fn evidence(&self) -> Vec<Evidence> {
        let mut evidence = Vec::new();
        // What a tool that took over gave is its answer.
        let held =
            if let RunPhase::Checking { held, .. } = &self.phase { held.as_ref() } else { None };
        for (place, item) in self.items.iter().chain(held).enumerate() {
            let ThreadItem::Results { results, echo } = item else { continue };
            // Only an API that we asked can have given an echo.
            if place < self.began_at && echo.is_none() {
                continue;
            }
            let given = results.iter().filter(|result| !result.is_error);
            evidence.extend(
                given.map(|result| Evidence {
                    tool: result.name.clone(),
                    text: result.text.clone(),
                }),
            );
        }
        evidence
    }
}

/// What the thread has in the place of what is held back.
fn in_place_of(held: ThreadItem, told: &str) -> ThreadItem {
    let ThreadItem::Results { mut results, .. } = held else {
        let (text, calls, echo) = (told.to_owned(), Vec::new(), None);
        return ThreadItem::Assistant { text, calls, echo };
    };
    for result in results.iter_mut().filter(|result| !result.is_error) {
        told.clone_into(&mut result.text);
    }
    ThreadItem::Results { results, echo: None }
}

/// What a user is told in the place of an answer.
fn withheld(checks: &[CheckVerdict]) -> String {
    let told = checks.iter().filter_map(|check| match check.outcome {
        CheckOutcome::Passed => None,
        CheckOutcome::Failed => Some(format!("`{}` failed", check.name)),
        CheckOutcome::Unknown => Some(format!("`{}` could not be made", check.name)),
    });
    let told: Vec<_> = told.collect();
    format!(
        "There is an answer, but it is not shown: it did not pass the checks of this agent ({}).",
        told.join(", ")
    )
}
