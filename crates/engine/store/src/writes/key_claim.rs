//! Asks for a key so that it stays with nobody who went away before hearing of it.

use std::sync::Arc;

use tokio::sync::oneshot;
use toolcrib_core::Fingerprint;

use super::shared::WriterShared;
use super::unwritten_end::UnwrittenEnd;
use crate::error::StoreError;
use crate::rows::keys::{IdempotencyKey, KeyHold, KeySettlement, KeyState};

/// Asks for a key: it is taken by whoever is told `New`.
pub struct KeyClaim {
    pub key: IdempotencyKey,
    pub arguments: Fingerprint,
    pub hold: KeyHold,
}

/// When the answer is `New`, the key is on disk and belongs to whoever asked. A key that was taken
/// for somebody who waits no more is free again before the next one asks for it.
pub struct KeyClaimTask {
    claim: KeyClaim,
    begun: Option<KeyState>,
    shared: Arc<WriterShared>,
    reply: oneshot::Sender<Result<UnheardClaim, StoreError>>,
}

impl KeyClaimTask {
    /// A claim, and where its answer comes.
    pub fn of(
        claim: KeyClaim,
        shared: Arc<WriterShared>,
    ) -> (Self, oneshot::Receiver<Result<UnheardClaim, StoreError>>) {
        let (reply, answer) = oneshot::channel();
        (Self { claim, begun: None, shared, reply }, answer)
    }

    /// Does it and keeps what came of it until the group has ended.
    pub fn run<E>(&mut self, work: impl FnOnce(&KeyClaim) -> Result<KeyState, E>) -> Result<(), E> {
        if let Some(claim) = self.begin() {
            self.begun = Some(work(claim)?);
        }
        Ok(())
    }

    /// What was asked, if somebody waits for it still; `keep` takes what came of it.
    pub fn begin(&mut self) -> Option<&KeyClaim> {
        // Of an attempt that was undone nothing holds.
        self.begun = None;
        // Whoever gave up was told that it was not done.
        (!self.reply.is_closed()).then_some(&self.claim)
    }

    pub fn keep(&mut self, begun: KeyState) {
        self.begun = Some(begun);
    }

    /// The key that the group takes, if it does.
    pub fn taken(&self) -> Option<&IdempotencyKey> {
        (self.begun == Some(KeyState::New)).then_some(&self.claim.key)
    }

    pub fn answer(self, group: Result<(), StoreError>) {
        let Self { claim, begun, shared, reply } = self;
        let answer = match (group, begun) {
            (Ok(()), Some(begun)) => Ok(UnheardClaim::of(begun, claim.key, shared)),
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
pub struct UnheardClaim {
    begun: KeyState,
    unheard: Option<(IdempotencyKey, Arc<WriterShared>)>,
}

impl UnheardClaim {
    fn of(begun: KeyState, key: IdempotencyKey, shared: Arc<WriterShared>) -> Self {
        let unheard = (begun == KeyState::New).then_some((key, shared));
        Self { begun, unheard }
    }

    /// It is heard now, and nothing of it comes back.
    pub fn heard(mut self) -> KeyState {
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
    use crate::options::StoreOptions;
    use crate::sqlite::file;
    use crate::sqlite::group::WriteGroup;
    use crate::writes::job::Durability;
    use crate::writes::stop::Stop;
    use crate::writes::writer::StoreWriter;

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
        let shared = Arc::new(WriterShared::of(owned.path.clone()));
        let options = StoreOptions::default();
        let group = WriteGroup::open(owned, Arc::clone(&shared), options).unwrap();
        (StoreWriter::start(shared, group).unwrap(), scratch)
    }

    fn ask<'a>(writer: &'a StoreWriter, name: &str) -> BoxFuture<'a, Result<KeyState, StoreError>> {
        let tool = ToolName::new("pay").unwrap();
        let key =
            IdempotencyKey { caller: Caller::local(), tool, source: None, key: name.to_owned() };
        let arguments = Fingerprint::of(&json!({}));
        Box::pin(writer.claim(KeyClaim { key, arguments, hold: KeyHold::Loose }))
    }

    fn stop(
        writer: &StoreWriter,
    ) -> (BoxFuture<'_, Result<(), StoreError>>, Receiver<()>, Sender<()>) {
        let (reached, arrival) = mpsc::channel();
        let (leave, left) = mpsc::channel();
        let stands = writer.ask(Durability::Sync, Stop { reached, left });
        (Box::pin(stands), arrival, leave)
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
