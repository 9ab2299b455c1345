//! Parked calls, as SQLite is told of them.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use toolcrib_core::{
    Caller, IdempotencyKey, OpenTickets, ParkedCall, TicketBounds, TicketError, TicketId,
};

use super::columns::json;
use super::keys;
use crate::clock::WallTime;
use crate::options::StoreOptions;
use crate::rows::tickets::{NewTicket, StoredTicket};
use crate::sqlite::savepoint::all_or_nothing;

/// Refused where too many wait already.
pub(crate) fn park(
    connection: &Connection,
    new: &NewTicket,
    bounds: TicketBounds,
) -> rusqlite::Result<Result<(), String>> {
    let now = WallTime::now();
    let mut count = connection.prepare_cached(
        "SELECT count(*), coalesce(sum(tenant = ?1), 0) FROM tickets \
         INDEXED BY tickets_open WHERE parked IS NOT NULL AND expires > ?2",
    )?;
    let (all, theirs) =
        count.query_row(params![new.tenant, now], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if let Some(refused) = new.refused_by_count(bounds, all, theirs) {
        return Ok(Err(refused));
    }
    let mut sum = connection.prepare_cached(
        "SELECT coalesce(sum(octet_length(arguments)), 0) FROM tickets \
         INDEXED BY tickets_open WHERE parked IS NOT NULL AND expires > ?2 AND tenant = ?1",
    )?;
    let held = sum.query_row(params![new.tenant, now], |row| row.get(0))?;
    if let Some(refused) = new.refused_by_size(bounds, held) {
        return Ok(Err(refused));
    }
    let mut insert = connection.prepare_cached(
        "INSERT INTO tickets (ticket, tenant, subject, expires, parked, arguments) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    insert.execute(params![
        new.ticket.as_str(),
        new.tenant,
        new.subject,
        now.after(new.lifetime),
        new.parked,
        new.arguments,
    ])?;
    Ok(Ok(()))
}

/// Takes a ticket out. The one who writes is alone, so that one of many gets it.
pub(crate) fn claim(
    connection: &Connection,
    ticket: &TicketId,
    caller: &Caller,
    options: &StoreOptions,
) -> rusqlite::Result<Result<ParkedCall, TicketError>> {
    let mut find = connection.prepare_cached(
        "SELECT expires, parked IS NULL, ticket, parked, arguments FROM tickets \
         WHERE ticket = ?1 AND tenant = ?2 AND subject = ?3",
    )?;
    let whose = params![ticket.as_str(), caller.tenant, caller.subject];
    let now = WallTime::now();
    let found = find.query_row(whose, |row| {
        Ok(match (row.get::<_, WallTime>(0)?, row.get(1)?) {
            (_, true) => Err(TicketError::Used),
            (expires, false) if expires <= now => Err(TicketError::Expired),
            (_, false) => Ok(read(row, 2)?),
        })
    });
    let parked = match found.optional()? {
        None => return Ok(Err(TicketError::Unknown)),
        Some(Err(refused)) => return Ok(Err(refused)),
        Some(Ok(parked)) => parked,
    };
    // Without room for its key it stays: whoever is told so may claim it again.
    all_or_nothing(connection, || {
        let mut take = connection.prepare_cached(
            "UPDATE tickets SET claimed = parked, claimed_arguments = arguments, parked = NULL, \
             arguments = NULL WHERE ticket = ?1",
        )?;
        take.execute([ticket.as_str()])?;
        keys::begin_claimed(&IdempotencyKey::of_ticket(caller, ticket), connection, options)
    })?;
    Ok(Ok(parked))
}

/// One open ticket of a caller.
pub(crate) fn one(
    connection: &Connection,
    ticket: &TicketId,
    caller: &Caller,
) -> rusqlite::Result<Option<ParkedCall>> {
    let mut find = connection.prepare_cached(
        "SELECT expires, ticket, parked, arguments FROM tickets WHERE ticket = ?1 AND tenant = ?2 \
         AND subject = ?3 AND expires > ?4 AND parked IS NOT NULL",
    )?;
    let now = WallTime::now();
    let whose = params![ticket.as_str(), caller.tenant, caller.subject, now];
    find.query_row(whose, |row| read_open(row, now)).optional()
}

/// The open tickets of a caller, oldest first.
pub(crate) fn open(connection: &Connection, caller: &Caller) -> rusqlite::Result<Vec<ParkedCall>> {
    let mut list = connection.prepare_cached(
        "SELECT expires, ticket, parked, arguments FROM tickets WHERE tenant = ?1 AND subject = ?2 \
         AND expires > ?3 AND parked IS NOT NULL ORDER BY seq",
    )?;
    let now = WallTime::now();
    let rows =
        list.query_map(params![caller.tenant, caller.subject, now], |row| read_open(row, now))?;
    rows.collect()
}

/// A page of the open tickets behind this number: of a caller, or of all.
pub(crate) fn page(
    connection: &Connection,
    of: Option<&Caller>,
    after: u64,
    limit: usize,
) -> rusqlite::Result<OpenTickets> {
    let of_caller = if of.is_some() { " AND tenant = ?3 AND subject = ?4" } else { "" };
    let mut list = connection.prepare_cached(&format!(
        "SELECT expires, ticket, parked, arguments, seq FROM tickets WHERE parked IS NOT NULL \
         AND seq > ?1 AND expires > ?2{of_caller} ORDER BY seq"
    ))?;
    let now = WallTime::now();
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let numbered = |row: &Row<'_>| {
        let number: i64 = row.get(4)?;
        Ok((number.unsigned_abs(), read_open(row, now)?))
    };
    let rows = match of {
        Some(Caller { tenant, subject, .. }) => {
            list.query_map(params![after, now, tenant, subject], numbered)?
        }
        None => list.query_map(params![after, now], numbered)?,
    };
    OpenTickets::of(rows, limit)
}

/// Whose ticket it is, as long as its row is kept; the scopes stand in the ticket itself.
pub(crate) fn owner(
    connection: &Connection,
    ticket: &TicketId,
) -> rusqlite::Result<Option<Caller>> {
    let mut find =
        connection.prepare_cached("SELECT tenant, subject FROM tickets WHERE ticket = ?1")?;
    let caller =
        |row: &Row<'_>| Ok(Caller::new(row.get::<_, String>(0)?, row.get::<_, String>(1)?));
    find.query_row([ticket.as_str()], caller).optional()
}

/// How many of all callers are open.
pub(crate) fn count(connection: &Connection) -> rusqlite::Result<u64> {
    let mut count = connection
        .prepare_cached("SELECT count(*) FROM tickets WHERE parked IS NOT NULL AND expires > ?1")?;
    let count: i64 = count.query_row([WallTime::now()], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

/// Reads one that is only looked at, behind its end: it has what is left of its time.
fn read_open(row: &Row<'_>, now: WallTime) -> rusqlite::Result<ParkedCall> {
    let expires: WallTime = row.get(0)?;
    Ok(ParkedCall { lifetime: expires.since(now), ..read(row, 1)? })
}

/// Reads the ticket, the call and its arguments from three columns.
fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<ParkedCall> {
    let written: StoredTicket = json(row, first + 1)?;
    Ok(written.parked(row.get(first)?, json(row, first + 2)?))
}
