//! Keys of callers: a call under one runs once, and its answer is kept.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use toolcrib_core::{Fingerprint, IdempotencyKey, KeyResult, KeyState, LedgerError, SourceId};

/// How long a key is known.
const LIFETIME: Duration = Duration::from_hours(24);
/// Keys of all callers together.
const MOST: usize = 10_000;
/// Bytes of all kept answers together.
const MOST_BYTES: usize = 64 * 1024 * 1024;

#[derive(Default)]
pub(super) struct KeyRows {
    rows: BTreeMap<OwnedKey, KeyRow>,
    bytes: usize,
    /// Beside those that there is room for in any case.
    more: usize,
}

/// Tenant, subject, tool, its source, key: the same words of another caller are another key.
type OwnedKey = (String, String, String, Option<SourceId>, String);

struct KeyRow {
    /// `None`: of a ticket, whose arguments nobody sends again.
    arguments: Option<Fingerprint>,
    since: Instant,
    state: KeyRowState,
}

enum KeyRowState {
    Runs,
    Ended(Value, usize),
    Lost,
}

fn owned(key: &IdempotencyKey) -> OwnedKey {
    let (tenant, subject) = (key.caller.tenant.clone(), key.caller.subject.clone());
    (tenant, subject, key.tool.to_string(), key.source.clone(), key.key.clone())
}

impl KeyRows {
    pub(super) fn begin(
        &mut self,
        key: &IdempotencyKey,
        arguments: Option<Fingerprint>,
    ) -> Result<KeyState, LedgerError> {
        let key = owned(key);
        if let Some(row) = self.rows.get(&key).filter(|row| !row.is_over()) {
            let same = row.arguments == arguments;
            return Ok(if same { row.begun() } else { KeyState::Conflict });
        }
        let most = MOST.saturating_add(self.more);
        if self.rows.len() >= most {
            self.rows.retain(|_, row| !row.is_over());
            self.bytes = self.rows.values().map(KeyRow::size).sum();
            if self.rows.len() >= most {
                return Err(LedgerError::new(format!("{most} keys are kept already")));
            }
        }
        let row = KeyRow { arguments, since: Instant::now(), state: KeyRowState::Runs };
        let before = self.rows.insert(key, row);
        self.bytes -= before.map_or(0, |row| row.size());
        Ok(KeyState::New)
    }

    pub(super) fn settle(&mut self, key: &IdempotencyKey, end: KeyResult) {
        let key = owned(key);
        let late = matches!(end, KeyResult::Late(_));
        let Some(row) = self.rows.get_mut(&key) else { return };
        if !late && !matches!(row.state, KeyRowState::Runs) {
            return;
        }
        self.bytes -= row.size();
        match end {
            KeyResult::Free => {
                self.rows.remove(&key);
                return;
            }
            KeyResult::Lost => row.state = KeyRowState::Lost,
            KeyResult::Answered(answer)
            | KeyResult::Late(answer)
            | KeyResult::Told { now: answer, .. } => {
                let size = answer.to_string().len();
                // Without room for the answer the key is still known: a second run would be worse.
                let fits = size <= MOST_BYTES.saturating_sub(self.bytes);
                row.state = if fits { KeyRowState::Ended(answer, size) } else { KeyRowState::Lost };
            }
        }
        self.bytes += row.size();
    }

    pub(super) fn make_room(&mut self, most: usize) {
        self.more = most.saturating_sub(MOST);
    }

    /// Forgets the keys that begin so, but for those of calls that run.
    pub(super) fn forget(&mut self, stem: &str) {
        self.rows.retain(|(.., key), row| {
            !key.starts_with(stem) || matches!(row.state, KeyRowState::Runs)
        });
        self.bytes = self.rows.values().map(KeyRow::size).sum();
    }

    pub(super) fn recorded(&self, key: &IdempotencyKey) -> KeyState {
        let row = self.rows.get(&owned(key)).filter(|row| !row.is_over());
        row.map_or(KeyState::New, KeyRow::begun)
    }
}

impl KeyRow {
    fn is_over(&self) -> bool {
        self.since.elapsed() > LIFETIME && !matches!(self.state, KeyRowState::Runs)
    }

