//! Keys: asked for by many at once, and settled.

use std::collections::HashMap;

use tokio_postgres::Row;
use toolcrib_core::{Caller, Checkpoint, IdempotencyKey, KeyState};
use toolcrib_store::StoreOptions;
use toolcrib_store::clock::WallTime;
use toolcrib_store::rows::keys::{KeyHold, KeySettlement, named};
use toolcrib_store::writes::key_claim::KeyClaimTask;

use super::claimed_tickets;
use crate::error::SessionError;
use crate::session::{Answer, Session};

/// The names under which a key may stand, the first before the other: keys may name no source.
fn names(key: &IdempotencyKey) -> Vec<String> {
    let mut names = vec![named(key)];
    if key.source.is_some() {
        names.push(key.tool.to_string());
    }
    names
}

/// Names of keys, a list for each column.
#[derive(Default)]
struct KeyNames {
    places: Vec<i64>,
    tenants: Vec<String>,
    subjects: Vec<String>,
    tools: Vec<String>,
    keys: Vec<String>,
}

impl KeyNames {
    fn push(&mut self, place: usize, key: &IdempotencyKey, tool: String) {
        self.places.push(i64::try_from(place).unwrap_or(i64::MAX));
        self.tenants.push(key.caller.tenant.clone());
        self.subjects.push(key.caller.subject.clone());
        self.tools.push(tool);
        self.keys.push(key.key.clone());
    }

    /// The rows that are there, in the order in which the names came.
    async fn find(&self, session: &Session) -> Answer<Vec<Row>> {
        if self.places.is_empty() {
            return Ok(Vec::new());
        }
        const FIND: &str = "SELECT w.place, k.arguments, k.state, k.response, k.expires \
             FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[]) \
             WITH ORDINALITY AS w (place, tenant, subject, tool, key, number) JOIN keys k \
             ON k.tenant = w.tenant AND k.subject = w.subject AND k.tool = w.tool \
             AND k.key = w.key ORDER BY w.number";
        let Self { places, tenants, subjects, tools, keys } = self;
        session.rows(FIND, &[places, tenants, subjects, tools, keys]).await
    }
}

/// What a row says of a key; `None`: nothing any more. `arguments`: those it must have come with.
fn state(row: &Row, arguments: Option<&str>) -> Answer<Option<KeyState>> {
    let (state, expires): (&str, i64) = (row.try_get(2)?, row.try_get(4)?);
    // A call that runs holds its key, however long it takes.
    if expires <= WallTime::now().0 && state != "running" {
        return Ok(None);
    }
    let before: &str = row.try_get(1)?;
    if arguments.is_some_and(|arguments| arguments != before) {
        return Ok(Some(KeyState::Conflict));
    }
    match state {
        "running" => Ok(Some(KeyState::Running)),
        "ended" => {
            let response = serde_json::from_str(row.try_get(3)?);
            response
                .map(|response| Some(KeyState::Ended(response)))
                .map_err(|_| SessionError::Unreadable("a response"))
        }
        _ => Ok(Some(KeyState::Unknown)),
    }
}

/// Asks for many keys at once: of those who ask for one, the first is told `New`.
pub(crate) async fn begin_all(
    session: &Session,
    claims: &mut [&mut KeyClaimTask],
    options: &StoreOptions,
) -> Answer<()> {
    let mut asked = KeyNames::default();
    for (place, claim) in claims.iter_mut().enumerate() {
        let Some(claim) = claim.begin() else { continue };
        for name in names(&claim.key) {
            asked.push(place, &claim.key, name);
        }
    }
    let mut found: HashMap<i64, Vec<Row>> = HashMap::new();
    for row in asked.find(session).await? {
        found.entry(row.try_get(0)?).or_default().push(row);
    }
    let mut new = NewKeys::default();
    for (place, task) in claims.iter_mut().enumerate() {
        let Some(claim) = task.begin() else { continue };
        let arguments = claim.arguments.to_string();
        let rows = found.remove(&i64::try_from(place).unwrap_or(i64::MAX)).unwrap_or_default();
        let known = rows.iter().find_map(|row| state(row, Some(&arguments)).transpose());
        let known = known.transpose()?.or_else(|| new.known(&claim.key, &arguments));
        let begun = known.unwrap_or_else(|| {
            new.push(&claim.key, (arguments, claim.hold), options);
            KeyState::New
        });
        task.keep(begun);
    }
    new.write(session).await
}

/// Keys that are taken at once.
#[derive(Default)]
struct NewKeys {
    names: KeyNames,
    arguments: Vec<String>,
    expires: Vec<i64>,
    bound: Vec<bool>,
}

impl NewKeys {
    /// What one who came before in the same group made of a key.
    fn known(&self, key: &IdempotencyKey, arguments: &str) -> Option<KeyState> {
        let Caller { tenant, subject, .. } = &key.caller;
        let of = &self.names;
        for name in names(key) {
            for (place, before) in self.arguments.iter().enumerate() {
                let is_same = of.tenants.get(place) == Some(tenant)
                    && of.subjects.get(place) == Some(subject)
                    && of.tools.get(place) == Some(&name)
                    && of.keys.get(place) == Some(&key.key);
                if is_same {
                    let is_alike = before == arguments;
                    return Some(if is_alike { KeyState::Running } else { KeyState::Conflict });
                }
            }
        }
        None
    }

