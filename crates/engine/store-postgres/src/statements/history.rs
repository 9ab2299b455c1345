//! What is read of the calls: newest first, a page at a time.

use std::collections::{BTreeSet, HashMap};

use tokio_postgres::Row;
use toolcrib_core::{Caller, Effect, Ending, Fingerprint};
use toolcrib_store::clock::WallTime;
use toolcrib_store::rows::call_state::CallState;
use toolcrib_store::rows::calls;
use toolcrib_store::rows::history::{CallCursor, CallFilter, CallPage, CallRecord, Decider};

use crate::error::SessionError;
use crate::session::{Answer, Session};

/// Rows of one page at the most.
const LARGEST_PAGE: usize = 500;

/// Rows that one page looks at; beyond that it says where to go on.
const LOOKED_AT: i64 = 10_000;

const COLUMNS: &str = "seq, key, call_id, tool, source, effect, fingerprint, arguments, planned, \
                       ended, ending, kind, interrupted, attempts, resolved, tenant, subject, \
                       decided_by_tenant, decided_by_subject, resolved_by_tenant, \
                       resolved_by_subject";

/// The calls of a caller, or of all where none is named.
pub(crate) async fn page(
    session: &Session,
    caller: Option<&Caller>,
    filter: &CallFilter,
    after: Option<CallCursor>,
    limit: usize,
) -> Answer<CallPage> {
    let limit = limit.clamp(1, LARGEST_PAGE);
    let before = after.map_or(i64::MAX, |CallCursor(seq)| seq);
    let (tenant, subject) = caller.map(|of| (&of.tenant, &of.subject)).unzip();
    // What was planned within the same millisecond came before it.
    let since = filter.since.map(|since| {
        let moment = WallTime::of(since);
        if moment.time() < since { moment.0.saturating_add(1) } else { moment.0 }
    });
    // The letter behind `-` is `.`.
    let end = |end: &str| filter.batch.as_ref().map(|batch| format!("{batch}{end}"));
    let (from, to) = (end("-"), end("."));
    let most = i64::try_from(limit).unwrap_or(i64::MAX);
    // What an index finds; the rest is looked for among so many of it.
    let rows = format!(
        "FROM calls WHERE seq < $1 AND ($2::text IS NULL OR tenant = $2 AND subject = $3) \
         AND ($4::text IS NULL OR key > $4 AND key < $5){} ORDER BY seq DESC LIMIT {LOOKED_AT}",
        in_states(&filter.states)
    );
    let find = format!(
        "SELECT {COLUMNS} FROM (SELECT {COLUMNS} {rows}) AS looked_at \
         WHERE ($6::text IS NULL OR tool = $6) AND ($7::text IS NULL OR source = $7) \
         AND ($8::bigint IS NULL OR planned >= $8) AND ($9::text IS NULL OR subject = $9) \
         ORDER BY seq DESC LIMIT $10"
    );
    let (tool, source, of) = (&filter.tool, &filter.source, &filter.caller);
    let found = session
        .rows(&find, &[&before, &tenant, &subject, &from, &to, tool, source, &since, of, &most])
        .await?;
    let next = if found.len() == limit {
        found.last().map(|last| last.try_get(0)).transpose()?
    } else {
        let last = format!("SELECT min(seq), count(*) FROM (SELECT seq {rows}) AS looked_at");
        let last = session.row(&last, &[&before, &tenant, &subject, &from, &to]).await?;
        let last = last.ok_or(SessionError::Unreadable("no count"))?;
        if last.try_get::<_, i64>(1)? < LOOKED_AT { None } else { last.try_get(0)? }
    };
    let calls = found.iter().map(read).collect::<Answer<_>>()?;
    Ok(CallPage { calls, next: next.map(CallCursor) })
}

