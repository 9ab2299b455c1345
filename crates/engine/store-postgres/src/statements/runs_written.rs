//! Runs of agents, as they are written: begun, carried on step by step, noted and removed.

use toolcrib_core::{Caller, LedgerError, MOST_NOTES, RunLedgerError};
use toolcrib_store::clock::WallTime;
use toolcrib_store::rows::runs::{NewItem, NewRunRow, NewStep, RunLength, gap};

use super::schema::{self, TenantLock};
use crate::error::SessionError;
use crate::session::{Answer, Session};

/// A refusal of what was asked is no fault of the database.
type Written = Answer<Result<(), RunLedgerError>>;

/// Writes a run with its first step. What would be refused by an index is looked for before: a
/// statement that fails undoes its group.
pub(crate) async fn create(session: &Session, row: &NewRunRow) -> Written {
    let NewRunRow { run, caller, step } = row;
    let open = "SELECT id FROM runs WHERE tenant = $1 AND subject = $2 AND thread = $3 \
                AND stage <> 'ended'";
    let whose = &run.caller;
    if let Some(open) = session.row(open, &[&whose.tenant, &whose.subject, &run.thread]).await? {
        return Ok(Err(RunLedgerError::Busy { run: open.try_get(0)? }));
    }
    if step.number != 0 {
        return Ok(Err(RunLedgerError::Moved));
    }
    if step.items_from != 0 {
        return Ok(Err(gap()));
    }
    let known = session.row("SELECT number FROM runs WHERE id = $1", &[&run.id]).await?;
    if known.is_some() {
        let told = format!("there is a run `{}` already", run.id);
        return Ok(Err(LedgerError::new(told).into()));
    }
    let (now, after) = (WallTime::now().0, step.after(RunLength::default()));
    let inserted = session
        .row(
            "INSERT INTO runs (id, tenant, subject, thread, previous, agent, profile, stage, \
             created, changed, steps, items, events, caller, tickets, request, state, parent, \
             owner) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, 1, $10, $11, $12, $13, $14, \
             $15, $16, $17) RETURNING number",
            &[
                &run.id,
                &whose.tenant,
                &whose.subject,
                &run.thread,
                &run.previous,
                &run.agent,
                &run.profile,
                &step.stage.as_str(),
                &now,
                &after.items,
                &after.events,
                caller,
                &step.tickets,
                &run.request,
                &step.state,
                &run.parent,
                &session.owner(),
            ],
        )
        .await?
        .ok_or(SessionError::Unreadable("no number"))?;
    add(session, step, (inserted.try_get(0)?, &whose.tenant), RunLength::default()).await?;
    Ok(Ok(()))
}

/// Writes it behind the step before it. Of many who would write the same step one does.
pub(crate) async fn advance(session: &Session, run: &str, step: &NewStep) -> Written {
    let find = "SELECT number, tenant, items, events FROM runs \
                WHERE id = $1 AND steps = $2 AND stage <> 'ended' FOR UPDATE";
    let Some(row) = session.row(find, &[&run, &step.number]).await? else {
        return Ok(Err(RunLedgerError::Moved));
    };
    let (number, tenant): (i64, String) = (row.try_get(0)?, row.try_get(1)?);
    let before = RunLength { items: row.try_get(2)?, events: row.try_get(3)? };
    if step.items_from > before.items {
        return Ok(Err(gap()));
    }
    let after = step.after(before);
    session
        .change(
            "UPDATE runs SET stage = $2, changed = $3, steps = steps + 1, items = $4, \
             events = $5, tickets = $6, state = $7, owner = $8 WHERE number = $1",
            &[
                &number,
                &step.stage.as_str(),
                &WallTime::now().0,
                &after.items,
                &after.events,
                &step.tickets,
                &step.state,
                &session.owner(),
            ],
        )
        .await?;
    add(session, step, (number, &tenant), before).await?;
    Ok(Ok(()))
}

async fn add(
    session: &Session,
    step: &NewStep,
    (run, tenant): (i64, &str),
    before: RunLength,
) -> Answer<()> {
    replace(session, (run, tenant), step.items_from, &step.items).await?;
    if step.events.is_empty() {
        return Ok(());
    }
    session
        .change(
            "INSERT INTO run_events (run, number, event) SELECT $1, $2 + n - 1, event \
             FROM unnest($3::text[]) WITH ORDINALITY AS e (event, n)",
            &[&run, &before.events, &step.events],
        )
        .await?;
    Ok(())
}

