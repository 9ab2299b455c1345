//! The rows of calls, as they are written.

use std::sync::Arc;

use rusqlite::{Connection, params};
use toolcrib_core::{
    Attempt, CallKey, Caller, Ending, EndingReport, ErrorKind, Fingerprint, PlannedCall, ToolSpec,
    UncertainCall,
};

use crate::clock::WallTime;

/// As much of a call's id as is written: it comes from a model.
const LONGEST_ID: usize = 256;

/// A call that is about to run.
pub(crate) struct NewCall {
    key: CallKey,
    call_id: String,
    caller: Arc<Caller>,
    tool: Arc<ToolSpec>,
    fingerprint: Fingerprint,
    arguments: Fingerprint,
    planned: WallTime,
    decider: Option<Arc<Caller>>,
}

impl NewCall {
    pub(crate) fn of(call: &PlannedCall<'_>) -> Self {
        let id = call.call_id;
        Self {
            key: call.key,
            call_id: id.get(..id.floor_char_boundary(LONGEST_ID)).unwrap_or(id).to_owned(),
            caller: Arc::clone(call.caller),
            tool: Arc::clone(call.tool),
            fingerprint: call.fingerprint,
            arguments: call.arguments.digest(),
            planned: WallTime::now(),
            decider: call.decider.cloned(),
        }
    }

    /// The row of a call that may be sent from now on, with its end if that is known already. It
    /// may be there from the time when it waited.
    pub(crate) fn write(
        &self,
        connection: &Connection,
        end: Option<&CallEnd>,
    ) -> rusqlite::Result<()> {
        self.put(connection, end, true)
    }

    /// The row of a call that waits for its turn.
    pub(crate) fn queue(&self, connection: &Connection) -> rusqlite::Result<()> {
        self.put(connection, None, false)
    }

    fn put(
        &self,
        connection: &Connection,
        end: Option<&CallEnd>,
        dispatched: bool,
    ) -> rusqlite::Result<()> {
        let mut insert = connection.prepare_cached(
            "INSERT INTO calls (key, call_id, tenant, subject, tool, source, effect, \
             fingerprint, arguments, planned, ending, kind, ended, attempts, dispatched, \
             decided_by_tenant, decided_by_subject) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17) \
             ON CONFLICT (key) DO UPDATE SET dispatched = 1, ending = excluded.ending, \
             kind = excluded.kind, ended = excluded.ended, attempts = excluded.attempts \
             WHERE ending IS NULL AND NOT dispatched",
        )?;
        let (ending, kind) = end.map(CallEnd::columns).unzip();
        let decider = self.decider.as_deref();
        insert.execute(params![
            self.key.to_string(),
            self.call_id,
            self.caller.tenant,
            self.caller.subject,
            self.tool.name.as_str(),
            self.tool.origin.source.as_str(),
            self.tool.effect.as_str(),
            self.fingerprint.to_string(),
            self.arguments.to_string(),
            self.planned,
            ending,
            kind.flatten(),
            end.map(|end| end.at),
            end.and_then(CallEnd::attempts),
            dispatched,
            decider.map(|by| &by.tenant),
            decider.map(|by| &by.subject),
        ])?;
        Ok(())
    }
}

/// How a call ended, and when.
pub(crate) struct CallEnd {
    finish: EndingReport,
    at: WallTime,
}

impl CallEnd {
    pub(crate) fn now(finish: EndingReport) -> Self {
        Self { finish, at: WallTime::now() }
    }

    pub(crate) fn is_unknown(&self) -> bool {
        self.finish.ending == Ending::Unknown
    }

    fn columns(&self) -> (&'static str, Option<&'static str>) {
        columns(self.finish.ending)
    }

    /// As JSON; none if there were none.
    fn attempts(&self) -> Option<String> {
        let attempts = &self.finish.attempts;
        (!attempts.is_empty()).then(|| serde_json::to_string(attempts).ok()).flatten()
    }

    /// Gives a call that has no end this one.
    pub(crate) fn write(&self, connection: &Connection, key: &str) -> rusqlite::Result<()> {
        let (ending, kind) = self.columns();
        let mut update = connection.prepare_cached(
            "UPDATE calls SET ending = ?2, kind = ?3, ended = ?4, attempts = ?5 \
             WHERE key = ?1 AND ending IS NULL",
        )?;
        update.execute(params![key, ending, kind, self.at, self.attempts()])?;
        Ok(())
    }
}

/// An ending in two columns.
fn columns(ending: Ending) -> (&'static str, Option<&'static str>) {
    match ending {
        Ending::Succeeded => ("succeeded", None),
        Ending::Failed(kind) => ("failed", Some(kind.as_str())),
        Ending::NotExecuted => ("not_executed", None),
        Ending::Unknown => ("unknown", None),
    }
}

/// Gives a call an end whose end was not known. `by`: who says so; `None`: an answer that came
/// late.
pub(crate) fn resolve(
    connection: &Connection,
    key: &str,
    ending: Ending,
    by: Option<&Caller>,
) -> rusqlite::Result<()> {
    let (ending, kind) = columns(ending);
    let mut update = connection.prepare_cached(
        "UPDATE calls SET ending = ?2, kind = ?3, resolved = ?4, resolved_by_tenant = ?5, \
         resolved_by_subject = ?6 WHERE key = ?1 AND ending = 'unknown'",
    )?;
    let (tenant, subject) = by.map(|by| (&by.tenant, &by.subject)).unzip();
    update.execute(params![key, ending, kind, WallTime::now(), tenant, subject])?;
    Ok(())
}

