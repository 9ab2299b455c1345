//! Parked calls: claimed once, by their own caller, within their time.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolcrib_core::{
    Arguments, CallWire, Caller, Fingerprint, LedgerError, ParkedCall, SourceId, TicketBounds,
    TicketId, ToolName,
};

/// A ticket that is to live longer lives so long.
const LONGEST: Duration = Duration::from_hours(24 * 365);

/// A parked call as it is written, but for its arguments: those stand alone, since a parser
/// bounds depth and what was let in must come out.
#[derive(Serialize, Deserialize)]
pub struct StoredTicket {
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
pub struct NewTicket {
    pub ticket: TicketId,
    pub tenant: String,
    pub subject: String,
    pub lifetime: Duration,
    pub parked: String,
    pub arguments: String,
}

impl NewTicket {
    pub fn of(parked: ParkedCall) -> Result<Self, LedgerError> {
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

    /// Why it cannot wait where so many do already, of all callers and of its tenant.
    pub fn refused_by_count(&self, bounds: TicketBounds, all: i64, theirs: i64) -> Option<String> {
        let TicketBounds { open, of_tenant, .. } = bounds;
        let [all, theirs] = [all, theirs].map(|count| usize::try_from(count).unwrap_or_default());
        if all >= open {
            return Some(format!("{open} calls wait for approval already"));
        }
        let tenant = &self.tenant;
        (theirs >= of_tenant)
            .then(|| format!("{of_tenant} calls of `{tenant}` wait for approval already"))
    }

    /// Why it cannot wait beside so many bytes of its tenant.
    pub fn refused_by_size(&self, bounds: TicketBounds, held: i64) -> Option<String> {
        let held = usize::try_from(held).unwrap_or_default();
        let tenant = &self.tenant;
        (held + self.arguments.len() > bounds.bytes_of_tenant)
            .then(|| format!("calls of `{tenant}` with {held} bytes wait for approval already"))
    }
}

impl StoredTicket {
    /// The call that was written, under its ticket and with its arguments.
    pub fn parked(self, ticket: String, arguments: Map<String, Value>) -> ParkedCall {
        ParkedCall {
            ticket: TicketId::claimed(ticket),
            caller: self.caller,
            tool: self.tool,
            source: self.source,
            fingerprint: self.fingerprint,
            arguments: Arguments::new(arguments),
            session: self.session,
            profile: self.profile,
            key: self.key,
            mark: self.mark,
            reason: self.reason,
            lifetime: self.lifetime,
            call_id: self.call_id,
            wire: self.wire,
            // The call behind one is gone with its process.
            question: None,
        }
    }
}
