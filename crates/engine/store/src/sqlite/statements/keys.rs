//! Keys, as SQLite is told of them.

use rusqlite::{Connection, OptionalExtension as _, params};
use toolcrib_core::{Caller, Checkpoint, Fingerprint, IdempotencyKey, KeyState};

use super::claimed_tickets;
use crate::clock::WallTime;
use crate::options::StoreOptions;
use crate::rows::keys::{KeyHold, KeySettlement, named};

const RUNNING: &str = "AND state = 'running'";

/// Asks for a key: it is taken by whoever is told `New`.
pub(crate) fn begin(
    key: &IdempotencyKey,
    connection: &Connection,
    (arguments, hold): (Fingerprint, KeyHold),
    options: &StoreOptions,
) -> rusqlite::Result<KeyState> {
    let arguments = arguments.to_string();
    if let Some(begun) = find(key, connection, Some(&arguments))? {
        return Ok(begun);
    }
    take(key, connection, (&arguments, hold), options)?;
    Ok(KeyState::New)
}

fn take(
    key: &IdempotencyKey,
    connection: &Connection,
    (arguments, hold): (&str, KeyHold),
    options: &StoreOptions,
) -> rusqlite::Result<()> {
    let expires = WallTime::now().after(options.keys_for);
    let mut take = connection.prepare_cached(
        "INSERT OR REPLACE INTO keys (tenant, subject, tool, key, arguments, state, expires, \
         bound) VALUES (?1, ?2, ?3, ?4, ?5, 'running', ?6, ?7)",
    )?;
    let Caller { tenant, subject, .. } = &key.caller;
    let (tool, key) = (named(key), &key.key);
    let is_bound = hold == KeyHold::Bound;
    take.execute(params![tenant, subject, tool, key, arguments, expires, is_bound])?;
    Ok(())
}

/// From now on it stays taken when the process ends.
pub(crate) fn bind(key: &IdempotencyKey, connection: &Connection) -> rusqlite::Result<()> {
    let mut bind = connection.prepare_cached(
        "UPDATE keys SET bound = 1 WHERE tenant = ?1 AND subject = ?2 AND tool = ?3 AND key = ?4 \
         AND state = 'running'",
    )?;
    let Caller { tenant, subject, .. } = &key.caller;
    bind.execute(params![tenant, subject, named(key), key.key])?;
    key.ticket().map_or(Ok(()), |ticket| claimed_tickets::forget(connection, ticket))
}

/// Leaves word with a key whose call runs.
pub(crate) fn checkpoint(
    key: &IdempotencyKey,
    connection: &Connection,
    written: &str,
) -> rusqlite::Result<()> {
    let mut leave = connection.prepare_cached(
        "UPDATE keys SET checkpoint = ?5 WHERE tenant = ?1 AND subject = ?2 AND tool = ?3 \
         AND key = ?4 AND state = 'running'",
    )?;
    let Caller { tenant, subject, .. } = &key.caller;
    leave.execute(params![tenant, subject, named(key), key.key, written])?;
    Ok(())
}

/// The word that a call left whose end nobody knows: it runs again from now on.
pub(crate) fn take_up(
    key: &IdempotencyKey,
    connection: &Connection,
) -> rusqlite::Result<Option<Checkpoint>> {
    let mut take = connection.prepare_cached(
        "UPDATE keys SET state = 'running', bound = 1 WHERE tenant = ?1 AND subject = ?2 \
         AND tool = ?3 AND key = ?4 AND state = 'unknown' AND checkpoint IS NOT NULL \
         RETURNING checkpoint",
    )?;
    let Caller { tenant, subject, .. } = &key.caller;
    let of = params![tenant, subject, named(key), key.key];
    let written: Option<String> = take.query_row(of, |row| row.get(0)).optional()?;
    Ok(written.as_deref().and_then(Checkpoint::read))
}

