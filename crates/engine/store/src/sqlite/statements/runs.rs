//! Runs of agents, as SQLite is told of them.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use toolcrib_core::{Caller, LedgerError, RunLedgerError, RunStage, RunSummary, StoredRun};

use super::columns::json;
use super::{run_items, run_notes};
use crate::clock::WallTime;
use crate::rows::runs::{NewRunRow, NewStep, RunLength, count, gap};
use crate::sqlite::savepoint::all_or_nothing;

/// The columns of a summary, in the order in which they are read.
const SUMMARY: &str = "number, id, caller, thread, previous, agent, profile, stage, tickets, \
     created, changed, parent";

/// A refusal of what was asked is no fault of the file.
type Written = rusqlite::Result<Result<(), RunLedgerError>>;

/// Writes a run with its first step.
///
/// What would be refused by an index is looked for before: a statement that fails is taken for
/// a fault of the file.
pub(crate) fn create(connection: &Connection, row: &NewRunRow) -> Written {
    if let Some(run) = open(connection, row)? {
        return Ok(Err(RunLedgerError::Busy { run }));
    }
    if row.step.number != 0 {
        return Ok(Err(RunLedgerError::Moved));
    }
    if row.step.items_from != 0 {
        return Ok(Err(gap()));
    }
    let id = &row.run.id;
    if connection.prepare_cached("SELECT 1 FROM runs WHERE id = ?1")?.exists([id])? {
        return Ok(Err(LedgerError::new(format!("there is a run `{id}` already")).into()));
    }
    all_or_nothing(connection, || {
        let number = insert(connection, row)?;
        let tenant = &*row.run.caller.tenant;
        add(connection, &row.step, (number, tenant), RunLength::default())
    })
    .map(Ok)
}

/// The run of the same thread that has not ended.
fn open(connection: &Connection, row: &NewRunRow) -> rusqlite::Result<Option<String>> {
    let mut find = connection.prepare_cached(
        "SELECT id FROM runs INDEXED BY runs_open \
         WHERE tenant = ?1 AND subject = ?2 AND thread = ?3 AND stage <> 'ended'",
    )?;
    let Caller { tenant, subject, .. } = &row.run.caller;
    find.query_row([tenant, subject, &row.run.thread], |row| row.get(0)).optional()
}

fn insert(connection: &Connection, row: &NewRunRow) -> rusqlite::Result<i64> {
    let NewRunRow { run, caller, step } = row;
    let (now, after) = (WallTime::now(), step.after(RunLength::default()));
    let mut insert = connection.prepare_cached(
        "INSERT INTO runs (id, tenant, subject, thread, previous, agent, profile, stage, \
         created, changed, steps, items, events, caller, tickets, request, state, parent) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, 1, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    )?;
    insert.insert(params![
        run.id,
        run.caller.tenant,
        run.caller.subject,
        run.thread,
        run.previous,
        run.agent,
        run.profile,
        step.stage.as_str(),
        now,
        after.items,
        after.events,
        caller,
        step.tickets,
        run.request,
        step.state,
        run.parent,
    ])
}

/// Writes it behind the step before it. The one who writes is alone, so that of many who would
/// write the same step one does.
pub(crate) fn advance(connection: &Connection, run: &str, step: &NewStep) -> Written {
    let mut find = connection.prepare_cached(
        "SELECT number, tenant, items, events FROM runs \
         WHERE id = ?1 AND steps = ?2 AND stage <> 'ended'",
    )?;
    let found = find.query_row(params![run, step.number], |row| {
        let before = RunLength { items: row.get(2)?, events: row.get(3)? };
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, before))
    });
    let Some((number, tenant, before)) = found.optional()? else {
        return Ok(Err(RunLedgerError::Moved));
    };
    if step.items_from > before.items {
        return Ok(Err(gap()));
    }
    all_or_nothing(connection, || {
        let after = step.after(before);
        let mut update = connection.prepare_cached(
            "UPDATE runs SET stage = ?2, changed = ?3, steps = steps + 1, items = ?4, \
             events = ?5, tickets = ?6, state = ?7 WHERE number = ?1",
        )?;
        update.execute(params![
            number,
            step.stage.as_str(),
            WallTime::now(),
            after.items,
            after.events,
            step.tickets,
            step.state,
        ])?;
        add(connection, step, (number, &tenant), before)
    })
    .map(Ok)
}

fn add(
    connection: &Connection,
    step: &NewStep,
    (run, tenant): (i64, &str),
    before: RunLength,
) -> rusqlite::Result<()> {
    run_items::replace(connection, (run, tenant), step.items_from, &step.items)?;
    let mut insert = connection
        .prepare_cached("INSERT INTO run_events (run, number, event) VALUES (?1, ?2, ?3)")?;
    for (number, event) in (before.events..).zip(&step.events) {
        insert.execute(params![run, number, event])?;
    }
    Ok(())
}

/// A run as it stands at one moment.
pub(crate) fn load(connection: &Connection, run: &str) -> rusqlite::Result<Option<StoredRun>> {
    // A step may be written between two statements.
    let moment = connection.unchecked_transaction()?;
    let mut find = moment.prepare_cached(&format!(
        "SELECT {SUMMARY}, steps, events, request, state FROM runs WHERE id = ?1"
    ))?;
    let found = find.query_row([run], |row| {
        let number: i64 = row.get(0)?;
        Ok(StoredRun {
            summary: summary(row)?,
            steps: row.get::<_, i64>(12)?.unsigned_abs(),
            events: row.get::<_, i64>(13)?.unsigned_abs(),
            request: row.get(14)?,
            state: row.get(15)?,
            items: run_items::of(&moment, number)?,
        })
    });
    found.optional()
}

