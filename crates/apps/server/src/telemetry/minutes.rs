//! How many calls ended in each minute of the last hour.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use serde_json::{Value, json};
use toolcrib_core::ToolOutcome;

const MINUTES: u64 = 60;

pub(crate) struct CallMinutes {
    /// The minute in which the server began.
    began: u64,
    ended: Mutex<VecDeque<CallMinute>>,
}

struct CallMinute {
    /// Minutes since 1970.
    at: u64,
    calls: u64,
    failed: u64,
}

impl Default for CallMinutes {
    fn default() -> Self {
        Self { began: minute(), ended: Mutex::default() }
    }
}

impl CallMinutes {
    pub(super) fn ended(&self, outcome: &ToolOutcome) {
        self.ended_at(minute(), matches!(outcome, ToolOutcome::Failed(_)));
    }

    fn ended_at(&self, now: u64, is_failed: bool) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that is set back counts on where it was.
        let now = ended.back().map_or(now, |last| last.at.max(now));
        if ended.back().is_none_or(|last| last.at != now) {
            ended.push_back(CallMinute { at: now, calls: 0, failed: 0 });
        }
        while ended.front().is_some_and(|first| first.at + MINUTES <= now) {
            ended.pop_front();
        }
        if let Some(last) = ended.back_mut() {
            last.calls += 1;
            last.failed += u64::from(is_failed);
        }
    }

    /// Each minute of the last hour in which the server ran, the oldest first.
    pub(crate) fn to_json(&self) -> Value {
        self.told_at(minute())
    }

    fn told_at(&self, now: u64) -> Value {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let first = (now + 1).saturating_sub(MINUTES).max(self.began.min(now));
        let row = |at: u64| {
            let found = ended.iter().find(|minute| minute.at == at);
            let (calls, failed) = found.map_or((0, 0), |minute| (minute.calls, minute.failed));
            let time = i64::try_from(at * 60).ok().and_then(|at| Timestamp::from_second(at).ok());
            json!({ "at": time.map(|time| time.to_string()), "calls": calls, "failed": failed })
        };
        (first..=now).map(row).collect()
    }
}

fn minute() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / 60
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_of_minutes_is_told_and_none_from_before_the_server() {
        let minutes = CallMinutes { began: 1000, ended: Mutex::default() };
        for (at, is_failed) in [(1000, false), (1000, true), (1002, false)] {
            minutes.ended_at(at, is_failed);
        }
        let told = |now| {
            let rows = minutes.told_at(now);
            let rows = rows.as_array().unwrap().iter();
            let count = |row: &Value, name: &str| row[name].as_u64().unwrap();
            rows.map(|row| (count(row, "calls"), count(row, "failed"))).collect::<Vec<_>>()
        };
        assert_eq!(told(1002), [(2, 1), (0, 0), (1, 0)]);
        assert_eq!(minutes.told_at(1000)[0]["at"], "1970-01-01T16:40:00Z");
        let later = told(1059);
        assert_eq!((later.len(), later[0], later[2]), (60, (2, 1), (1, 0)));
        assert_eq!((told(1060).len(), told(1060)[1]), (60, (1, 0)));
        minutes.ended_at(1100, false);
        assert_eq!(minutes.ended.lock().unwrap().len(), 1);
        minutes.ended_at(1050, false);
        assert_eq!(told(1100).last(), Some(&(2, 0)));
    }
}
