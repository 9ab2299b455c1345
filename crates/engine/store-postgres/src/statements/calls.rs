//! The rows of calls: many in one statement.

use std::collections::HashSet;

use toolcrib_core::{Attempt, Caller, Ending, UncertainCall};
use toolcrib_store::clock::WallTime;
use toolcrib_store::rows::calls::{CallEnd, DuplicateQuery, NewCall, columns};

use crate::session::{Answer, Session};

/// Rows of calls that are written at once, a list for each column.
#[derive(Default)]
pub(crate) struct CallRows {
    keys: Vec<String>,
    call_ids: Vec<String>,
    tenants: Vec<String>,
    subjects: Vec<String>,
    tools: Vec<String>,
    sources: Vec<String>,
    effects: Vec<&'static str>,
    fingerprints: Vec<String>,
    arguments: Vec<String>,
    planned: Vec<i64>,
    endings: Vec<Option<&'static str>>,
    kinds: Vec<Option<&'static str>>,
    ended: Vec<Option<i64>>,
    attempts: Vec<Option<String>>,
    decider_tenants: Vec<Option<String>>,
    decider_subjects: Vec<Option<String>>,
    guards: Vec<Option<i64>>,
}

impl CallRows {
    pub(crate) fn push(&mut self, call: &NewCall, end: Option<&CallEnd>) {
        let (ending, kind) = end.map(CallEnd::columns).unzip();
        let decider = call.decider.as_deref();
        self.keys.push(call.key.to_string());
        // It comes from a model, and a text of Postgres has no zero in it.
        self.call_ids.push(call.call_id.replace('\0', "\u{fffd}"));
        self.tenants.push(call.caller.tenant.clone());
        self.subjects.push(call.caller.subject.clone());
        self.tools.push(call.tool.name.to_string());
        self.sources.push(call.tool.origin.source.to_string());
        self.effects.push(call.tool.effect.as_str());
        self.fingerprints.push(call.fingerprint.to_string());
        self.arguments.push(call.arguments.to_string());
        self.planned.push(call.planned.0);
        self.endings.push(ending);
        self.kinds.push(kind.flatten());
        self.ended.push(end.map(|end| end.at.0));
        self.attempts.push(end.and_then(CallEnd::attempts));
        self.decider_tenants.push(decider.map(|by| by.tenant.clone()));
        self.decider_subjects.push(decider.map(|by| by.subject.clone()));
        self.guards.push(None);
    }

    /// The same of one that is written only if none like it has an end since then that nobody
    /// knows.
    pub(crate) fn push_guarded(&mut self, call: &NewCall, guard: Option<WallTime>) {
        self.push(call, None);
        if let (Some(last), Some(after)) = (self.guards.last_mut(), guard) {
            *last = Some(after.0);
        }
    }

    /// Calls that wait for their turn, or that may be sent from now on; those may be there from the
    /// time when they waited. Gives the keys of those that were written: one that another replica
    /// gave an end meanwhile is not, and neither is one that is held back.
    pub(crate) async fn write(
        &self,
        session: &Session,
        dispatched: bool,
    ) -> Answer<HashSet<String>> {
        if self.keys.is_empty() {
            return Ok(HashSet::new());
        }
        // A row that is there must not take a number of another one: old rows go by them.
        const WRITE: &str = "WITH given AS (SELECT * FROM unnest($1::text[], $2::text[], \
             $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], \
             $10::bigint[], $11::text[], $12::text[], $13::bigint[], $14::text[], $15::text[], \
             $16::text[], $17::bigint[]) AS n (key, call_id, tenant, subject, tool, source, \
             effect, fingerprint, arguments, planned, ending, kind, ended, attempts, \
             decided_by_tenant, decided_by_subject, guard)), \
             n AS MATERIALIZED (SELECT * FROM given WHERE guard IS NULL OR NOT EXISTS (SELECT 1 \
             FROM calls u WHERE u.tenant = given.tenant AND u.subject = given.subject \
             AND u.tool = given.tool AND u.arguments = given.arguments AND u.source = given.source \
             AND u.ended > given.guard AND (u.ending = 'unknown' OR u.ending = 'succeeded' \
             AND u.resolved IS NOT NULL AND u.resolved_by_subject IS NULL))), \
             sent AS (UPDATE calls SET dispatched = true, \
             ending = n.ending, kind = n.kind, ended = n.ended, attempts = n.attempts FROM n \
             WHERE calls.key = n.key AND calls.ending IS NULL AND NOT calls.dispatched \
             AND calls.owner = $19 RETURNING calls.key), \
             made AS (INSERT INTO calls (key, call_id, tenant, subject, tool, source, effect, \
             fingerprint, arguments, planned, ending, kind, ended, attempts, decided_by_tenant, \
             decided_by_subject, dispatched, owner) SELECT n.key, n.call_id, n.tenant, n.subject, \
             n.tool, n.source, n.effect, n.fingerprint, n.arguments, n.planned, n.ending, n.kind, \
             n.ended, n.attempts, n.decided_by_tenant, n.decided_by_subject, $18::boolean, \
             $19::bigint FROM n \
             WHERE NOT EXISTS (SELECT 1 FROM calls WHERE calls.key = n.key) RETURNING key) \
             SELECT key FROM sent UNION ALL SELECT key FROM made";
        let written = session
            .rows(
                WRITE,
                &[
                    &self.keys,
                    &self.call_ids,
                    &self.tenants,
                    &self.subjects,
                    &self.tools,
                    &self.sources,
                    &self.effects,
                    &self.fingerprints,
                    &self.arguments,
                    &self.planned,
                    &self.endings,
                    &self.kinds,
                    &self.ended,
                    &self.attempts,
                    &self.decider_tenants,
                    &self.decider_subjects,
                    &self.guards,
                    &dispatched,
                    &session.owner(),
                ],
            )
            .await?;
        written.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }
}