/// Events of a run from a number on.
pub(crate) fn events(
    connection: &Connection,
    run: &str,
    from: u64,
    limit: usize,
) -> rusqlite::Result<Vec<String>> {
    let mut list = connection.prepare_cached(
        "SELECT event FROM run_events WHERE run = (SELECT number FROM runs WHERE id = ?1) \
         AND number >= ?2 ORDER BY number LIMIT ?3",
    )?;
    let from = i64::try_from(from).unwrap_or(i64::MAX);
    list.query_map(params![run, from, count(limit)], |row| row.get(0))?.collect()
}

/// The runs of a caller before a number, newest first.
pub(crate) fn list(
    connection: &Connection,
    caller: &Caller,
    before: Option<u64>,
    limit: usize,
) -> rusqlite::Result<Vec<RunSummary>> {
    let mut list = connection.prepare_cached(&format!(
        "SELECT {SUMMARY} FROM runs WHERE tenant = ?1 AND subject = ?2 AND number < ?3 \
         ORDER BY number DESC LIMIT ?4"
    ))?;
    let before = before.and_then(|before| i64::try_from(before).ok()).unwrap_or(i64::MAX);
    let whose = params![caller.tenant, caller.subject, before, count(limit)];
    list.query_map(whose, summary)?.collect()
}

/// The runs of all callers before a number, newest first.
pub(crate) fn all(
    connection: &Connection,
    before: Option<u64>,
    limit: usize,
) -> rusqlite::Result<Vec<RunSummary>> {
    let mut list = connection.prepare_cached(&format!(
        "SELECT {SUMMARY} FROM runs WHERE number < ?1 ORDER BY number DESC LIMIT ?2"
    ))?;
    let before = before.and_then(|before| i64::try_from(before).ok()).unwrap_or(i64::MAX);
    list.query_map(params![before, count(limit)], summary)?.collect()
}

/// The runs of a thread, oldest first.
pub(crate) fn thread(
    connection: &Connection,
    caller: &Caller,
    thread: &str,
) -> rusqlite::Result<Vec<RunSummary>> {
    let mut list = connection.prepare_cached(&format!(
        "SELECT {SUMMARY} FROM runs WHERE tenant = ?1 AND subject = ?2 AND thread = ?3 \
         ORDER BY number"
    ))?;
    list.query_map([&*caller.tenant, &*caller.subject, thread], summary)?.collect()
}

/// The runs of all callers that have not ended, oldest first.
pub(crate) fn unfinished(connection: &Connection) -> rusqlite::Result<Vec<RunSummary>> {
    let mut list = connection.prepare_cached(&format!(
        "SELECT {SUMMARY} FROM runs INDEXED BY runs_open WHERE stage <> 'ended' ORDER BY number"
    ))?;
    list.query_map([], summary)?.collect()
}

/// Removes a run of a caller that has ended, with those that worked for it; whether there was one.
pub(crate) fn forget(
    connection: &Connection,
    caller: &Caller,
    run: &str,
) -> rusqlite::Result<bool> {
    let mut find = connection.prepare_cached(
        "SELECT number FROM runs WHERE id = ?1 AND tenant = ?2 AND subject = ?3 \
         AND stage = 'ended'",
    )?;
    let whose = [run, &caller.tenant, &caller.subject];
    let found = find.query_row(whose, |row| row.get(0)).optional()?;
    let Some(number) = found else { return Ok(false) };
    all_or_nothing(connection, || {
        for child in children(connection, run)? {
            forget(connection, caller, &child)?;
        }
        remove(connection, number)
    })?;
    Ok(true)
}

/// The runs that work for another one.
fn children(connection: &Connection, run: &str) -> rusqlite::Result<Vec<String>> {
    let mut list = connection.prepare_cached("SELECT id FROM runs WHERE parent = ?1")?;
    list.query_map([run], |row| row.get(0))?.collect()
}

/// Removes a run with all that it has, by its number.
pub(crate) fn remove(connection: &Connection, number: i64) -> rusqlite::Result<()> {
    all_or_nothing(connection, || {
        run_items::remove(connection, number)?;
        run_notes::remove(connection, number)?;
        connection.prepare_cached("DELETE FROM run_events WHERE run = ?1")?.execute([number])?;
        connection.prepare_cached("DELETE FROM runs WHERE number = ?1")?.execute([number])?;
        Ok(())
    })
}

/// Reads the columns of a summary, which come first.
fn summary(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    Ok(RunSummary {
        number: row.get::<_, i64>(0)?.unsigned_abs(),
        id: row.get(1)?,
        caller: json(row, 2)?,
        thread: row.get(3)?,
        previous: row.get(4)?,
        agent: row.get(5)?,
        profile: row.get(6)?,
        stage: stage(row, 7)?,
        tickets: json(row, 8)?,
        created: row.get::<_, WallTime>(9)?.time(),
        changed: row.get::<_, WallTime>(10)?.time(),
        parent: row.get(11)?,
    })
}

fn stage(row: &Row<'_>, column: usize) -> rusqlite::Result<RunStage> {
    let word = row.get_ref(column)?.as_str()?;
    let known = RunStage::ALL.into_iter().find(|stage| stage.as_str() == word);
    known.ok_or_else(|| {
        let strange = format!("no stage of a run is called `{word}`");
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, strange.into())
    })
}
