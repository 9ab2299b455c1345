//! Keys: asked for by many at once, and settled.

use std::collections::{HashMap, HashSet};

use tokio_postgres::Row;
use toolcrib_core::{Caller, Checkpoint, IdempotencyKey, KeyState};
use toolcrib_store::StoreOptions;
use toolcrib_store::rows::keys::{KeyHold, KeySettlement, named};
use toolcrib_store::writes::key_claim::KeyClaimTask;

use super::{NOW, claimed_tickets};
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
        let find = format!(
            "SELECT w.place, k.arguments, k.state, k.response, k.expires <= {NOW} FROM unnest($1::bigint[], $2::text[], $3::text[], \
             $4::text[], $5::text[]) \
             WITH ORDINALITY AS w (place, tenant, subject, tool, key, number) JOIN keys k \
             ON k.tenant = w.tenant AND k.subject = w.subject AND k.tool = w.tool \
             AND k.key = w.key ORDER BY w.number"
        );
        let Self { places, tenants, subjects, tools, keys } = self;
        session.rows(&find, &[places, tenants, subjects, tools, keys]).await
    }
}

/// What a row says of a key; `None`: nothing any more. `arguments`: those it must have come with.
fn state(row: &Row, arguments: Option<&str>) -> Answer<Option<KeyState>> {
    let (state, is_expired): (&str, bool) = (row.try_get(2)?, row.try_get(4)?);
    // A call that runs holds its key, however long it takes.
    if is_expired && state != "running" {
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
    let taken = new.write(session).await?;
    if taken.len() == new.arguments.len() {
        return Ok(());
    }
    // Another replica was first with the others.
    for task in claims.iter_mut() {
        let Some(key) = task.taken().filter(|key| !taken.contains(&row_name(key))).cloned() else {
            continue;
        };
        let arguments = task.begin().map(|claim| claim.arguments.to_string());
        let begun = known(session, &key, arguments.as_deref()).await?;
        task.keep(begun.unwrap_or(KeyState::Running));
    }
    Ok(())
}

/// Where a key stands.
type KeyRowName = (String, String, String, String);

fn row_name(key: &IdempotencyKey) -> KeyRowName {
    let Caller { tenant, subject, .. } = &key.caller;
    (tenant.clone(), subject.clone(), named(key), key.key.clone())
}

/// Keys that are taken at once.
#[derive(Default)]
struct NewKeys {
    names: KeyNames,
    arguments: Vec<String>,
    /// For how long, in milliseconds.
    lifetimes: Vec<i64>,
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
        self.lifetimes.push(i64::try_from(options.keys_for.as_millis()).unwrap_or(i64::MAX));
        self.bound.push(hold == KeyHold::Bound);
    }

    /// Gives those that were taken: all that were free or had expired, unless another replica was
    /// first. They are taken in the order of their names, so that of two replicas neither waits for
    /// the other.
    async fn write(&self, session: &Session) -> Answer<HashSet<KeyRowName>> {
        if self.arguments.is_empty() {
            return Ok(HashSet::new());
        }
        let take = format!(
            "INSERT INTO keys AS k (tenant, subject, tool, key, arguments, expires, bound, state, \
             owner) SELECT tenant, subject, tool, key, arguments, \
             least({NOW}::numeric + lifetime, 9223372036854775807)::bigint, bound, 'running', $8 \
             FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], \
             $6::bigint[], $7::boolean[]) AS n (tenant, subject, tool, key, arguments, lifetime, \
             bound) ORDER BY tenant, subject, tool, key \
             ON CONFLICT (tenant, subject, tool, key) DO UPDATE SET \
             arguments = excluded.arguments, expires = excluded.expires, bound = excluded.bound, \
             state = excluded.state, response = NULL, checkpoint = NULL, owner = excluded.owner \
             WHERE k.expires <= {NOW} AND k.state <> 'running' \
             RETURNING tenant, subject, tool, key"
        );
        let KeyNames { tenants, subjects, tools, keys, .. } = &self.names;
        let (arguments, lifetimes, bound) = (&self.arguments, &self.lifetimes, &self.bound);
        let taken = session
            .rows(
                &take,
                &[tenants, subjects, tools, keys, arguments, lifetimes, bound, &session.owner()],
            )
            .await?;
        taken.iter().map(read_name).collect()
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
    new.write(session).await?;
    Ok(())
}

/// From now on they stay taken when the process ends. Gives those that this process holds: another
/// replica may have what it began before it was taken for dead.
pub(crate) async fn bind_all<'a>(
    session: &Session,
    keys: impl IntoIterator<Item = &'a IdempotencyKey>,
) -> Answer<HashSet<KeyRowName>> {
    let mut bound = KeyNames::default();
    for key in keys {
        bound.push(0, key, named(key));
    }
    if bound.places.is_empty() {
        return Ok(HashSet::new());
    }
    const BIND: &str = "UPDATE keys SET bound = true FROM unnest($1::text[], $2::text[], \
         $3::text[], $4::text[]) AS w (tenant, subject, tool, key) \
         WHERE keys.tenant = w.tenant AND keys.subject = w.subject AND keys.tool = w.tool \
         AND keys.key = w.key AND keys.state = 'running' AND keys.owner = $5 \
         RETURNING keys.tenant, keys.subject, keys.tool, keys.key";
    let KeyNames { tenants, subjects, tools, keys, .. } = &bound;
    let held = session.rows(BIND, &[tenants, subjects, tools, keys, &session.owner()]).await?;
    held.iter().map(read_name).collect()
}

