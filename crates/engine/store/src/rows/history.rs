//! What can be read of the calls: by their own caller, or by whoever runs the crib, newest first, a
//! page at a time.

use std::collections::{BTreeSet, HashMap};
use std::time::SystemTime;

use rusqlite::types::{Type, Value};
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};
use serde::Serialize;
use toolcrib_core::{Attempt, CallStatus, Caller, Effect, Ending, Fingerprint};

use super::call_state::CallState;
use super::calls;
use crate::clock::WallTime;

/// Rows of one page at the most.
const LARGEST_PAGE: usize = 500;

/// Rows that one page looks at; beyond that it says where to go on.
const LOOKED_AT: usize = 10_000;

const COLUMNS: &str = "seq, key, call_id, tool, source, effect, fingerprint, arguments, planned, \
                       ended, ending, kind, interrupted, attempts, resolved, tenant, subject, \
                       decided_by_tenant, decided_by_subject, resolved_by_tenant, \
                       resolved_by_subject";

/// What is known of a call. Its arguments are not: only their fingerprint is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallRecord {
    /// Our name of the call, as `CallKey` shows itself.
    pub key: String,
    /// The model API's name for it, 256 bytes at most.
    pub call_id: String,
    /// Whose call it is.
    pub tenant: String,
    pub subject: String,
    pub tool: String,
    pub source: String,
    pub effect: Effect,
    /// Of the tool as it was.
    pub fingerprint: Fingerprint,
    pub arguments: Fingerprint,
    pub planned: SystemTime,
    pub ended: Option<SystemTime>,
    /// `None` while it runs.
    pub ending: Option<Ending>,
    /// The process ended before the call did: its ending is `Unknown` until somebody says more, or
    /// `NotExecuted` if it still waited for its turn, and `ended` is when that was found.
    pub interrupted: bool,
    /// What was tried; `None` where nobody lived to write it down.
    pub attempts: Option<Vec<Attempt>>,
    /// When an answer that came too late, or a person, gave it its end after all.
    pub resolved: Option<SystemTime>,
    /// Who approved it; `None` of a call that came without a ticket.
    pub decided_by: Option<Decider>,
    /// Who said how it ended; `None` where nobody had to.
    pub resolved_by: Option<Decider>,
}

/// Who said yes to a call that waited for it, or how one ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decider {
    pub tenant: String,
    pub subject: String,
}

/// Which calls: all that fit every field that is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallFilter {
    pub tool: Option<String>,
    pub source: Option<String>,
    /// In any of these states; in any at all if none is named.
    pub states: BTreeSet<CallState>,
    /// Planned then or later.
    pub since: Option<SystemTime>,
}

/// Where a page ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct CallCursor(i64);

#[derive(Debug, Clone, PartialEq)]
pub struct CallPage {
    /// Newest first. May be empty although there are more, where a tool, a source or a time is
    /// asked for; never for the sake of a state.
    pub calls: Vec<CallRecord>,
    /// Where the next page begins; `None` if there is none.
    pub next: Option<CallCursor>,
}

impl CallRecord {
    pub fn state(&self) -> CallState {
        match self.ending {
            None => CallState::Running,
            Some(Ending::Succeeded) => CallState::Succeeded,
            Some(Ending::Failed(_)) => CallState::Failed,
            Some(Ending::NotExecuted) => CallState::NotExecuted,
            Some(Ending::Unknown) if self.interrupted => CallState::Interrupted,
            Some(Ending::Unknown) => CallState::OutcomeUnknown,
        }
    }

    /// What its caller may read of it.
    pub(crate) fn stands(self) -> CallStatus {
        let (state, ended) = (self.state().as_str(), self.ended.zip(self.ending));
        let Self { key: call, tool, planned, .. } = self;
        CallStatus { call, tool, planned, state, ended }
    }
}

impl CallFilter {
    /// Whether a call of one of the states fits the rest.
    fn fits(&self, call: &CallRecord) -> bool {
        self.tool.as_ref().is_none_or(|tool| *tool == call.tool)
            && self.source.as_ref().is_none_or(|source| *source == call.source)
            && self.since.is_none_or(|since| call.planned >= since)
    }

    /// The rows of the states: each state is read by an index, and SQLite merges them by number.
    fn query(&self, of_one: bool) -> String {
        let of_caller = if of_one { " AND tenant = ?2 AND subject = ?3" } else { "" };
        let arm =
            |rows: &str| format!("SELECT {COLUMNS} FROM calls {rows} AND seq < ?1{of_caller}");
        let arms: Vec<_> = if self.states.is_empty() {
            vec![arm("WHERE TRUE")]
        } else {
            self.states.iter().map(|state| arm(&state.rows(of_one))).collect()
        };
        arms.join(" UNION ALL ") + " ORDER BY seq DESC"
    }
}

