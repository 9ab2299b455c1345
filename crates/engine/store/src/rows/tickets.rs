//! Parked calls: claimed once, by their own caller, within their time.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolcrib_core::{
    Arguments, CallWire, Caller, Fingerprint, IdempotencyKey, LedgerError, OpenTickets, ParkedCall,
    SourceId, TicketBounds, TicketError, TicketId, ToolName,
};

use super::json_column::json;
use super::keys;
use crate::clock::WallTime;
use crate::options::StoreOptions;
use crate::sqlite::savepoint::all_or_nothing;

/// A ticket that is to live longer lives so long.
const LONGEST: Duration = Duration::from_hours(24 * 365);

/// A parked call as it is written, but for its arguments: those stand alone, since a parser
/// bounds depth and what was let in must come out.
#[derive(Serialize, Deserialize)]
struct StoredTicket {
    caller: Caller,
    tool: ToolName,
    source: SourceId,
    fingerprint: Fingerprint,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    profile: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mark: Option<Arc<str>>,
    reason: String,
    lifetime: Duration,
    call_id: String,
    wire: CallWire,
}

/// A ticket that is about to be written.
pub(crate) struct NewTicket {
    ticket: TicketId,
    tenant: String,
    subject: String,
    lifetime: Duration,
    parked: String,
    arguments: String,
}

impl NewTicket {
    pub(crate) fn of(parked: ParkedCall) -> Result<Self, LedgerError> {
        let Caller { tenant, subject, .. } = parked.caller.clone();
        let (ticket, lifetime) = (parked.ticket, parked.lifetime.min(LONGEST));
        let written = StoredTicket {
            caller: parked.caller,
            tool: parked.tool,
            source: parked.source,
            fingerprint: parked.fingerprint,
            session: parked.session,
            profile: parked.profile,
            key: parked.key,
            mark: parked.mark,
            reason: parked.reason,
            lifetime: parked.lifetime,
            call_id: parked.call_id,
            wire: parked.wire,
        };
        let text = serde_json::to_string(&written).map_err(LedgerError::new)?;
        let arguments = serde_json::to_string(parked.arguments.fields());
        let arguments = arguments.map_err(LedgerError::new)?;
        // Other arguments than those that were shown must not run: better none at all.
        let back: Map<String, Value> =
            serde_json::from_str(&arguments).map_err(LedgerError::new)?;
        if back != *parked.arguments.fields() {
            return Err(LedgerError::new("these arguments cannot be written exactly"));
        }
        Ok(Self { ticket, tenant, subject, lifetime, parked: text, arguments })
    }

    /// Refused where too many wait already.
    pub(crate) fn write(
        &self,
        connection: &Connection,
        bounds: TicketBounds,
    ) -> rusqlite::Result<Result<(), String>> {
        let TicketBounds { open, of_tenant, bytes_of_tenant } = bounds;
        let now = WallTime::now();
        let mut count = connection.prepare_cached(
            "SELECT count(*), coalesce(sum(tenant = ?1), 0) FROM tickets \
             INDEXED BY tickets_open WHERE parked IS NOT NULL AND expires > ?2",
        )?;
        let (all, theirs): (i64, i64) =
            count.query_row(params![self.tenant, now], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let [all, theirs] = [all, theirs].map(|count| usize::try_from(count).unwrap_or_default());
        if all >= open {
            return Ok(Err(format!("{open} calls wait for approval already")));
        }
        if theirs >= of_tenant {
            let tenant = &self.tenant;
            return Ok(Err(format!("{of_tenant} calls of `{tenant}` wait for approval already")));
        }
        let mut sum = connection.prepare_cached(
            "SELECT coalesce(sum(octet_length(arguments)), 0) FROM tickets \
             INDEXED BY tickets_open WHERE parked IS NOT NULL AND expires > ?2 AND tenant = ?1",
        )?;
        let held: i64 = sum.query_row(params![self.tenant, now], |row| row.get(0))?;
        let held = usize::try_from(held).unwrap_or_default();
        if held + self.arguments.len() > bytes_of_tenant {
            let tenant = &self.tenant;
            let full = format!("calls of `{tenant}` with {held} bytes wait for approval already");
            return Ok(Err(full));
        }
        let mut insert = connection.prepare_cached(
            "INSERT INTO tickets (ticket, tenant, subject, expires, parked, arguments) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        let expires = now.after(self.lifetime);
        insert.execute(params![
            self.ticket.as_str(),
            self.tenant,
            self.subject,
            expires,
            self.parked,
            self.arguments,
        ])?;
        Ok(Ok(()))
    }
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
    let ticket = TicketId::claimed(row.get::<_, String>(first)?);
    let written: StoredTicket = json(row, first + 1)?;
    Ok(ParkedCall {
        ticket,
        caller: written.caller,
        tool: written.tool,
        source: written.source,
        fingerprint: written.fingerprint,
        arguments: Arguments::new(json(row, first + 2)?),
        session: written.session,
        profile: written.profile,
        key: written.key,
        mark: written.mark,
        reason: written.reason,
        lifetime: written.lifetime,
        call_id: written.call_id,
        wire: written.wire,
        // The call behind one is gone with its process.
        question: None,
    })
}
