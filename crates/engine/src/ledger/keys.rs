//! Keys of callers: a call under one runs once, and its answer is kept.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use toolcrib_core::{Begun, Fingerprint, KeyEnd, LedgerError, OnceKey, SourceId};

/// How long a key is known.
const LIFETIME: Duration = Duration::from_hours(24);
/// Keys of all callers together.
const MOST: usize = 10_000;
/// Bytes of all kept answers together.
const MOST_BYTES: usize = 64 * 1024 * 1024;

#[derive(Default)]
pub(super) struct Keys {
    rows: BTreeMap<Owned, Row>,
    bytes: usize,
}

/// Tenant, subject, tool, its source, key: the same words of another caller are another key.
type Owned = (String, String, String, Option<SourceId>, String);

struct Row {
    /// `None`: of a ticket, whose arguments nobody sends again.
    arguments: Option<Fingerprint>,
    since: Instant,
    state: State,
}

enum State {
    Runs,
    Ended(Value, usize),
    Lost,
}

fn owned(key: &OnceKey) -> Owned {
    let (tenant, subject) = (key.caller.tenant.clone(), key.caller.subject.clone());
    (tenant, subject, key.tool.to_string(), key.source.clone(), key.key.clone())
}

impl Keys {
    pub(super) fn begin(
        &mut self,
        key: &OnceKey,
        arguments: Option<Fingerprint>,
    ) -> Result<Begun, LedgerError> {
        let key = owned(key);
        if let Some(row) = self.rows.get(&key).filter(|row| !row.is_over()) {
            let same = row.arguments == arguments;
            return Ok(if same { row.begun() } else { Begun::Conflict });
        }
        if self.rows.len() >= MOST {
            self.rows.retain(|_, row| !row.is_over());
            self.bytes = self.rows.values().map(Row::size).sum();
            if self.rows.len() >= MOST {
                return Err(LedgerError::new(format!("{MOST} keys are kept already")));
            }
        }
        let row = Row { arguments, since: Instant::now(), state: State::Runs };
        let before = self.rows.insert(key, row);
        self.bytes -= before.map_or(0, |row| row.size());
        Ok(Begun::New)
    }

    pub(super) fn settle(&mut self, key: &OnceKey, end: KeyEnd) {
        let key = owned(key);
        let late = matches!(end, KeyEnd::Late(_));
        let Some(row) = self.rows.get_mut(&key) else { return };
        if !late && !matches!(row.state, State::Runs) {
            return;
        }
        self.bytes -= row.size();
        match end {
            KeyEnd::Free => {
                self.rows.remove(&key);
                return;
            }
            KeyEnd::Lost => row.state = State::Lost,
            KeyEnd::Answered(answer) | KeyEnd::Late(answer) | KeyEnd::Told { now: answer, .. } => {
                let size = answer.to_string().len();
                // Without room for the answer the key is still known: a second run would be worse.
                let fits = size <= MOST_BYTES.saturating_sub(self.bytes);
                row.state = if fits { State::Ended(answer, size) } else { State::Lost };
            }
        }
        self.bytes += row.size();
    }

    pub(super) fn recorded(&self, key: &OnceKey) -> Begun {
        let row = self.rows.get(&owned(key)).filter(|row| !row.is_over());
        row.map_or(Begun::New, Row::begun)
    }
}

impl Row {
    fn is_over(&self) -> bool {
        self.since.elapsed() > LIFETIME && !matches!(self.state, State::Runs)
    }

    fn begun(&self) -> Begun {
        match &self.state {
            State::Runs => Begun::Running,
            State::Ended(answer, _) => Begun::Ended(answer.clone()),
            State::Lost => Begun::Unknown,
        }
    }

    fn size(&self) -> usize {
        match &self.state {
            State::Ended(_, size) => *size,
            State::Runs | State::Lost => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolcrib_core::{Caller, ToolName};

    use super::*;

    fn key(name: &str) -> OnceKey {
        let tool = ToolName::new("pay").unwrap();
        OnceKey { caller: Caller::local(), tool, source: None, key: name.to_owned() }
    }

    fn begin(kept: &mut Keys, name: &str, arguments: u8) -> Result<Begun, LedgerError> {
        kept.begin(&key(name), Some(Fingerprint::of(&json!(arguments))))
    }

    fn text(bytes: usize) -> Value {
        Value::String("x".repeat(bytes - 2))
    }

    #[test]
    fn what_has_no_known_end_does_not_run_again() {
        let mut kept = Keys::default();
        assert_eq!(begin(&mut kept, "a", 1), Ok(Begun::New));
        assert_eq!(begin(&mut kept, "a", 1), Ok(Begun::Running));
        assert_eq!(begin(&mut kept, "a", 2), Ok(Begun::Conflict));
        kept.settle(&key("a"), KeyEnd::Lost);
        assert_eq!(begin(&mut kept, "a", 1), Ok(Begun::Unknown));
        kept.settle(&key("a"), KeyEnd::Answered(json!(1)));
        assert_eq!(begin(&mut kept, "a", 1), Ok(Begun::Unknown), "it was lost before");
        kept.settle(&key("a"), KeyEnd::Late(json!(1)));
        assert_eq!(begin(&mut kept, "a", 1), Ok(Begun::Ended(json!(1))));
        // An answer for which there is no room is not known later, and its key still is.
        assert_eq!(begin(&mut kept, "b", 1), Ok(Begun::New));
        kept.settle(&key("b"), KeyEnd::Answered(text(MOST_BYTES + 1)));
        assert_eq!(begin(&mut kept, "b", 1), Ok(Begun::Unknown));
        kept.settle(&key("a"), KeyEnd::Late(json!(null)));
        assert_eq!(begin(&mut kept, "c", 1), Ok(Begun::New));
        kept.settle(&key("c"), KeyEnd::Answered(text(MOST_BYTES - 4)));
        assert_eq!(begin(&mut kept, "c", 1), Ok(Begun::Ended(text(MOST_BYTES - 4))));
        // What did not run may run.
        assert_eq!(begin(&mut kept, "d", 1), Ok(Begun::New));
        kept.settle(&key("d"), KeyEnd::Free);
        assert_eq!(begin(&mut kept, "d", 2), Ok(Begun::New));
    }

    #[test]
    fn keys_are_counted_and_none_that_holds_is_forgotten() {
        let mut kept = Keys::default();
        for number in 0..MOST {
            assert_eq!(begin(&mut kept, &number.to_string(), 1), Ok(Begun::New));
        }
        assert!(begin(&mut kept, "more", 1).is_err());
        assert_eq!(begin(&mut kept, "0", 1), Ok(Begun::Running));
    }
}
