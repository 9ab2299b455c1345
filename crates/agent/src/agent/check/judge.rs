//! An answer is judged before the run ends with it.

use futures_util::future::join_all;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{AnswerCheck, JudgedAnswer, PATIENCE};
use crate::agent::{AgentRun, Listener};
use crate::event::RunEvent;
use crate::record::tape::TapeEntry;
use crate::run::RunInput;
use crate::run::verdict::CheckVerdict;

impl AgentRun {
    /// Has an answer judged by all checks of these names at once. `None`: the process ends, and
    /// another one is to do it.
    pub(in crate::agent) async fn judge(
        &mut self,
        names: &[String],
        answer: &str,
        tell: Listener<'_>,
        cancel: &CancellationToken,
    ) -> Option<RunInput> {
        let verdicts = match self.played_verdicts() {
            Some(played) => played,
            None => self.verdicts(names, answer, cancel).await,
        };
        let verdicts = match verdicts {
            Ok(verdicts) => verdicts,
            Err(input) => {
                if input.is_some() {
                    self.tape.note(|| TapeEntry::Cancelled);
                }
                return input;
            }
        };
        for verdict in &verdicts {
            self.usage.add(verdict.usage);
            tell(RunEvent::Checked { verdict: verdict.clone() });
        }
        self.tape.note(|| TapeEntry::Judged(verdicts.clone()));
        Some(RunInput::Judged(verdicts))
    }

    /// What the judges say; or what ends the wait for them.
    async fn verdicts(
        &self,
        names: &[String],
        answer: &str,
        cancel: &CancellationToken,
    ) -> Result<Vec<CheckVerdict>, Option<RunInput>> {
        let (question, evidence) = (self.state.question(), self.state.evidence());
        let (question, evidence) = (question.as_str(), evidence.as_slice());
        let case = JudgedAnswer { question, answer, evidence, account: &self.account };
        let judges = &self.agent.checks.judges;
        let verdicts = names.iter().map(|name| {
            let judge = judges.iter().find(|judge| judge.name() == name);
            verdict_of(name, judge.map(|judge| &**judge), &case)
        });
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Some(RunInput::Cancelled)),
            () = self.hold.cancelled() => Err(None),
            verdicts = join_all(verdicts) => Ok(verdicts),
        }
    }
}

/// The verdict of one judge, or that there is none.
async fn verdict_of(
    name: &str,
    judge: Option<&dyn AnswerCheck>,
    case: &JudgedAnswer<'_>,
) -> CheckVerdict {
    let Some(judge) = judge else {
        return CheckVerdict::unknown(name, "there is no check of this name");
    };
    // One that counts its time itself is given the time to tell what it cost.
    let judged = timeout(PATIENCE + PATIENCE / 4, judge.judge(case)).await;
    let late = |_| CheckVerdict::unknown(name, "the judge did not answer in time");
    CheckVerdict { name: name.to_owned(), ..judged.unwrap_or_else(late) }
}
