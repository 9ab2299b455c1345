//! Parked calls.

use tokio_postgres::Row;
use toolcrib_core::{Caller, IdempotencyKey, OpenTickets, ParkedCall, TicketError, TicketId};
use toolcrib_store::StoreOptions;
use toolcrib_store::clock::WallTime;
use toolcrib_store::rows::keys::KeySettlement;
use toolcrib_store::rows::tickets::{NewTicket, StoredTicket};

use super::schema::{self, TenantLock};
use super::{NOW, claimed_tickets, json, keys};
use crate::error::SessionError;
use crate::session::{Answer, Session};

/// Refused where too many wait already.
pub(crate) async fn park(
    session: &Session,
    new: &NewTicket,
    options: &StoreOptions,
) -> Answer<Result<(), String>> {
    let (now, bounds) = (WallTime::now(), options.tickets);
    // Others may park at the same time.
    schema::lock_tenant(session, TenantLock::TICKETS, &new.tenant).await?;
    let counted = session
        .row(
            "SELECT count(*), count(*) FILTER (WHERE tenant = $1), \
             coalesce(sum(octet_length(arguments)) FILTER (WHERE tenant = $1), 0)::bigint \
             FROM tickets WHERE parked IS NOT NULL AND expires > $2",
            &[&new.tenant, &now.0],
        )
        .await?
        .ok_or(SessionError::Unreadable("no count"))?;
    let refused = new
        .refused_by_count(bounds, counted.try_get(0)?, counted.try_get(1)?)
        .or(new.refused_by_size(bounds, counted.try_get(2)?));
    if let Some(refused) = refused {
        return Ok(Err(refused));
    }
    session
        .change(
            "INSERT INTO tickets (ticket, tenant, subject, expires, parked, arguments) \
             VALUES ($1, $2, $3, $4, $5, $6)",
            &[
                &new.ticket.as_str(),
                &new.tenant,
                &new.subject,
                &now.after(new.lifetime).0,
                &new.parked,
                &new.arguments,
            ],
        )
        .await?;
    Ok(Ok(()))
}

/// Takes a ticket out: of any number who ask, one gets it.
pub(crate) async fn claim(
    session: &Session,
    ticket: &TicketId,
    caller: &Caller,
    options: &StoreOptions,
) -> Answer<Result<ParkedCall, TicketError>> {
    let take = format!(
        "UPDATE tickets SET claimed = parked, claimed_arguments = arguments, parked = NULL, \
         arguments = NULL, claimed_by = $4 WHERE ticket = $1 AND tenant = $2 AND subject = $3 \
         AND parked IS NOT NULL AND expires > {NOW} \
         RETURNING ticket, claimed, claimed_arguments, expires"
    );
    let of = (ticket.as_str(), &caller.tenant, &caller.subject);
    let taken = session.row(&take, &[&of.0, of.1, of.2, &session.owner()]).await?;
    let Some(row) = taken else {
        let why = "SELECT parked IS NULL FROM tickets \
                   WHERE ticket = $1 AND tenant = $2 AND subject = $3";
        let Some(row) = session.row(why, &[&of.0, of.1, of.2]).await? else {
            return Ok(Err(TicketError::Unknown));
        };
        let is_used = row.try_get(0)?;
        return Ok(Err(if is_used { TicketError::Used } else { TicketError::Expired }));
    };
    let parked = read(&row)?;
    keys::begin_claimed(session, &IdempotencyKey::of_ticket(caller, ticket), options).await?;
    Ok(Ok(parked))
}

/// Opens a ticket again that was taken for somebody who heard nothing of it.
pub(crate) async fn give_back(session: &Session, ticket: &TicketId, caller: &Caller) -> Answer<()> {
    claimed_tickets::reopen(session, ticket.as_str()).await?;
    let key = IdempotencyKey::of_ticket(caller, ticket);
    keys::settle(session, &key, &KeySettlement::Free).await
}

/// One open ticket of a caller.
pub(crate) async fn one(
    session: &Session,
    ticket: &TicketId,
    caller: &Caller,
) -> Answer<Option<ParkedCall>> {
    let now = WallTime::now();
    let found = session
        .row(
            "SELECT ticket, parked, arguments, expires FROM tickets WHERE ticket = $1 \
             AND tenant = $2 AND subject = $3 AND expires > $4 AND parked IS NOT NULL",
            &[&ticket.as_str(), &caller.tenant, &caller.subject, &now.0],
        )
        .await?;
    found.map(|row| read_open(&row, now)).transpose()
}

/// The open tickets of a caller, oldest first.
pub(crate) async fn open(session: &Session, caller: &Caller) -> Answer<Vec<ParkedCall>> {
    let now = WallTime::now();
    let found = session
        .rows(
            "SELECT ticket, parked, arguments, expires FROM tickets WHERE tenant = $1 \
             AND subject = $2 AND expires > $3 AND parked IS NOT NULL ORDER BY seq",
            &[&caller.tenant, &caller.subject, &now.0],
        )
        .await?;
    found.iter().map(|row| read_open(row, now)).collect()
}

/// A page of the open tickets behind this number: of a caller, or of all.
pub(crate) async fn page(
    session: &Session,
    of: Option<&Caller>,
    after: u64,
    limit: usize,
) -> Answer<OpenTickets> {
    let now = WallTime::now();
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    // One more shows whether there is another page.
    let most = i64::try_from(limit.max(1)).unwrap_or(i64::MAX).saturating_add(1);
    let (tenant, subject) = of.map(|of| (&of.tenant, &of.subject)).unzip();
    let found = session
        .rows(
            "SELECT ticket, parked, arguments, expires, seq FROM tickets \
             WHERE parked IS NOT NULL AND seq > $1 AND expires > $2 \
             AND ($3::text IS NULL OR tenant = $3 AND subject = $4) ORDER BY seq LIMIT $5",
            &[&after, &now.0, &tenant, &subject, &most],
        )
        .await?;
    let numbered = found.iter().map(|row| {
        let number: i64 = row.try_get(4)?;
        Ok::<_, SessionError>((number.unsigned_abs(), read_open(row, now)?))
    });
    OpenTickets::of(numbered, limit)
}

/// Whose ticket it is, as long as its row is kept; the scopes stand in the ticket itself.
pub(crate) async fn owner(session: &Session, ticket: &TicketId) -> Answer<Option<Caller>> {
    let find = "SELECT tenant, subject FROM tickets WHERE ticket = $1";
    let Some(row) = session.row(find, &[&ticket.as_str()]).await? else { return Ok(None) };
    Ok(Some(Caller::new(row.try_get::<_, String>(0)?, row.try_get::<_, String>(1)?)))
}

/// How many of all callers are open.
pub(crate) async fn count(session: &Session) -> Answer<u64> {
    let count = "SELECT count(*) FROM tickets WHERE parked IS NOT NULL AND expires > $1";
    let row = session.row(count, &[&WallTime::now().0]).await?;
    Ok(row.map_or(Ok(0), |row| row.try_get::<_, i64>(0))?.unsigned_abs())
}

/// Reads one that is only looked at: it has what is left of its time.
fn read_open(row: &Row, now: WallTime) -> Answer<ParkedCall> {
    let expires = WallTime(row.try_get(3)?);
    Ok(ParkedCall { lifetime: expires.since(now), ..read(row)? })
}

/// Reads the ticket, the call and its arguments from the first three columns.
fn read(row: &Row) -> Answer<ParkedCall> {
    let written: StoredTicket = json(row, 1)?;
    Ok(written.parked(row.try_get(0)?, json(row, 2)?))
}
