//! What is read of the calls, as SQLite is asked for it: newest first, a page at a time.

use std::collections::HashMap;

use rusqlite::types::{Type, Value};
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};
use toolcrib_core::{Caller, Effect, Ending, Fingerprint};

use crate::clock::WallTime;
use crate::rows::call_state::CallState;
use crate::rows::calls;
use crate::rows::history::{CallCursor, CallFilter, CallPage, CallRecord, Decider};

/// Rows of one page at the most.
const LARGEST_PAGE: usize = 500;

/// Rows that one page looks at; beyond that it says where to go on.
const LOOKED_AT: usize = 10_000;

const COLUMNS: &str = "seq, key, call_id, tool, source, effect, fingerprint, arguments, planned, \
                       ended, ending, kind, interrupted, attempts, resolved, tenant, subject, \
                       decided_by_tenant, decided_by_subject, resolved_by_tenant, \
                       resolved_by_subject";

/// The calls of a caller, or of all where none is named.
pub(crate) fn page(
    connection: &Connection,
    caller: Option<&Caller>,
    filter: &CallFilter,
    after: Option<CallCursor>,
    limit: usize,
) -> rusqlite::Result<CallPage> {
    let limit = limit.clamp(1, LARGEST_PAGE);
    let mut list = connection.prepare_cached(&query(filter, caller.is_some()))?;
    let mut values = vec![Value::from(after.map_or(i64::MAX, |CallCursor(seq)| seq))];
    if let Some(caller) = caller {
        values.extend([Value::from(caller.tenant.clone()), Value::from(caller.subject.clone())]);
    }
    if let Some(batch) = &filter.batch {
        // The letter behind `-` is `.`.
        values.extend(["-", "."].map(|end| Value::from(format!("{batch}{end}"))));
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

/// The rows of the states: each state is read by an index, and SQLite merges them by number.
fn query(filter: &CallFilter, of_one: bool) -> String {
    let of_caller = if of_one { " AND tenant = ?2 AND subject = ?3" } else { "" };
    let of_batch = match &filter.batch {
        Some(_) if of_one => " AND key > ?4 AND key < ?5",
        Some(_) => " AND key > ?2 AND key < ?3",
        None => "",
    };
    let arm = |rows: &str| {
        format!("SELECT {COLUMNS} FROM calls {rows} AND seq < ?1{of_caller}{of_batch}")
    };
    let arms: Vec<_> = if filter.states.is_empty() {
        vec![arm("WHERE TRUE")]
    } else {
        filter.states.iter().map(|state| arm(&rows(*state, of_one))).collect()
    };
    arms.join(" UNION ALL ") + " ORDER BY seq DESC"
}

/// The rows of calls in a state, of one caller or of all, as SQL goes on after `FROM calls`.
/// An index is named, so that what a page costs is what it finds and not what lies between;
/// those who succeeded are the many, and are found without one of their own.
fn rows(state: CallState, of_one: bool) -> String {
    let otherwise = if of_one { "calls_otherwise_of_caller" } else { "calls_otherwise" };
    let (index, condition) = match state {
        CallState::Running => (Some("calls_running"), "ending IS NULL"),
        CallState::Succeeded if of_one => (Some("calls_of_caller"), "ending = 'succeeded'"),
        CallState::Succeeded => (None, "ending = 'succeeded'"),
        CallState::Failed => (Some(otherwise), "ending = 'failed'"),
        CallState::NotExecuted => (Some(otherwise), "ending = 'not_executed'"),
        CallState::OutcomeUnknown => (Some(otherwise), "ending = 'unknown' AND interrupted = 0"),
        CallState::Interrupted => (Some(otherwise), "ending = 'unknown' AND interrupted = 1"),
    };
    match index {
        // SQLite takes an index of some rows only where their condition stands word for word.
        Some(index) if index == otherwise => {
            format!("INDEXED BY {index} WHERE ending <> 'succeeded' AND {condition}")
        }
        Some(index) => format!("INDEXED BY {index} WHERE {condition}"),
        None => format!("WHERE {condition}"),
    }
}