/// The calls of a caller, or of all where none is named.
pub(crate) fn page(
    connection: &Connection,
    caller: Option<&Caller>,
    filter: &CallFilter,
    after: Option<CallCursor>,
    limit: usize,
) -> rusqlite::Result<CallPage> {
    let limit = limit.clamp(1, LARGEST_PAGE);
    let mut list = connection.prepare_cached(&filter.query(caller.is_some()))?;
    let mut values = vec![Value::from(after.map_or(i64::MAX, |CallCursor(seq)| seq))];
    if let Some(caller) = caller {
        values.extend([Value::from(caller.tenant.clone()), Value::from(caller.subject.clone())]);
    }
    let mut rows = list.query(params_from_iter(values))?;
    let mut page = CallPage { calls: Vec::new(), next: None };
    let mut looked_at = 0;
    while let Some(row) = rows.next()? {
        looked_at += 1;
        let call = read(row)?;
        if filter.fits(&call) {
            page.calls.push(call);
        }
        if page.calls.len() == limit || looked_at == LOOKED_AT {
            page.next = Some(CallCursor(row.get(0)?));
            break;
        }
    }
    Ok(page)
}

pub(crate) fn one(
    connection: &Connection,
    caller: &Caller,
    key: &str,
) -> rusqlite::Result<Option<CallRecord>> {
    let mut find = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM calls WHERE key = ?1 AND tenant = ?2 AND subject = ?3"
    ))?;
    find.query_row(params![key, caller.tenant, caller.subject], read).optional()
}

/// The same, whoever made it.
pub(crate) fn any(connection: &Connection, key: &str) -> rusqlite::Result<Option<CallRecord>> {
    let find = format!("SELECT {COLUMNS} FROM calls WHERE key = ?1");
    connection.prepare_cached(&find)?.query_row([key], read).optional()
}

pub(crate) fn endings(
    connection: &Connection,
    keys: Vec<String>,
) -> rusqlite::Result<HashMap<String, Ending>> {
    let mut find = connection.prepare_cached("SELECT ending, kind FROM calls WHERE key = ?1")?;
    let mut endings = HashMap::new();
    for key in keys {
        let found = find.query_row([&key], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let (ending, kind): (Option<String>, Option<String>) = found.unwrap_or_default();
        let ending = ending.and_then(|ending| calls::ending(&ending, kind.as_deref()));
        endings.extend(ending.map(|ending| (key, ending)));
    }
    Ok(endings)
}

fn read(row: &Row<'_>) -> rusqlite::Result<CallRecord> {
    let bad = |column, what: &'static str| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, what.into())
    };
    let fingerprint = |column| {
        let text: String = row.get(column)?;
        Fingerprint::try_from(text).map_err(|error| bad(column, error))
    };
    let effect = match row.get_ref(5)?.as_str()? {
        "read" => Effect::Read,
        "write" => Effect::Write,
        "destroy" => Effect::Destroy,
        _ => return Err(bad(5, "no effect")),
    };
    let attempts = row.get::<_, Option<String>>(13)?;
    let attempts = attempts.map(|text| serde_json::from_str(&text).map_err(|_| bad(13, "no list")));
    let (ending, kind): (Option<String>, Option<String>) = (row.get(10)?, row.get(11)?);
    let ending = ending
        .map(|ending| calls::ending(&ending, kind.as_deref()).ok_or_else(|| bad(10, "no ending")));
    Ok(CallRecord {
        key: row.get(1)?,
        call_id: row.get(2)?,
        tenant: row.get(15)?,
        subject: row.get(16)?,
        tool: row.get(3)?,
        source: row.get(4)?,
        effect,
        fingerprint: fingerprint(6)?,
        arguments: fingerprint(7)?,
        planned: row.get::<_, WallTime>(8)?.time(),
        ended: row.get::<_, Option<WallTime>>(9)?.map(WallTime::time),
        ending: ending.transpose()?,
        interrupted: row.get(12)?,
        attempts: attempts.transpose()?,
        resolved: row.get::<_, Option<WallTime>>(14)?.map(WallTime::time),
        decided_by: decider(row, 17)?,
        resolved_by: decider(row, 19)?,
    })
}

/// The person of two columns, of which this is the first.
fn decider(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Decider>> {
    let by: (Option<String>, Option<String>) = (row.get(column)?, row.get(column + 1)?);
    Ok(by.0.zip(by.1).map(|(tenant, subject)| Decider { tenant, subject }))
}
