//! What would become of a call, without running it: nothing is recorded, counted or asked.

use super::verdict::decide_under;
use crate::call::Call;
use crate::call::arguments::Arguments;
use crate::gate::admit::{Admission, AdmissionTerms, admit};
use crate::gate::batch::options::BatchOptions;
use crate::gate::executor::Executor;
use crate::outcome::messages;
use crate::outcome::{ErrorKind, ToolError, ToolOutcome};
use crate::plan::Plan;
use crate::policy::{Intent, Verdict};

/// What would become of a call.
#[derive(Debug, Clone)]
pub enum CallTrial {
    /// It is refused before anybody is asked about it, in the words that the call would hear.
    Refused { error: ToolError, repairs: Vec<String> },
    /// The tool would be given these arguments, if the verdict lets it.
    Fits { arguments: Arguments, repairs: Vec<String>, verdict: Verdict },
}

impl Executor {
    /// Admits a call and asks the policy about it, as when it runs (steps 1 to 6), and leaves it at
    /// that. Looks at nothing that the call might find later: a key, a limit, a call before it.
    pub async fn try_out(&self, plan: &Plan, call: Call, options: &BatchOptions) -> CallTrial {
        let gate = &*self.0;
        let terms = AdmissionTerms { max_calls: 1, limits: &gate.limits, options };
        let mut calls = [call];
        let admitted = admit(plan, &mut calls, &terms).into_iter().next();
        let admitted = match admitted {
            Some(Admission::Ready(admitted)) => admitted,
            Some(Admission::Answered { outcome, repairs }) => {
                return CallTrial::Refused { error: told(outcome), repairs };
            }
            Some(Admission::Copy(_)) | None => {
                return CallTrial::Refused { error: crashed(), repairs: Vec::new() };
            }
        };
        let Some(tool) = plan.at(admitted.place) else {
            return CallTrial::Refused { error: crashed(), repairs: admitted.repairs };
        };
        let spec = &tool.spec;
        let (arguments, repairs) = (admitted.arguments, admitted.repairs);
        // A tool that asks for itself is asked about, however lenient the policy is.
        let floor = spec.approval.clone().map_or(Verdict::Allow, Verdict::Ask);
        let verdict = if plan.is_beside(tool) {
            Verdict::Allow
        } else {
            let intent = Intent { caller: plan.caller(), tool: spec, arguments: &arguments };
            decide_under(gate, intent).await
        };
        CallTrial::Fits { arguments, repairs, verdict: verdict.strictest(floor) }
    }
}

/// Why a call is answered that was not run.
fn told(outcome: ToolOutcome) -> ToolError {
    match outcome {
        ToolOutcome::Failed(error) => error,
        ToolOutcome::Denied { reason } => ToolError::new(ErrorKind::InvalidCall, reason),
        ToolOutcome::Done(_) | ToolOutcome::Pending(_) => crashed(),
    }
}

fn crashed() -> ToolError {
    ToolError::new(ErrorKind::Internal, messages::crashed())
}