/// Ends of calls that are written at once; each is given to a call that has none.
#[derive(Default)]
pub(crate) struct CallEnds {
    keys: Vec<String>,
    endings: Vec<&'static str>,
    kinds: Vec<Option<&'static str>>,
    ended: Vec<i64>,
    attempts: Vec<Option<String>>,
}

impl CallEnds {
    pub(crate) fn push(&mut self, key: &str, end: &CallEnd) {
        // The first end of a call stands.
        if self.keys.iter().any(|known| known == key) {
            return;
        }
        let (ending, kind) = end.columns();
        self.keys.push(key.to_owned());
        self.endings.push(ending);
        self.kinds.push(kind);
        self.ended.push(end.at.0);
        self.attempts.push(end.attempts());
    }

    pub(crate) async fn write(&self, session: &Session) -> Answer<()> {
        if self.keys.is_empty() {
            return Ok(());
        }
        // What others took for cut off has an end after all, if this process had begun it.
        const UPDATE: &str = "UPDATE calls SET ending = e.ending, kind = e.kind, ended = e.ended, \
             attempts = e.attempts, \
             resolved = CASE WHEN calls.ending = 'unknown' THEN e.ended ELSE calls.resolved END \
             FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[]) \
             AS e (key, ending, kind, ended, attempts) WHERE calls.key = e.key \
             AND (calls.ending IS NULL OR calls.ending = 'unknown' AND calls.interrupted \
             AND e.ending <> 'unknown' AND calls.owner = ANY ($6::bigint[]) \
             AND calls.owner <> $7)";
        let Self { keys, endings, kinds, ended, attempts } = self;
        let of = (session.owners(), session.owner());
        session.change(UPDATE, &[keys, endings, kinds, ended, attempts, of.0, &of.1]).await?;
        Ok(())
    }
}

/// Gives a call an end whose end was not known. `by`: who says so; `None`: an answer that came
/// late.
pub(crate) async fn resolve(
    session: &Session,
    key: &str,
    ending: Ending,
    by: Option<&Caller>,
) -> Answer<()> {
    let (ending, kind) = columns(ending);
    let (tenant, subject) = by.map(|by| (&by.tenant, &by.subject)).unzip();
    session
        .change(
            "UPDATE calls SET ending = $2, kind = $3, resolved = $4, resolved_by_tenant = $5, \
             resolved_by_subject = $6 WHERE key = $1 AND ending = 'unknown'",
            &[&key, &ending, &kind, &WallTime::now().0, &tenant, &subject],
        )
        .await?;
    Ok(())
}

/// The weightiest of the calls like one whose outcome nobody knew, and that ended after a moment:
/// those that took effect after all are among them, unless a person said so.
pub(crate) async fn unknown(
    session: &Session,
    like: &DuplicateQuery,
    after: WallTime,
) -> Answer<Option<UncertainCall>> {
    let alike = session
        .rows(
            "SELECT key, attempts FROM calls WHERE tenant = $1 AND subject = $2 AND tool = $3 \
             AND arguments = $4 AND ended > $5 AND source = $6 AND (ending = 'unknown' \
             OR ending = 'succeeded' AND resolved IS NOT NULL AND resolved_by_subject IS NULL) \
             ORDER BY ended DESC LIMIT 1000",
            &[&like.tenant, &like.subject, &like.tool, &like.arguments, &after.0, &like.source],
        )
        .await?;
    let mut weightiest = None;
    for row in alike {
        let attempts: Option<&str> = row.try_get(1)?;
        // What cannot be read tells of no one who gave it up.
        let attempts: Vec<Attempt> =
            serde_json::from_str(attempts.unwrap_or_default()).unwrap_or_default();
        let alike = UncertainCall::new(row.try_get::<_, String>(0)?, &attempts);
        weightiest = UncertainCall::weightiest(weightiest.into_iter().chain([alike]));
    }
    Ok(weightiest)
}

/// Whether there is a call whose outcome nobody knew.
pub(crate) async fn any_unknown(session: &Session) -> Answer<bool> {
    let found = session
        .row(
            "SELECT EXISTS (SELECT 1 FROM calls WHERE ending = 'unknown') OR EXISTS (SELECT 1 \
             FROM calls WHERE ending = 'succeeded' AND resolved IS NOT NULL)",
            &[],
        )
        .await?;
    Ok(found.map_or(Ok(true), |row| row.try_get(0))?)
}
