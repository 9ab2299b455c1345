//! Sessions of clients.

use rusqlite::{Connection, OptionalExtension as _, params};
use toolcrib_core::{Caller, ENDED_FOR, SessionRecord};

use crate::clock::WallTime;
use crate::rows::runs::count;
use crate::writes::requests::session_requests::WriteSession;

/// The names of those that were changed, or are there.
pub(crate) fn write(
    connection: &Connection,
    asked: &WriteSession,
) -> rusqlite::Result<Vec<String>> {
    let now = WallTime::now();
    match asked {
        WriteSession::Put { session, life, most } => {
            let is_there = put(connection, session, now.after(*life), *most)?;
            Ok(is_there.then(|| session.name.clone()).into_iter().collect())
        }
        WriteSession::Keep { names, life } => {
            let until = now.after(*life);
            let mut keep = connection.prepare_cached(
                "UPDATE client_sessions SET expires = max(expires, ?2) \
                 WHERE name = ?1 AND NOT ended AND expires > ?3",
            )?;
            changed(names, |name| keep.execute(params![name, until, now]))
        }
        WriteSession::Leave { names, left } => {
            let until = now.after(*left);
            let mut leave = connection.prepare_cached(
                "UPDATE client_sessions SET expires = min(expires, ?3) \
                 WHERE name = ?1 AND NOT ended AND expires <= ?2",
            )?;
            changed(names, |name| leave.execute(params![name, until, now]))
        }
        WriteSession::Greet { name, greeting } => {
            let greet = "UPDATE client_sessions SET greeting = ?2 WHERE name = ?1 AND NOT ended";
            let mut greet = connection.prepare_cached(greet)?;
            changed([name], |name| greet.execute(params![name, greeting]))
        }
        WriteSession::End { name } => {
            let end = "UPDATE client_sessions SET ended = 1, greeting = '', expires = ?2 \
                       WHERE name = ?1 AND NOT ended AND expires > ?3";
            let until = now.after(ENDED_FOR);
            let mut end = connection.prepare_cached(end)?;
            changed([name], |name| end.execute(params![name, until, now]))
        }
    }
}

/// Those that this changes.
fn changed<'a>(
    names: impl IntoIterator<Item = &'a String>,
    mut change: impl FnMut(&str) -> rusqlite::Result<usize>,
) -> rusqlite::Result<Vec<String>> {
    let mut changed = Vec::new();
    for name in names {
        if change(name)? > 0 {
            changed.push(name.clone());
        }
    }
    Ok(changed)
}

fn put(
    connection: &Connection,
    session: &SessionRecord,
    until: WallTime,
    most: usize,
) -> rusqlite::Result<bool> {
    let SessionRecord { name, caller, profile, greeting, began } = session;
    let now = WallTime::now();
    // One whose life is over may lie there still.
    let find = "SELECT 1 FROM client_sessions WHERE name = ?1 AND expires > ?2";
    if connection.prepare_cached(find)?.exists(params![name, now])? {
        return Ok(true);
    }
    let open = "SELECT count(*) FROM (SELECT 1 FROM client_sessions \
                WHERE tenant = ?1 AND subject = ?2 AND NOT ended AND expires > ?3 LIMIT ?4)";
    let most = count(most);
    let of_caller = params![&*caller.tenant, &*caller.subject, now, most];
    let open: i64 = connection.prepare_cached(open)?.query_row(of_caller, |row| row.get(0))?;
    if open >= most {
        return Ok(false);
    }
    let began = WallTime::of(*began);
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO client_sessions \
             (name, tenant, subject, profile, greeting, began, expires) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            name,
            &*caller.tenant,
            &*caller.subject,
            profile,
            greeting,
            began,
            until
        ])?;
    Ok(true)
}

/// One that lives.
pub(crate) fn find(connection: &Connection, name: &str) -> rusqlite::Result<Option<SessionRecord>> {
    let mut find = connection.prepare_cached(
        "SELECT tenant, subject, profile, greeting, began FROM client_sessions \
         WHERE name = ?1 AND NOT ended AND expires > ?2",
    )?;
    let found = find.query_row(params![name, WallTime::now()], |row| {
        Ok(SessionRecord {
            name: name.to_owned(),
            caller: Caller::new(row.get::<_, String>(0)?, row.get::<_, String>(1)?),
            profile: row.get(2)?,
            greeting: row.get(3)?,
            began: row.get::<_, WallTime>(4)?.time(),
        })
    });
    found.optional()
}

/// Which of these were ended a while ago.
pub(crate) fn ended(connection: &Connection, names: Vec<String>) -> rusqlite::Result<Vec<String>> {
    let find = "SELECT 1 FROM client_sessions WHERE name = ?1 AND ended AND expires > ?2";
    let (mut find, now) = (connection.prepare_cached(find)?, WallTime::now());
    let mut ended = Vec::new();
    for name in names {
        if find.exists(params![name, now])? {
            ended.push(name);
        }
    }
    Ok(ended)
}

/// Removes so many whose life is over.
pub(crate) fn forget(connection: &Connection, now: WallTime, most: i64) -> rusqlite::Result<usize> {
    let forget = "DELETE FROM client_sessions WHERE name IN \
         (SELECT name FROM client_sessions WHERE expires <= ?1 ORDER BY expires LIMIT ?2)";
    connection.prepare_cached(forget)?.execute(params![now, most])
}
