//! Asks for a key so that it stays with nobody who went away before hearing of it.

use std::sync::Arc;

use rusqlite::Connection;
use tokio::sync::oneshot;
use toolcrib_core::Fingerprint;

use super::unwritten_end::UnwrittenEnd;
use super::writer::StoreWriter;
use super::writer::job::{Durability, WriteTask};
use super::writer::shared::WriterShared;
use crate::error::StoreError;
use crate::options::StoreOptions;
use crate::rows::keys::{self, IdempotencyKey, KeyHold, KeySettlement, KeyState};

/// When this resolves to `New`, the key is on disk and belongs to whoever asked. A key that was
/// taken for somebody who waits no more is free again before the next one asks for it.
pub(crate) async fn begin(
    writer: &StoreWriter,
    key: IdempotencyKey,
    arguments: (Fingerprint, KeyHold),
    options: StoreOptions,
) -> Result<KeyState, StoreError> {
    let (reply, answer) = oneshot::channel();
    let shared = Arc::clone(writer.shared());
    let work = KeyClaimTask { key, arguments, options, begun: None, shared, reply };
    writer.send(Durability::Sync, Box::new(work)).await?;
    // From here on nothing is awaited: what was heard is not lost again.
    answer.await.unwrap_or_else(|_| Err(writer.closed())).map(UnheardClaim::heard)
}

struct KeyClaimTask {
    key: IdempotencyKey,
    arguments: (Fingerprint, KeyHold),
    options: StoreOptions,
    begun: Option<KeyState>,
    shared: Arc<WriterShared>,
    reply: oneshot::Sender<Result<UnheardClaim, StoreError>>,
}

impl WriteTask for KeyClaimTask {
    fn run(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        // Of an attempt that was undone nothing holds.
        self.begun = None;
        // Whoever gave up was told that it was not done.
        if !self.reply.is_closed() {
            let Self { key, arguments, options, .. } = self;
            self.begun = Some(keys::begin(key, connection, *arguments, options)?);
        }
        Ok(())
    }

    fn answer(self: Box<Self>, group: Result<(), StoreError>) {
        let Self { key, begun, shared, reply, .. } = *self;
        let answer = match (group, begun) {
            (Ok(()), Some(begun)) => Ok(UnheardClaim::of(begun, key, shared)),
            (Err(error), _) => Err(error),
            // Nobody waits.
            (Ok(()), None) => return,
        };
        // Of whoever gave up in between the key comes back with it.
        let _ = reply.send(answer);
    }
}

/// An answer on its way. If it is dropped before anybody hears it, the call under the key is never
/// made.
struct UnheardClaim {
    begun: KeyState,
    unheard: Option<(IdempotencyKey, Arc<WriterShared>)>,
}

impl UnheardClaim {
    fn of(begun: KeyState, key: IdempotencyKey, shared: Arc<WriterShared>) -> Self {
        let unheard = (begun == KeyState::New).then_some((key, shared));
        Self { begun, unheard }
    }

    fn heard(mut self) -> KeyState {
        self.unheard = None;
        std::mem::replace(&mut self.begun, KeyState::New)
    }
}

impl Drop for UnheardClaim {
    fn drop(&mut self) {
        if let Some((key, shared)) = self.unheard.take() {
            UnwrittenEnd::IdempotencyKey { key, settled: KeySettlement::Free }.later(&shared);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::mpsc::{self, Receiver, Sender};

    use futures_util::FutureExt as _;
    use serde_json::json;
    use toolcrib_core::{BoxFuture, Caller, ResultHandle, ToolName};

    use super::*;
    use crate::sqlite::file;

    /// A directory that goes with the test.
    struct Scratch(PathBuf);

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn writer() -> (StoreWriter, Scratch) {
        let name = format!("toolcrib-beginning-{}", ResultHandle::unguessable());
        let scratch = Scratch(std::env::temp_dir().join(name));
        std::fs::create_dir_all(&scratch.0).unwrap();
        let owned = Arc::new(file::own(&scratch.0.join("crib.db")).unwrap());
        (StoreWriter::start(owned, StoreOptions::default()).unwrap(), scratch)
    }

    fn ask<'a>(writer: &'a StoreWriter, name: &str) -> BoxFuture<'a, Result<KeyState, StoreError>> {
        let tool = ToolName::new("pay").unwrap();
        let key =
            IdempotencyKey { caller: Caller::local(), tool, source: None, key: name.to_owned() };
        let arguments = (Fingerprint::of(&json!({})), KeyHold::Loose);
        Box::pin(begin(writer, key, arguments, StoreOptions::default()))
    }

    /// A job at which the writer stands still: it says when it is there, and goes on when told.
    fn stop(
        writer: &StoreWriter,
    ) -> (BoxFuture<'_, Result<(), StoreError>>, Receiver<()>, Sender<()>) {
        let (reached, arrival) = mpsc::channel();
        let (leave, left) = mpsc::channel();
        let stands = move |_: &Connection| {
            reached.send(()).unwrap();
            left.recv().unwrap();
            Ok(())
        };
        (Box::pin(writer.ask(Durability::Sync, stands)), arrival, leave)
    }

    #[tokio::test]
    async fn a_key_whose_asker_went_away_while_it_was_written_is_free_for_the_next() {
        let (writer, _scratch) = writer();
        let (mut before, stands_before, leave_before) = stop(&writer);
        assert!((&mut before).now_or_never().is_none());
        stands_before.recv().unwrap();
        // What comes now is one group: the key is taken, and not committed yet.
        let mut gone = ask(&writer, "k1");
        let (mut within, stands_within, leave_within) = stop(&writer);
        assert!((&mut gone).now_or_never().is_none());
        assert!((&mut within).now_or_never().is_none());
        leave_before.send(()).unwrap();
        stands_within.recv().unwrap();
        drop(gone);
        leave_within.send(()).unwrap();
        within.await.unwrap();
        assert_eq!(ask(&writer, "k1").await.unwrap(), KeyState::New);
        assert_eq!(ask(&writer, "k1").await.unwrap(), KeyState::Running);
    }

    #[tokio::test]
    async fn a_key_whose_asker_went_away_before_hearing_the_answer_is_free_for_the_next() {
        let (writer, _scratch) = writer();
        let mut gone = ask(&writer, "k1");
        assert!((&mut gone).now_or_never().is_none());
        assert_eq!(ask(&writer, "k1").await.unwrap(), KeyState::Running);
        drop(gone);
        assert_eq!(ask(&writer, "k1").await.unwrap(), KeyState::New);
        assert_eq!(ask(&writer, "k1").await.unwrap(), KeyState::Running);
    }
}