/// The rows of calls in one of these states; of all where none is named.
fn in_states(states: &BTreeSet<CallState>) -> String {
    let of = |state: &CallState| match state {
        CallState::Running => "ending IS NULL",
        CallState::Succeeded => "ending = 'succeeded'",
        CallState::Failed => "ending = 'failed'",
        CallState::NotExecuted => "ending = 'not_executed'",
        CallState::OutcomeUnknown => "ending = 'unknown' AND NOT interrupted",
        CallState::Interrupted => "ending = 'unknown' AND interrupted",
    };
    let any: Vec<_> = states.iter().map(of).collect();
    if any.is_empty() { String::new() } else { format!(" AND ({})", any.join(" OR ")) }
}

pub(crate) async fn one(
    session: &Session,
    caller: &Caller,
    key: &str,
) -> Answer<Option<CallRecord>> {
    let find =
        format!("SELECT {COLUMNS} FROM calls WHERE key = $1 AND tenant = $2 AND subject = $3");
    let found = session.row(&find, &[&key, &caller.tenant, &caller.subject]).await?;
    found.as_ref().map(read).transpose()
}

/// The same, whoever made it.
pub(crate) async fn any(session: &Session, key: &str) -> Answer<Option<CallRecord>> {
    let find = format!("SELECT {COLUMNS} FROM calls WHERE key = $1");
    session.row(&find, &[&key]).await?.as_ref().map(read).transpose()
}

pub(crate) async fn endings(session: &Session, keys: &[String]) -> Answer<HashMap<String, Ending>> {
    let find = "SELECT key, ending, kind FROM calls WHERE key = ANY ($1) AND ending IS NOT NULL";
    let mut endings = HashMap::new();
    for row in session.rows(find, &[&keys]).await? {
        let ending = calls::ending(row.try_get(1)?, row.try_get(2)?);
        endings.extend(
            ending.map(|ending| Ok::<_, SessionError>((row.try_get(0)?, ending))).transpose()?,
        );
    }
    Ok(endings)
}

fn read(row: &Row) -> Answer<CallRecord> {
    let fingerprint = |column| {
        let text: String = row.try_get(column)?;
        Fingerprint::try_from(text).map_err(|_| SessionError::Unreadable("a fingerprint"))
    };
    let effect = match row.try_get(5)? {
        "read" => Effect::Read,
        "write" => Effect::Write,
        "destroy" => Effect::Destroy,
        _ => return Err(SessionError::Unreadable("an effect")),
    };
    let attempts: Option<&str> = row.try_get(13)?;
    let attempts = attempts
        .map(|text| serde_json::from_str(text).map_err(|_| SessionError::Unreadable("attempts")));
    let (ending, kind): (Option<&str>, Option<&str>) = (row.try_get(10)?, row.try_get(11)?);
    let ending =
        ending.map(|word| calls::ending(word, kind).ok_or(SessionError::Unreadable("an ending")));
    let moment = |column| Answer::Ok(row.try_get::<_, Option<i64>>(column)?.map(WallTime));
    Ok(CallRecord {
        key: row.try_get(1)?,
        call_id: row.try_get(2)?,
        tenant: row.try_get(15)?,
        subject: row.try_get(16)?,
        tool: row.try_get(3)?,
        source: row.try_get(4)?,
        effect,
        fingerprint: fingerprint(6)?,
        arguments: fingerprint(7)?,
        planned: WallTime(row.try_get(8)?).time(),
        ended: moment(9)?.map(WallTime::time),
        ending: ending.transpose()?,
        interrupted: row.try_get(12)?,
        attempts: attempts.transpose()?,
        resolved: moment(14)?.map(WallTime::time),
        decided_by: decider(row, 17)?,
        resolved_by: decider(row, 19)?,
    })
}

/// The person of two columns, of which this is the first.
fn decider(row: &Row, column: usize) -> Answer<Option<Decider>> {
    let by: (Option<String>, Option<String>) = (row.try_get(column)?, row.try_get(column + 1)?);
    Ok(by.0.zip(by.1).map(|(tenant, subject)| Decider { tenant, subject }))
}