/// What is known of a key; `None`: nothing. `arguments`: those it must have come with.
fn find(
    key: &IdempotencyKey,
    connection: &Connection,
    arguments: Option<&str>,
) -> rusqlite::Result<Option<KeyState>> {
    let found = find_named(&named(key), (key, arguments), connection)?;
    if found.is_some() || key.source.is_none() {
        return Ok(found);
    }
    // Keys of before named no source.
    find_named(key.tool.as_str(), (key, arguments), connection)
}

fn find_named(
    name: &str,
    (key, arguments): (&IdempotencyKey, Option<&str>),
    connection: &Connection,
) -> rusqlite::Result<Option<KeyState>> {
    let now = WallTime::now();
    let mut find = connection.prepare_cached(
        "SELECT arguments, state, response, expires FROM keys \
         WHERE tenant = ?1 AND subject = ?2 AND tool = ?3 AND key = ?4",
    )?;
    let Caller { tenant, subject, .. } = &key.caller;
    let found = find.query_row(params![tenant, subject, name, key.key], |row| {
        let (state, expires) = (row.get_ref(1)?.as_str()?, row.get::<_, WallTime>(3)?);
        // A call that runs holds its key, however long it takes.
        if expires <= now && state != "running" {
            return Ok(None);
        }
        let before = row.get_ref(0)?.as_str()?;
        if arguments.is_some_and(|arguments| arguments != before) {
            return Ok(Some(KeyState::Conflict));
        }
        match state {
            "running" => Ok(Some(KeyState::Running)),
            "ended" => {
                let response = serde_json::from_str(row.get_ref(2)?.as_str()?);
                response.map(KeyState::Ended).map(Some).map_err(|error| {
                    let text = rusqlite::types::Type::Text;
                    rusqlite::Error::FromSqlConversionFailure(2, text, error.into())
                })
            }
            _ => Ok(Some(KeyState::Unknown)),
        }
    });
    Ok(found.optional()?.flatten())
}

/// What a key says, without asking for it.
pub(crate) fn recorded(
    key: &IdempotencyKey,
    connection: &Connection,
) -> rusqlite::Result<KeyState> {
    Ok(find(key, connection, None)?.unwrap_or(KeyState::New))
}

/// Begins the key of a ticket that was claimed just now.
pub(crate) fn begin_claimed(
    key: &IdempotencyKey,
    connection: &Connection,
    options: &StoreOptions,
) -> rusqlite::Result<()> {
    take(key, connection, ("", KeyHold::Loose), options)
}

/// Writes what came of a key.
pub(crate) fn settle(
    key: &IdempotencyKey,
    connection: &Connection,
    settled: &KeySettlement,
) -> rusqlite::Result<()> {
    const OF: &str = "WHERE tenant = ?1 AND subject = ?2 AND tool = ?3 AND key = ?4";
    let Caller { tenant, subject, .. } = &key.caller;
    if let Some(ticket) = key.ticket() {
        claimed_tickets::forget(connection, ticket)?;
    }
    let (tool, key) = (named(key), &key.key);
    match settled {
        KeySettlement::Answered(answer) | KeySettlement::Late(answer) => {
            let running = if matches!(settled, KeySettlement::Late(_)) { "" } else { RUNNING };
            let settle = format!("UPDATE keys SET state = 'ended', response = ?5 {OF} {running}");
            let what = params![tenant, subject, tool, key, answer];
            connection.prepare_cached(&settle)?.execute(what)?;
        }
        KeySettlement::Lost => {
            let lose = format!("UPDATE keys SET state = 'unknown' {OF} {RUNNING}");
            connection.prepare_cached(&lose)?.execute(params![tenant, subject, tool, key])?;
        }
        KeySettlement::Free => {
            let free = format!("DELETE FROM keys {OF} {RUNNING}");
            connection.prepare_cached(&free)?.execute(params![tenant, subject, tool, key])?;
        }
    }
    Ok(())
}
