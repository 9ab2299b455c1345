//! What was said in a task after its first message: kept beside its run.

use serde_json::Value;
use toolcrib_a2a_client::protocol::message::AgentMessage;
use toolcrib_a2a_client::protocol::wire::WireForm;
use toolcrib_core::LedgerError;

use super::without_files;
use crate::http::state::GatewayState;

/// The name of the note beside the run.
const NOTE: &str = "history";
/// Messages of one task that are kept, and their bytes; the oldest go first.
const MOST: usize = 200;
const MOST_BYTES: usize = 256 * 1024;

/// Keeps messages behind those that are there.
pub(in crate::http::a2a) async fn add(
    gateway: &GatewayState,
    task: &str,
    said: impl IntoIterator<Item = AgentMessage>,
) -> Result<(), LedgerError> {
    let mut all = written(gateway, task).await?;
    all.extend(said.into_iter().map(|said| without_files(&said).write(WireForm::Current)));
    let mut bytes = 0;
    let kept = all.iter().rev().take(MOST).take_while(|said| {
        bytes += said.to_string().len();
        bytes <= MOST_BYTES
    });
    let from = all.len() - kept.count();
    let text = Value::Array(all.split_off(from)).to_string();
    gateway.runs.ledger.note(task, NOTE, Some(text)).await.map(|_| ())
}

pub(super) async fn of(gateway: &GatewayState, task: &str) -> Vec<AgentMessage> {
    // A task is told without what cannot be read now.
    let written = written(gateway, task).await.unwrap_or_default();
    written.iter().filter_map(|said| AgentMessage::read(said, WireForm::Current)).collect()
}

async fn written(gateway: &GatewayState, task: &str) -> Result<Vec<Value>, LedgerError> {
    let notes = gateway.runs.ledger.notes(task).await?;
    let note = notes.into_iter().find(|(name, _)| name == NOTE);
    Ok(note.and_then(|(_, text)| serde_json::from_str(&text).ok()).unwrap_or_default())
}
