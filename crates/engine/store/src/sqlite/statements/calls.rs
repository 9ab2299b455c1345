//! The rows of calls, as SQLite is told of them.

use rusqlite::{Connection, params};
use toolcrib_core::{Attempt, Caller, Ending, UncertainCall};

use crate::clock::WallTime;
use crate::rows::calls::{CallEnd, DuplicateQuery, NewCall, columns};

/// The row of a call that may be sent from now on, with its end if that is known already. It may be
/// there from the time when it waited.
pub(crate) fn plan(
    connection: &Connection,
    call: &NewCall,
    end: Option<&CallEnd>,
) -> rusqlite::Result<()> {
    put(connection, call, (end, true))
}

/// The row of a call that waits for its turn.
pub(crate) fn queue(connection: &Connection, call: &NewCall) -> rusqlite::Result<()> {
    put(connection, call, (None, false))
}

fn put(
    connection: &Connection,
    call: &NewCall,
    (end, dispatched): (Option<&CallEnd>, bool),
) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO calls (key, call_id, tenant, subject, tool, source, effect, \
         fingerprint, arguments, planned, ending, kind, ended, attempts, dispatched, \
         decided_by_tenant, decided_by_subject) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17) \
         ON CONFLICT (key) DO UPDATE SET dispatched = 1, ending = excluded.ending, \
         kind = excluded.kind, ended = excluded.ended, attempts = excluded.attempts \
         WHERE ending IS NULL AND NOT dispatched",
    )?;
    let (ending, kind) = end.map(CallEnd::columns).unzip();
    let decider = call.decider.as_deref();
    insert.execute(params![
        call.key.to_string(),
        call.call_id,
        call.caller.tenant,
        call.caller.subject,
        call.tool.name.as_str(),
        call.tool.origin.source.as_str(),
        call.tool.effect.as_str(),
        call.fingerprint.to_string(),
        call.arguments.to_string(),
        call.planned,
        ending,
        kind.flatten(),
        end.map(|end| end.at),
        end.and_then(CallEnd::attempts),
        dispatched,
        decider.map(|by| &by.tenant),
        decider.map(|by| &by.subject),
    ])?;
    Ok(())
}

/// Gives a call that has no end this one.
pub(crate) fn end(connection: &Connection, key: &str, end: &CallEnd) -> rusqlite::Result<()> {
    let (ending, kind) = end.columns();
    let mut update = connection.prepare_cached(
        "UPDATE calls SET ending = ?2, kind = ?3, ended = ?4, attempts = ?5 \
         WHERE key = ?1 AND ending IS NULL",
    )?;
    update.execute(params![key, ending, kind, end.at, end.attempts()])?;
    Ok(())
}

/// Gives a call an end whose end was not known. `by`: who says so; `None`: an answer that came
/// late.
pub(crate) fn resolve(
    connection: &Connection,
    key: &str,
    ending: Ending,
    by: Option<&Caller>,
) -> rusqlite::Result<()> {
    let (ending, kind) = columns(ending);
    let mut update = connection.prepare_cached(
        "UPDATE calls SET ending = ?2, kind = ?3, resolved = ?4, resolved_by_tenant = ?5, \
         resolved_by_subject = ?6 WHERE key = ?1 AND ending = 'unknown'",
    )?;
    let (tenant, subject) = by.map(|by| (&by.tenant, &by.subject)).unzip();
    update.execute(params![key, ending, kind, WallTime::now(), tenant, subject])?;
    Ok(())
}

/// The weightiest of the calls like one whose outcome nobody knew, and that ended after a moment:
/// those that took effect after all are among them, unless a person said so.
pub(crate) fn unknown(
    connection: &Connection,
    like: &DuplicateQuery,
    after: WallTime,
) -> rusqlite::Result<Option<UncertainCall>> {
    let mut find = connection.prepare_cached(
        "SELECT key, attempts FROM (\
         SELECT key, ended, attempts FROM calls INDEXED BY calls_unknown WHERE tenant = ?1 \
         AND subject = ?2 AND tool = ?3 AND arguments = ?4 AND ended > ?5 \
         AND ending = 'unknown' AND source = ?6 UNION ALL \
         SELECT key, ended, attempts FROM calls INDEXED BY calls_found WHERE tenant = ?1 \
         AND subject = ?2 AND tool = ?3 AND arguments = ?4 AND ended > ?5 \
         AND ending = 'succeeded' AND resolved IS NOT NULL AND source = ?6 \
         AND resolved_by_subject IS NULL) ORDER BY ended DESC",
    )?;
    let whose = params![like.tenant, like.subject, like.tool, like.arguments, after, like.source];
    let read = |row: &rusqlite::Row<'_>| {
        let attempts = row.get::<_, Option<String>>(1)?.unwrap_or_default();
        // What cannot be read tells of no one who gave it up.
        let attempts: Vec<Attempt> = serde_json::from_str(&attempts).unwrap_or_default();
        Ok(UncertainCall::new(row.get::<_, String>(0)?, &attempts))
    };
    let mut weightiest = None;
    for alike in find.query_map(whose, read)? {
        weightiest = UncertainCall::weightiest(weightiest.into_iter().chain([alike?]));
        if weightiest.as_ref().is_some_and(|like| !like.was_cancelled) {
            break;
        }
    }
    Ok(weightiest)
}

/// Whether there is a call whose outcome nobody knew.
pub(crate) fn any_unknown(connection: &Connection) -> rusqlite::Result<bool> {
    let find = "SELECT EXISTS (SELECT 1 FROM calls INDEXED BY calls_unknown \
                WHERE ending = 'unknown') OR EXISTS (SELECT 1 FROM calls \
                INDEXED BY calls_found WHERE ending = 'succeeded' AND resolved IS NOT NULL)";
    connection.query_row(find, [], |row| row.get(0))
}
