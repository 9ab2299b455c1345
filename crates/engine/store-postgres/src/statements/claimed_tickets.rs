//! Tickets that were taken out, and are known for as long as nothing was sent of their calls.

use crate::session::{Answer, Session};

/// What was claimed needs to be known no more.
pub(super) async fn forget(session: &Session, tickets: &[&str]) -> Answer<()> {
    if tickets.is_empty() {
        return Ok(());
    }
    session
        .change(
            "UPDATE tickets SET claimed = NULL, claimed_arguments = NULL \
             WHERE ticket = ANY ($1::text[]) AND claimed_by = ANY ($2::bigint[])",
            &[&tickets, session.owners()],
        )
        .await?;
    Ok(())
}

/// Opens one again, as long as nothing was sent of its call.
pub(super) async fn reopen(session: &Session, ticket: &str) -> Answer<()> {
    session
        .change(
            "UPDATE tickets SET parked = claimed, arguments = claimed_arguments, claimed = NULL, \
             claimed_arguments = NULL WHERE ticket = $1 AND claimed IS NOT NULL \
             AND claimed_by = ANY ($2::bigint[])",
            &[&ticket, session.owners()],
        )
        .await?;
    Ok(())
}