fn read_name(row: &Row) -> Answer<KeyRowName> {
    Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?))
}

/// Whether a call may be sent under its keys: those under which it was begun are held. Under a
/// ticket that is its own key; that of its caller was answered when it was parked.
pub(crate) fn are_held(keys: &[IdempotencyKey], held: &HashSet<KeyRowName>) -> bool {
    let is_redeemed = keys.iter().any(|key| key.ticket().is_some());
    let mut begun = keys.iter().filter(|key| key.ticket().is_some() || !is_redeemed);
    begun.all(|key| held.contains(&row_name(key)))
}

/// What was claimed for calls that are on record now needs to be known no more.
pub(crate) async fn redeemed<'a>(
    session: &Session,
    keys: impl IntoIterator<Item = &'a IdempotencyKey>,
) -> Answer<()> {
    let tickets: Vec<_> = keys.into_iter().filter_map(IdempotencyKey::ticket).collect();
    claimed_tickets::forget(session, &tickets).await
}

/// A key that this process began and that runs, or of which others said that nobody knows its end.
const BEGUN: &str = "AND owner = ANY ($5::bigint[]) \
                     AND (state = 'running' OR state = 'unknown' AND owner <> $6)";

const OF: &str = "WHERE tenant = $1 AND subject = $2 AND tool = $3 AND key = $4";

/// Leaves word with keys whose call runs.
pub(crate) async fn checkpoint(
    session: &Session,
    keys: &[IdempotencyKey],
    written: &str,
) -> Answer<()> {
    let leave =
        format!("UPDATE keys SET checkpoint = $5 {OF} AND state = 'running' AND owner = $6");
    for key in keys {
        let Caller { tenant, subject, .. } = &key.caller;
        session
            .change(&leave, &[tenant, subject, &named(key), &key.key, &written, &session.owner()])
            .await?;
    }
    Ok(())
}

/// The word that a call left whose end nobody knows: it runs again from now on.
pub(crate) async fn take_up(session: &Session, key: &IdempotencyKey) -> Answer<Option<Checkpoint>> {
    let take = format!(
        "UPDATE keys SET state = 'running', bound = true, owner = $5 {OF} AND state = 'unknown' \
         AND checkpoint IS NOT NULL RETURNING checkpoint"
    );
    let Caller { tenant, subject, .. } = &key.caller;
    let row =
        session.row(&take, &[tenant, subject, &named(key), &key.key, &session.owner()]).await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Checkpoint::read(row.try_get(0)?))
}

/// What a key says, without asking for it.
pub(crate) async fn recorded(session: &Session, key: &IdempotencyKey) -> Answer<KeyState> {
    Ok(known(session, key, None).await?.unwrap_or(KeyState::New))
}

/// The same; `None`: nothing. `arguments`: those it must have come with.
async fn known(
    session: &Session,
    key: &IdempotencyKey,
    arguments: Option<&str>,
) -> Answer<Option<KeyState>> {
    let mut asked = KeyNames::default();
    for name in names(key) {
        asked.push(0, key, name);
    }
    let rows = asked.find(session).await?;
    rows.iter().find_map(|row| state(row, arguments).transpose()).transpose()
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
    let of = (session.owners(), session.owner());
    match settled {
        KeySettlement::Answered(answer) => {
            let settle = format!("UPDATE keys SET state = 'ended', response = $7 {OF} {BEGUN}");
            session.change(&settle, &[tenant, subject, tool, key, of.0, &of.1, answer]).await?;
        }
        KeySettlement::Late(answer) => {
            let settle = format!("UPDATE keys SET state = 'ended', response = $5 {OF}");
            session.change(&settle, &[tenant, subject, tool, key, answer]).await?;
        }
        KeySettlement::Lost => {
            let lose = format!("UPDATE keys SET state = 'unknown' {OF} {BEGUN}");
            session.change(&lose, &[tenant, subject, tool, key, of.0, &of.1]).await?;
        }
        KeySettlement::Free => {
            let free = format!("DELETE FROM keys {OF} {BEGUN}");
            session.change(&free, &[tenant, subject, tool, key, of.0, &of.1]).await?;
        }
    }
    Ok(())
}
