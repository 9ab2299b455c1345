//! Tickets that were taken out, and are known for as long as nothing was sent of their calls.

use rusqlite::Connection;

/// What was claimed needs to be known no more.
pub(crate) fn forget(connection: &Connection, ticket: &str) -> rusqlite::Result<()> {
    let mut forget = connection.prepare_cached(
        "UPDATE tickets SET claimed = NULL, claimed_arguments = NULL WHERE ticket = ?1",
    )?;
    forget.execute([ticket])?;
    Ok(())
}

/// Opens the tickets again that a process before had taken, and of whose calls it had sent nothing.
pub(crate) fn reopen(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE tickets SET parked = claimed, arguments = claimed_arguments, claimed = NULL, \
         claimed_arguments = NULL WHERE claimed IS NOT NULL",
        [],
    )?;
    Ok(())
}