/// A call as another one may be like it.
pub(crate) struct DuplicateQuery {
    tenant: String,
    subject: String,
    tool: String,
    source: String,
    arguments: String,
}

impl DuplicateQuery {
    pub(crate) fn of(call: &PlannedCall<'_>) -> Self {
        Self {
            tenant: call.caller.tenant.clone(),
            subject: call.caller.subject.clone(),
            tool: call.tool.name.to_string(),
            source: call.tool.origin.source.to_string(),
            arguments: call.arguments.digest().to_string(),
        }
    }

    /// The weightiest of them whose outcome nobody knew, and that ended after that moment: those
    /// that took effect after all are among them, unless a person said so.
    pub(crate) fn unknown(
        &self,
        connection: &Connection,
        after: WallTime,
    ) -> rusqlite::Result<Option<UncertainCall>> {
        let mut find = connection.prepare_cached(
            "SELECT key, attempts FROM (\
             SELECT key, ended, attempts FROM calls INDEXED BY calls_unknown WHERE tenant = ?1 \
             AND subject = ?2 AND tool = ?3 AND arguments = ?4 AND ended > ?5 \
             AND ending = 'unknown' AND source = ?6 UNION ALL \
             SELECT key, ended, attempts FROM calls INDEXED BY calls_found WHERE tenant = ?1 \
             AND subject = ?2 AND tool = ?3 AND arguments = ?4 AND ended > ?5 \
             AND ending = 'succeeded' AND resolved IS NOT NULL AND source = ?6 \
             AND resolved_by_subject IS NULL) ORDER BY ended DESC",
        )?;
        let like =
            params![self.tenant, self.subject, self.tool, self.arguments, after, self.source];
        let read = |row: &rusqlite::Row<'_>| {
            let attempts = row.get::<_, Option<String>>(1)?.unwrap_or_default();
            // What cannot be read tells of no one who gave it up.
            let attempts: Vec<Attempt> = serde_json::from_str(&attempts).unwrap_or_default();
            Ok(UncertainCall::new(row.get::<_, String>(0)?, &attempts))
        };
        let mut weightiest = None;
        for alike in find.query_map(like, read)? {
            weightiest = UncertainCall::weightiest(weightiest.into_iter().chain([alike?]));
            if weightiest.as_ref().is_some_and(|like| !like.was_cancelled) {
                break;
            }
        }
        Ok(weightiest)
    }
}

/// Whether there is a call whose outcome nobody knew.
pub(crate) fn any_unknown(connection: &Connection) -> rusqlite::Result<bool> {
    let find = "SELECT EXISTS (SELECT 1 FROM calls INDEXED BY calls_unknown \
                WHERE ending = 'unknown') OR EXISTS (SELECT 1 FROM calls \
                INDEXED BY calls_found WHERE ending = 'succeeded' AND resolved IS NOT NULL)";
    connection.query_row(find, [], |row| row.get(0))
}

/// An ending as it was written.
pub(crate) fn ending(ending: &str, kind: Option<&str>) -> Option<Ending> {
    match ending {
        "succeeded" => Some(Ending::Succeeded),
        "failed" => {
            let kind = KINDS.iter().find(|known| Some(known.as_str()) == kind)?;
            Some(Ending::Failed(*kind))
        }
        "not_executed" => Some(Ending::NotExecuted),
        "unknown" => Some(Ending::Unknown),
        _ => None,
    }
}

const KINDS: [ErrorKind; 18] = [
    ErrorKind::InvalidCall,
    ErrorKind::InvalidArguments,
    ErrorKind::UnknownTool,
    ErrorKind::NotLoaded,
    ErrorKind::OverLimit,
    ErrorKind::ControlConflict,
    ErrorKind::NotOurs,
    ErrorKind::Busy,
    ErrorKind::Unavailable,
    ErrorKind::Network,
    ErrorKind::RateLimited,
    ErrorKind::Timeout,
    ErrorKind::Cancelled,
    ErrorKind::UnknownOutcome,
    ErrorKind::Tool,
    ErrorKind::Internal,
    ErrorKind::DuplicateOfUnknown,
    ErrorKind::SourceStarting,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_failure_is_read_as_it_was_written() {
        for kind in KINDS {
            assert_eq!(ending("failed", Some(kind.as_str())), Some(Ending::Failed(kind)));
            // A new kind is met here by the compiler, and then belongs into the list.
            let place = match kind {
                ErrorKind::InvalidCall => 0,
                ErrorKind::InvalidArguments => 1,
                ErrorKind::UnknownTool => 2,
                ErrorKind::NotLoaded => 3,
                ErrorKind::OverLimit => 4,
                ErrorKind::ControlConflict => 5,
                ErrorKind::NotOurs => 6,
                ErrorKind::Busy => 7,
                ErrorKind::Unavailable => 8,
                ErrorKind::Network => 9,
                ErrorKind::RateLimited => 10,
                ErrorKind::Timeout => 11,
                ErrorKind::Cancelled => 12,
                ErrorKind::UnknownOutcome => 13,
                ErrorKind::Tool => 14,
                ErrorKind::Internal => 15,
                ErrorKind::DuplicateOfUnknown => 16,
                ErrorKind::SourceStarting => 17,
            };
            assert_eq!(KINDS[place], kind);
        }
        assert_eq!(ending("failed", Some("something else")), None);
    }
}