/// Puts items from a place on into a thread, for what stood there. Each text is kept once for its
/// tenant.
async fn replace(
    session: &Session,
    (run, tenant): (i64, &str),
    from: i64,
    items: &[NewItem],
) -> Answer<()> {
    // Others may take out a text that is to stand here.
    schema::lock_tenant(session, TenantLock::RUNS, tenant).await?;
    let left = take_out(session, run, from).await?;
    if !items.is_empty() {
        let hashes: Vec<&[u8]> = items.iter().map(|item| &item.hash[..]).collect();
        let texts: Vec<&str> = items.iter().map(|item| &*item.text).collect();
        session
            .change(
                "INSERT INTO run_contents (tenant, hash, text) \
                 SELECT DISTINCT ON (hash) $1::text, hash, text \
                 FROM unnest($2::bytea[], $3::text[]) AS n (hash, text) \
                 ON CONFLICT (tenant, hash) DO NOTHING",
                &[&tenant, &hashes, &texts],
            )
            .await?;
        session
            .change(
                "INSERT INTO run_items (run, place, content) SELECT $1, $2 + n.number - 1, c.id \
                 FROM unnest($3::bytea[]) WITH ORDINALITY AS n (hash, number) \
                 JOIN run_contents c ON c.tenant = $4 AND c.hash = n.hash",
                &[&run, &from, &hashes, &tenant],
            )
            .await?;
    }
    // After the new ones, among which what was taken out may stand again.
    sweep(session, &left).await
}

/// Takes items out of a run, and gives the contents that they had.
async fn take_out(session: &Session, run: i64, from: i64) -> Answer<Vec<i64>> {
    let take = "DELETE FROM run_items WHERE run = $1 AND place >= $2 RETURNING content";
    let found = session.rows(take, &[&run, &from]).await?;
    found.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// Removes those of these contents that no run has any more.
async fn sweep(session: &Session, contents: &[i64]) -> Answer<()> {
    if contents.is_empty() {
        return Ok(());
    }
    session
        .change(
            "DELETE FROM run_contents WHERE id = ANY ($1::bigint[]) \
             AND NOT EXISTS (SELECT 1 FROM run_items WHERE content = run_contents.id)",
            &[&contents],
        )
        .await?;
    Ok(())
}

/// Removes a run of a caller that has ended, with those that worked for it; whether there was one.
pub(crate) async fn forget(session: &Session, caller: &Caller, run: &str) -> Answer<bool> {
    let mut waiting = vec![run.to_owned()];
    let mut any = false;
    while let Some(run) = waiting.pop() {
        let find = "SELECT number FROM runs WHERE id = $1 AND tenant = $2 AND subject = $3 \
                    AND stage = 'ended'";
        let Some(row) = session.row(find, &[&run, &caller.tenant, &caller.subject]).await? else {
            continue;
        };
        any = true;
        for child in session.rows("SELECT id FROM runs WHERE parent = $1", &[&run]).await? {
            waiting.push(child.try_get(0)?);
        }
        remove(session, row.try_get(0)?).await?;
    }
    Ok(any)
}

/// Removes a run with all that it has, by its number.
pub(super) async fn remove(session: &Session, number: i64) -> Answer<()> {
    let tenant = session.row("SELECT tenant FROM runs WHERE number = $1", &[&number]).await?;
    let Some(tenant) = tenant else { return Ok(()) };
    schema::lock_tenant(session, TenantLock::RUNS, tenant.try_get(0)?).await?;
    let left = take_out(session, number, 0).await?;
    sweep(session, &left).await?;
    for remove in [
        "DELETE FROM run_notes WHERE run = $1",
        "DELETE FROM run_events WHERE run = $1",
        "DELETE FROM runs WHERE number = $1",
    ] {
        session.change(remove, &[&number]).await?;
    }
    Ok(())
}

/// Writes a note in the place of the one with its name, or takes it away; whether it was written. A
/// run that is not there has none.
pub(crate) async fn note(
    session: &Session,
    run: &str,
    name: &str,
    text: Option<&str>,
) -> Answer<bool> {
    let found = session.row("SELECT number FROM runs WHERE id = $1", &[&run]).await?;
    let Some(found) = found else { return Ok(false) };
    let number: i64 = found.try_get(0)?;
    let Some(text) = text else {
        let take = "DELETE FROM run_notes WHERE run = $1 AND name = $2";
        return Ok(session.change(take, &[&number, &name]).await? > 0);
    };
    // The one who writes is alone.
    let count = "SELECT count(*) FROM run_notes WHERE run = $1 AND name <> $2";
    let others = session.row(count, &[&number, &name]).await?;
    let others: i64 = others.map_or(Ok(0), |row| row.try_get(0))?;
    if usize::try_from(others).is_ok_and(|others| others >= MOST_NOTES) {
        return Ok(false);
    }
    session
        .change(
            "INSERT INTO run_notes (run, name, text) VALUES ($1, $2, $3) \
             ON CONFLICT (run, name) DO UPDATE SET text = excluded.text",
            &[&number, &name, &text],
        )
        .await?;
    Ok(true)
}
