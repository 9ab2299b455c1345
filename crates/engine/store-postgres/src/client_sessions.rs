//! Sessions of clients. Several processes look at them, so that the clock is that of the database.

use std::time::Duration;

use tokio_postgres::Row;
use toolcrib_core::{Caller, ENDED_FOR, SessionRecord};
use toolcrib_store::clock::WallTime;
use toolcrib_store::rows::runs::count;
use toolcrib_store::writes::requests::session_requests::WriteSession;

use crate::session::{Answer, Session};

/// The names of those that were changed, or are there.
pub(crate) async fn write(session: &Session, asked: &WriteSession) -> Answer<Vec<String>> {
    let changed = match asked {
        WriteSession::Put { session: new, life, most } => {
            let is_there = put(session, new, *life, *most).await?;
            return Ok(is_there.then(|| new.name.clone()).into_iter().collect());
        }
        WriteSession::Keep { names, life } => {
            let keep = "UPDATE client_sessions SET expires = greatest(expires, now.ms + $2::bigint) \
                 FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms) AS now \
                 WHERE name = ANY ($1::text[]) AND NOT ended AND expires > now.ms RETURNING name";
            session.rows(keep, &[names, &milliseconds(*life)]).await?
        }
        WriteSession::Leave { names, left } => {
            let leave = "UPDATE client_sessions SET expires = least(expires, now.ms) \
                 FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms) AS now \
                 WHERE name = ANY ($1::text[]) AND NOT ended AND expires <= now.ms + $2::bigint \
                 RETURNING name";
            session.rows(leave, &[names, &milliseconds(*left)]).await?
        }
        WriteSession::Greet { name, greeting } => {
            let greet = "UPDATE client_sessions SET greeting = $2 \
                 WHERE name = $1 AND NOT ended RETURNING name";
            session.rows(greet, &[name, greeting]).await?
        }
        WriteSession::End { name } => {
            let end = "UPDATE client_sessions SET ended = true, greeting = '', \
                 expires = now.ms + $2::bigint \
                 FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms) AS now \
                 WHERE name = $1 AND NOT ended AND expires > now.ms RETURNING name";
            session.rows(end, &[name, &milliseconds(ENDED_FOR)]).await?
        }
    };
    names(&changed)
}

fn names(rows: &[Row]) -> Answer<Vec<String>> {
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// One whose life is over may lie there still: it is replaced.
async fn put(session: &Session, new: &SessionRecord, life: Duration, most: usize) -> Answer<bool> {
    let SessionRecord { name, caller, profile, greeting, began } = new;
    let insert = "INSERT INTO client_sessions \
         (name, tenant, subject, profile, greeting, began, expires) \
         SELECT $1::text, $2::text, $3::text, $4::text, $5::text, $6::bigint, \
         now.ms + $7::bigint \
         FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms) AS now \
         WHERE (SELECT count(*) FROM (SELECT 1 FROM client_sessions \
         WHERE tenant = $2::text AND subject = $3::text AND NOT ended AND expires > now.ms \
         LIMIT $8::bigint) AS open) < $8::bigint \
         ON CONFLICT (name) DO UPDATE SET tenant = excluded.tenant, subject = excluded.subject, \
         profile = excluded.profile, greeting = excluded.greeting, began = excluded.began, \
         expires = excluded.expires, ended = false WHERE client_sessions.expires \
         <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    let (began, life, most) = (WallTime::of(*began).0, milliseconds(life), count(most));
    let (tenant, subject) = (&caller.tenant, &caller.subject);
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 8] =
        [name, tenant, subject, profile, greeting, &began, &life, &most];
    if session.change(insert, &values).await? > 0 {
        return Ok(true);
    }
    let find = "SELECT 1 FROM client_sessions WHERE name = $1 \
         AND expires > (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    Ok(session.row(find, &[name]).await?.is_some())
}

/// One that lives.
pub(crate) async fn find(session: &Session, name: &str) -> Answer<Option<SessionRecord>> {
    let find = "SELECT tenant, subject, profile, greeting, began FROM client_sessions \
         WHERE name = $1 AND NOT ended \
         AND expires > (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    let Some(row) = session.row(find, &[&name]).await? else { return Ok(None) };
    Ok(Some(SessionRecord {
        name: name.to_owned(),
        caller: Caller::new(row.try_get::<_, String>(0)?, row.try_get::<_, String>(1)?),
        profile: row.try_get(2)?,
        greeting: row.try_get(3)?,
        began: WallTime(row.try_get(4)?).time(),
    }))
}

/// Which of these were ended a while ago.
pub(crate) async fn ended(session: &Session, asked: &Vec<String>) -> Answer<Vec<String>> {
    let list = "SELECT name FROM client_sessions WHERE name = ANY ($1::text[]) AND ended \
         AND expires > (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    names(&session.rows(list, &[asked]).await?)
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