    fn push(
        &mut self,
        key: &IdempotencyKey,
        (arguments, hold): (String, KeyHold),
        options: &StoreOptions,
    ) {
        self.names.push(0, key, named(key));
        self.arguments.push(arguments);
        self.expires.push(WallTime::now().after(options.keys_for).0);
        self.bound.push(hold == KeyHold::Bound);
    }

    /// One that is there has expired.
    async fn write(&self, session: &Session) -> Answer<()> {
        if self.arguments.is_empty() {
            return Ok(());
        }
        const TAKE: &str = "INSERT INTO keys (tenant, subject, tool, key, arguments, expires, \
             bound, state) SELECT *, 'running' FROM unnest($1::text[], $2::text[], $3::text[], \
             $4::text[], $5::text[], $6::bigint[], $7::boolean[]) \
             ON CONFLICT (tenant, subject, tool, key) DO UPDATE SET \
             arguments = excluded.arguments, expires = excluded.expires, bound = excluded.bound, \
             state = excluded.state, response = NULL, checkpoint = NULL";
        let KeyNames { tenants, subjects, tools, keys, .. } = &self.names;
        let (arguments, expires, bound) = (&self.arguments, &self.expires, &self.bound);
        session.change(TAKE, &[tenants, subjects, tools, keys, arguments, expires, bound]).await?;
        Ok(())
    }
}

/// Begins the key of a ticket that was claimed just now.
pub(crate) async fn begin_claimed(
    session: &Session,
    key: &IdempotencyKey,
    options: &StoreOptions,
) -> Answer<()> {
    let mut new = NewKeys::default();
    new.push(key, (String::new(), KeyHold::Loose), options);
    new.write(session).await
}

/// From now on they stay taken when the process ends.
pub(crate) async fn bind_all<'a>(
    session: &Session,
    keys: impl IntoIterator<Item = &'a IdempotencyKey>,
) -> Answer<()> {
    let (mut bound, mut redeemed) = (KeyNames::default(), Vec::new());
    for key in keys {
        bound.push(0, key, named(key));
        redeemed.extend(key.ticket());
    }
    if bound.places.is_empty() {
        return Ok(());
    }
    const BIND: &str = "UPDATE keys SET bound = true FROM unnest($1::text[], $2::text[], \
         $3::text[], $4::text[]) AS w (tenant, subject, tool, key) \
         WHERE keys.tenant = w.tenant AND keys.subject = w.subject AND keys.tool = w.tool \
         AND keys.key = w.key AND keys.state = 'running'";
    let KeyNames { tenants, subjects, tools, keys, .. } = &bound;
    session.change(BIND, &[tenants, subjects, tools, keys]).await?;
    claimed_tickets::forget(session, &redeemed).await
}

const OF: &str = "WHERE tenant = $1 AND subject = $2 AND tool = $3 AND key = $4";

/// Leaves word with keys whose call runs.
pub(crate) async fn checkpoint(
    session: &Session,
    keys: &[IdempotencyKey],
    written: &str,
) -> Answer<()> {
    let leave = format!("UPDATE keys SET checkpoint = $5 {OF} AND state = 'running'");
    for key in keys {
        let Caller { tenant, subject, .. } = &key.caller;
        session.change(&leave, &[tenant, subject, &named(key), &key.key, &written]).await?;
    }
    Ok(())
}

/// The word that a call left whose end nobody knows: it runs again from now on.
pub(crate) async fn take_up(session: &Session, key: &IdempotencyKey) -> Answer<Option<Checkpoint>> {
    let take = format!(
        "UPDATE keys SET state = 'running', bound = true {OF} AND state = 'unknown' \
         AND checkpoint IS NOT NULL RETURNING checkpoint"
    );
    let Caller { tenant, subject, .. } = &key.caller;
    let row = session.row(&take, &[tenant, subject, &named(key), &key.key]).await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Checkpoint::read(row.try_get(0)?))
}

/// What a key says, without asking for it.
pub(crate) async fn recorded(session: &Session, key: &IdempotencyKey) -> Answer<KeyState> {
    let mut asked = KeyNames::default();
    for name in names(key) {
        asked.push(0, key, name);
    }
    let rows = asked.find(session).await?;
    let known = rows.iter().find_map(|row| state(row, None).transpose());
    Ok(known.transpose()?.unwrap_or(KeyState::New))
}

/// Writes what came of a key.
pub(crate) async fn settle(
    session: &Session,
    key: &IdempotencyKey,
    settled: &KeySettlement,
) -> Answer<()> {
    let Caller { tenant, subject, .. } = &key.caller;
    claimed_tickets::forget(session, &Vec::from_iter(key.ticket())).await?;
    let (tool, key) = (&named(key), &key.key);
    match settled {
        KeySettlement::Answered(answer) => {
            let settle = format!(
                "UPDATE keys SET state = 'ended', response = $5 {OF} AND state = 'running'"
            );
            session.change(&settle, &[tenant, subject, tool, key, answer]).await?;
        }
        KeySettlement::Late(answer) => {
            let settle = format!("UPDATE keys SET state = 'ended', response = $5 {OF}");
            session.change(&settle, &[tenant, subject, tool, key, answer]).await?;
        }
        KeySettlement::Lost => {
            let lose = format!("UPDATE keys SET state = 'unknown' {OF} AND state = 'running'");
            session.change(&lose, &[tenant, subject, tool, key]).await?;
        }
        KeySettlement::Free => {
            let free = format!("DELETE FROM keys {OF} AND state = 'running'");
            session.change(&free, &[tenant, subject, tool, key]).await?;
        }
    }
    Ok(())
}
