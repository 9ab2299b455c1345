//! What is said to Postgres, by the kind of row; `schema` makes the tables, and `execute` does what
//! the writer is asked.

pub(crate) mod calls;
mod claimed_tickets;
pub(crate) mod execute;
pub(crate) mod history;
pub(crate) mod keys;
pub(crate) mod prune;
pub(crate) mod replicas;
pub(crate) mod results;
pub(crate) mod runs;
pub(crate) mod runs_written;
pub(crate) mod schema;
pub(crate) mod tickets;

/// The clock of the database in milliseconds since 1970: by that of a replica a key or a ticket
/// could live again.
const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

use serde::de::DeserializeOwned;
use tokio_postgres::Row;

use crate::error::SessionError;
use crate::session::Answer;

/// Reads a column that holds JSON.
fn json<T: DeserializeOwned>(row: &Row, column: usize) -> Answer<T> {
    let text: &str = row.try_get(column)?;
    serde_json::from_str(text).map_err(|_| SessionError::Unreadable("JSON"))
}
