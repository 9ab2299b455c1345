//! What came to a run, in more detail than its thread and its events have it: for whoever trains a
//! model on it.

use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::item::ThreadItem;
use crate::model::SampledTokens;
use crate::stop::StopReason;
use crate::usage::Usage;

/// What came to a run, in the order of coming. Times count from its beginning.
#[derive(Debug, Clone)]
pub struct RunNotes {
    began: Instant,
    /// The tools that the first turn was shown, as the chat API is told of them.
    pub tools: Value,
    pub turns: Vec<TurnNote>,
    pub calls: Vec<CallNote>,
    /// Of the runs that worked for it.
    pub children: Vec<ChildNotes>,
    /// Tokens that the engine read and wrote so far.
    sequence: Vec<u32>,
    /// Tokens of a result that are told at the most; `None`: all of them.
    pub(crate) result_tokens: Option<usize>,
}

/// What came to a run that worked for another one.
#[derive(Debug, Clone)]
pub struct ChildNotes {
    pub run: String,
    /// The call of the run above it by which it was given its task.
    pub call: String,
    pub agent: String,
    /// As its API names it.
    pub model: String,
    pub instructions: String,
    pub items: Vec<ThreadItem>,
    pub stop: StopReason,
    pub notes: RunNotes,
}

/// A turn of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnNote {
    /// The place of its item in the thread.
    pub item: usize,
    /// With the wait for a place at the model.
    pub began: Duration,
    pub ended: Duration,
    pub usage: Usage,
    pub was_cut: bool,
    pub tokens: Option<TurnTokens>,
}

/// The tokens of a turn, each once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnTokens {
    /// What its prompt has behind the turn before; the whole prompt where it does not go on there.
    pub added: Vec<u32>,
    /// Where the prompt first differs from what was read and written before: the text was turned
    /// into other tokens than those that were sampled.
    pub drift: Option<usize>,
    /// The prompt is another one, as was meant: the thread was summed up.
    pub is_branch: bool,
    pub sampled: Vec<u32>,
    /// One for each that was sampled.
    pub logprobs: Option<Vec<f64>>,
    pub version: Option<String>,
    /// Why they are no evidence of what was sampled.
    pub fault: Option<String>,
}

/// A call that was run, or refused at the gate.
#[derive(Debug, Clone, PartialEq)]
pub struct CallNote {
    pub id: String,
    /// The crib's name of the tool.
    pub tool: String,
    /// Of its batch.
    pub began: Duration,
    pub ended: Duration,
    /// For its turn and for a free place.
    pub waited: Duration,
    pub ran: Duration,
    pub attempts: u32,
    /// Its answer is one of before, from the record.
    pub is_replayed: bool,
    pub reward: Option<f64>,
    pub metrics: Map<String, Value>,
    /// Tokens of the result before and after it was cut.
    pub cut: Option<(usize, usize)>,
}

impl RunNotes {
    pub(crate) fn new(result_tokens: Option<usize>) -> Self {
        Self {
            began: Instant::now(),
            tools: Value::Null,
            turns: Vec::new(),
            calls: Vec::new(),
            children: Vec::new(),
            sequence: Vec::new(),
            result_tokens,
        }
    }

    /// Those of a run that works for this one; its times count from the beginning of this one.
    pub(crate) fn of_child(&self) -> Self {
        Self { began: self.began, ..Self::new(self.result_tokens) }
    }

    /// All tokens that were read and sampled up to the last turn; `None`: nobody told any.
    pub(crate) fn sequence(&self) -> Option<&[u32]> {
        (!self.sequence.is_empty()).then_some(self.sequence.as_slice())
    }

    /// Since the beginning.
    pub(crate) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Takes in the tokens of a turn. `is_branch`: the thread was summed up before it.
    pub(crate) fn tokens(&mut self, told: SampledTokens, is_branch: bool) -> TurnTokens {
        let SampledTokens { prompt, completion, logprobs, version, fault } = told;
        // What the engine did not tell is compared with nothing.
        let is_told = !prompt.is_empty();
        let same = self.sequence.iter().zip(&prompt).take_while(|(old, new)| old == new).count();
        let goes_on = same == self.sequence.len();
        let added =
            if goes_on { prompt.get(same..).unwrap_or_default().to_vec() } else { prompt.clone() };
        let drift = (is_told && !goes_on && !is_branch).then_some(same);
        if is_told {
            self.sequence = prompt;
            self.sequence.extend_from_slice(&completion);
        }
        let is_branch = is_branch && !goes_on;
        TurnTokens { added, drift, is_branch, sampled: completion, logprobs, version, fault }
    }
}

#[cfg(test)]
mod tests {
    use super::{RunNotes, SampledTokens};

    fn turn(prompt: &[u32], completion: &[u32]) -> SampledTokens {
        let (prompt, completion) = (prompt.to_vec(), completion.to_vec());
        SampledTokens { prompt, completion, ..SampledTokens::default() }
    }

    #[test]
    fn a_prompt_that_does_not_begin_with_what_was_sampled_is_told_with_its_place() {
        let mut notes = RunNotes::new(None);
        let first = notes.tokens(turn(&[1, 2], &[3, 4]), false);
        assert_eq!((first.added, first.drift), (vec![1, 2], None));
        let second = notes.tokens(turn(&[1, 2, 3, 4, 5], &[6]), false);
        assert_eq!((second.added, second.drift), (vec![5], None));
        // The last two sampled tokens became one.
        let drifted = notes.tokens(turn(&[1, 2, 3, 4, 9, 7], &[8]), false);
        assert_eq!((drifted.added, drifted.drift), (vec![1, 2, 3, 4, 9, 7], Some(4)));
        let after = notes.tokens(turn(&[1, 2, 3, 4, 9, 7, 8, 1], &[2]), false);
        assert_eq!((after.added, after.drift), (vec![1], None));
        // A prompt that ends before does not go on either.
        let short = notes.tokens(turn(&[1, 2], &[2]), false);
        assert_eq!((short.added, short.drift), (vec![1, 2], Some(2)));
        let summed_up = notes.tokens(turn(&[1, 7], &[2]), true);
        assert_eq!((summed_up.drift, summed_up.is_branch), (None, true));
    }
}