    fn begun(&self) -> KeyState {
        match &self.state {
            KeyRowState::Runs => KeyState::Running,
            KeyRowState::Ended(answer, _) => KeyState::Ended(answer.clone()),
            KeyRowState::Lost => KeyState::Unknown,
        }
    }

    fn size(&self) -> usize {
        match &self.state {
            KeyRowState::Ended(_, size) => *size,
            KeyRowState::Runs | KeyRowState::Lost => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolcrib_core::{Caller, ToolName};

    use super::*;

    fn key(name: &str) -> IdempotencyKey {
        let tool = ToolName::new("pay").unwrap();
        IdempotencyKey { caller: Caller::local(), tool, source: None, key: name.to_owned() }
    }

    fn begin(kept: &mut KeyRows, name: &str, arguments: u8) -> Result<KeyState, LedgerError> {
        kept.begin(&key(name), Some(Fingerprint::of(&json!(arguments))))
    }

    fn text(bytes: usize) -> Value {
        Value::String("x".repeat(bytes - 2))
    }

    #[test]
    fn what_has_no_known_end_does_not_run_again() {
        let mut kept = KeyRows::default();
        assert_eq!(begin(&mut kept, "a", 1), Ok(KeyState::New));
        assert_eq!(begin(&mut kept, "a", 1), Ok(KeyState::Running));
        assert_eq!(begin(&mut kept, "a", 2), Ok(KeyState::Conflict));
        kept.settle(&key("a"), KeyResult::Lost);
        assert_eq!(begin(&mut kept, "a", 1), Ok(KeyState::Unknown));
        kept.settle(&key("a"), KeyResult::Answered(json!(1)));
        assert_eq!(begin(&mut kept, "a", 1), Ok(KeyState::Unknown), "it was lost before");
        kept.settle(&key("a"), KeyResult::Late(json!(1)));
        assert_eq!(begin(&mut kept, "a", 1), Ok(KeyState::Ended(json!(1))));
        // An answer for which there is no room is not known later, and its key still is.
        assert_eq!(begin(&mut kept, "b", 1), Ok(KeyState::New));
        kept.settle(&key("b"), KeyResult::Answered(text(MOST_BYTES + 1)));
        assert_eq!(begin(&mut kept, "b", 1), Ok(KeyState::Unknown));
        kept.settle(&key("a"), KeyResult::Late(json!(null)));
        assert_eq!(begin(&mut kept, "c", 1), Ok(KeyState::New));
        kept.settle(&key("c"), KeyResult::Answered(text(MOST_BYTES - 4)));
        assert_eq!(begin(&mut kept, "c", 1), Ok(KeyState::Ended(text(MOST_BYTES - 4))));
        // What did not run may run.
        assert_eq!(begin(&mut kept, "d", 1), Ok(KeyState::New));
        kept.settle(&key("d"), KeyResult::Free);
        assert_eq!(begin(&mut kept, "d", 2), Ok(KeyState::New));
    }

    #[test]
    fn what_a_run_leaves_behind_is_forgotten_with_it() {
        let mut kept = KeyRows::default();
        for name in ["run:a:1:0", "run:a:2:0", "run:ab:1:0"] {
            assert_eq!(begin(&mut kept, name, 1), Ok(KeyState::New));
            kept.settle(&key(name), KeyResult::Answered(json!(name)));
        }
        assert_eq!(begin(&mut kept, "run:a:3:0", 1), Ok(KeyState::New));
        kept.forget("run:a:");
        assert_eq!(begin(&mut kept, "run:a:1:0", 1), Ok(KeyState::New));
        assert_eq!(begin(&mut kept, "run:a:3:0", 1), Ok(KeyState::Running), "it runs");
        assert_eq!(begin(&mut kept, "run:ab:1:0", 1), Ok(KeyState::Ended(json!("run:ab:1:0"))));
    }

    #[test]
    fn keys_are_counted_and_none_that_holds_is_forgotten() {
        let mut kept = KeyRows::default();
        for number in 0..MOST {
            assert_eq!(begin(&mut kept, &number.to_string(), 1), Ok(KeyState::New));
        }
        assert!(begin(&mut kept, "more", 1).is_err());
        assert_eq!(begin(&mut kept, "0", 1), Ok(KeyState::Running));
    }
}
