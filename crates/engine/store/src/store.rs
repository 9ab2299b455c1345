//! What doors read and write of the store; `ledger` has what the gate asks of it, and `runs` what
//! agents do.

mod ledger;
mod replicas;
pub(crate) mod run_archive;
mod runs;
mod sessions;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Semaphore, oneshot};
use toolcrib_core::{
    CallKey, Caller, Content, Ending, EndingReport, Fingerprint, ResultHandle, UncertainCall,
};

use crate::address;
use crate::cache::recent_answers::RecentAnswers;
use crate::clock::WallTime;
use crate::error::StoreError;
use crate::options::StoreOptions;
use crate::reads::StoreReads;
use crate::rows::call_state::KnownEnd;
use crate::rows::calls::{CallEnd, DuplicateQuery};
use crate::rows::history::{CallCursor, CallFilter, CallPage, CallRecord};
use crate::rows::keys::{self, IdempotencyKey, KeyHold, KeySettlement, KeyState};
use crate::rows::results::{NewResult, ResultPiece};
use crate::sqlite::file;
use crate::sqlite::group::WriteGroup;
use crate::sqlite::read_pool::ReadPool;
use crate::writes::job::{Durability, GroupWriter};
use crate::writes::key_claim::KeyClaim;
use crate::writes::read_calls::{EndAction, ReadCalls};
use crate::writes::requests::{FindUnknown, FlushAll, JudgeCall, KeepResult, PruneStep};
use crate::writes::retry_queue::EndTask;
use crate::writes::shared::{OWED_PER_GROUP, WriterShared};
use crate::writes::task::WriteTask;
use crate::writes::unwritten_end::UnwrittenEnd;
use crate::writes::writer::StoreWriter;

/// Large results that are on their way into the file at one time.
const KEEPING: usize = 4;

/// The durable ledger. Cheap to clone; the file is given back when the last clone is dropped,
/// which waits for what is still to be written.
#[derive(Clone)]
pub struct Store(Arc<StoreInner>);

struct StoreInner {
    readers: Box<dyn StoreReads>,
    writer: StoreWriter,
    options: StoreOptions,
    reading: ReadCalls,
    keeping: Semaphore,
    told: RecentAnswers,
}

/// Opens the store at `sqlite://PATH`, or at a path, with the default bounds.
pub fn open(url_or_path: &str) -> Result<Store, StoreError> {
    Store::open(&address::path(url_or_path)?, StoreOptions::default())
}

impl Store {
    /// Opens a file, or makes it. Calls that the process before left without an end get one. Over a
    /// full disk that is done once there is room, and until then `works` tells why not.
    pub fn open(path: &Path, options: StoreOptions) -> Result<Self, StoreError> {
        let owned = Arc::new(file::own(path)?);
        let shared = Arc::new(WriterShared::of(owned.path.clone()));
        let readers = ReadPool::new(Arc::clone(&owned));
        let group = WriteGroup::open(owned, Arc::clone(&shared), options.clone())?;
        Self::over(readers, group, shared, options)
    }

    /// A store of whatever can be read and written as one.
    #[doc(hidden)]
    pub fn over(
        readers: impl StoreReads + 'static,
        group: impl GroupWriter + 'static,
        shared: Arc<WriterShared>,
        options: StoreOptions,
    ) -> Result<Self, StoreError> {
        let writer = StoreWriter::start(shared, group)?;
        let readers: Box<dyn StoreReads> = Box::new(readers);
        let keeping = Semaphore::new(KEEPING);
        let reading = ReadCalls::default();
        let told = RecentAnswers::default();
        Ok(Self(Arc::new(StoreInner { readers, writer, options, reading, keeping, told })))
    }

    /// Fails as [`Store::open`] would fail of this file, and leaves all as it is. One that another
    /// process has open is one that can be.
    pub fn try_out(path: &Path) -> Result<(), StoreError> {
        file::try_out(path)
    }

    /// The calls of a caller, newest first, after `after`; at most 500, and one at the least.
    pub async fn calls(
        &self,
        caller: &Caller,
        filter: CallFilter,
        after: Option<CallCursor>,
        limit: usize,
    ) -> Result<CallPage, StoreError> {
        self.page(Some(caller.clone()), filter, after, limit).await
    }

    /// The same of all callers: for whoever runs the crib.
    pub async fn calls_of_all(
        &self,
        filter: CallFilter,
        after: Option<CallCursor>,
        limit: usize,
    ) -> Result<CallPage, StoreError> {
        self.page(None, filter, after, limit).await
    }

    async fn page(
        &self,
        caller: Option<Caller>,
        filter: CallFilter,
        after: Option<CallCursor>,
        limit: usize,
    ) -> Result<CallPage, StoreError> {
        self.flush().await?;
        self.0.readers.page(caller, filter, after, limit).await
    }

    /// One call of a caller by its key.
    pub async fn call(&self, caller: &Caller, key: &str) -> Result<Option<CallRecord>, StoreError> {
        self.flush().await?;
        self.0.readers.call(caller.clone(), key.to_owned()).await
    }

    /// The same, whoever made it: for whoever runs the crib.
    pub async fn call_of_any(&self, key: &str) -> Result<Option<CallRecord>, StoreError> {
        self.flush().await?;
        self.0.readers.call_of_any(key.to_owned()).await
    }

    /// Gives a call of whose outcome nobody knows, whoever made it, the end that this person says;
    /// any other call stays as it is. The call as it is from then on, also after a loss of power.
    pub async fn resolve(
        &self,
        key: &str,
        end: KnownEnd,
        by: &Caller,
    ) -> Result<Option<CallRecord>, StoreError> {
        let judge = JudgeCall { key: key.to_owned(), end, by: by.clone() };
        self.0.writer.ask(Durability::Sync, judge).await
    }

    /// How calls ended, whoever made them, by their keys: those of them that are on record.
    pub async fn endings(&self, keys: Vec<String>) -> Result<HashMap<String, Ending>, StoreError> {
        self.flush().await?;
        self.0.readers.endings(keys).await
    }

    /// A piece of a kept result's text: about `bytes` bytes from byte `from`.
    pub async fn piece(
        &self,
        caller: &Caller,
        handle: &ResultHandle,
        from: usize,
        bytes: usize,
    ) -> Result<Option<ResultPiece>, StoreError> {
        let kept = self.0.readers.kept(caller.clone(), handle.clone()).await?;
        Ok(kept.map(|content| ResultPiece::cut(&content, from, bytes)))
    }

    /// Asks for a key before the call is made; when this resolves to `New`, the key is on disk.
    /// Dropped before that, it leaves the key free.
    /// What was begun here stays taken when the process ends: what ran under it, only its beginner
    /// knows.
    pub async fn begin(
        &self,
        key: &IdempotencyKey,
        arguments: Fingerprint,
    ) -> Result<KeyState, StoreError> {
        self.begin_with(key, arguments, KeyHold::Bound).await
    }

    async fn begin_with(
        &self,
        key: &IdempotencyKey,
        arguments: Fingerprint,
        hold: KeyHold,
    ) -> Result<KeyState, StoreError> {
        keys::check(key)?;
        self.0.writer.claim(KeyClaim { key: key.clone(), arguments, hold }).await
    }

    /// Records the response of a call that was begun under a key: up to 32 MiB of JSON. As a ledger
    /// the store takes a larger one for one that is lost.
    pub async fn settle(&self, key: &IdempotencyKey, response: &Value) -> Result<(), StoreError> {
        self.write_end(key, KeySettlement::Answered(keys::written(response)?)).await
    }

    /// Gives a key back: the call that was begun under it certainly did not run.
    pub async fn release(&self, key: &IdempotencyKey) -> Result<(), StoreError> {
        self.write_end(key, KeySettlement::Free).await
    }

    async fn write_end(
        &self,
        key: &IdempotencyKey,
        settled: KeySettlement,
    ) -> Result<(), StoreError> {
        self.owe(UnwrittenEnd::IdempotencyKey { key: key.clone(), settled }).await
    }

    /// Removes all that is too old, in bounded steps. The store does this by itself about once a
    /// minute.
    pub async fn prune(&self) -> Result<(), StoreError> {
        while self.0.writer.ask(Durability::Commit, PruneStep).await? {}
        Ok(())
    }

    /// Looks through the whole file for damage; what is found, in the words of SQLite. Takes
    /// seconds for a large file.
    pub async fn check(&self) -> Result<Vec<String>, StoreError> {
        self.0.readers.damage().await
    }

    /// Rows of reading calls that could not be written since the store was opened.
    pub fn lost(&self) -> u64 {
        self.0.writer.shared().lost.load(Ordering::Relaxed)
    }

    /// How long a key answers for the call that was made under it.
    pub fn keys_for(&self) -> Duration {
        self.0.options.keys_for
    }

    /// Calls of all callers that the process before left without an end, and that became `Unknown`
    /// when the store was opened.
    pub fn interrupted(&self) -> usize {
        self.0.writer.shared().interrupted.load(Ordering::Acquire)
    }

    /// Groups that were committed since the store was opened.
    pub fn commits(&self) -> u64 {
        self.0.writer.shared().commits.load(Ordering::Relaxed)
    }

    /// Why nothing can be written now, as far as the last attempt shows, of which the opening makes
    /// the first. Asks no disk: while nothing can be written, that is tried again every other
    /// second.
    pub fn works(&self) -> Result<(), StoreError> {
        self.0.writer.works()
    }

    /// Waits until everything that was handed over is committed.
    pub async fn flush(&self) -> Result<(), StoreError> {
        self.0.writer.ask(Durability::Commit, FlushAll).await
    }

    async fn finish(&self, call: CallKey, finish: EndingReport) -> Result<(), StoreError> {
        if finish.ending == Ending::Unknown {
            let last = &self.0.writer.shared().last_unknown;
            last.fetch_max(WallTime::now().0, Ordering::AcqRel);
        }
        match self.0.reading.end(call, CallEnd::now(finish)) {
            EndAction::Nothing => self.0.writer.works(),
            EndAction::Update(end) => {
                let shared = Arc::clone(self.0.writer.shared());
                let task =
                    EndTask { owed: UnwrittenEnd::call(call, end, &shared), shared, reply: None };
                self.0.writer.hand_over(WriteTask::End(task)).await
            }
            EndAction::Other(end) => {
                self.owe(UnwrittenEnd::call(call, end, self.0.writer.shared())).await
            }
        }
    }

    /// Waits until it is committed; what cannot be written now is written later.
    async fn owe(&self, owed: UnwrittenEnd) -> Result<(), StoreError> {
        let shared = Arc::clone(self.0.writer.shared());
        let (reply, answer) = oneshot::channel();
        let task = WriteTask::End(EndTask { owed, shared, reply: Some(reply) });
        self.0.writer.send(Durability::Commit, task).await?;
        answer.await.unwrap_or_else(|_| Err(self.0.writer.unanswered()))
    }

    async fn unknown_like(
        &self,
        call: CallKey,
        like: DuplicateQuery,
        window: Duration,
    ) -> Result<Option<UncertainCall>, StoreError> {
        let after = WallTime::now().before(window);
        let shared = self.0.writer.shared();
        // What another process that shares the record knows is in no memory of this one.
        if shared.lease.is_shared() {
            let known = self.find_unknown(like, after).await?;
            if known.is_none() && !window.is_zero() {
                shared.lease.note_asked(call, after);
            }
            return Ok(known);
        }
        if shared.last_unknown.load(Ordering::Acquire) <= after.0 {
            return Ok(None);
        }
        self.find_unknown(like, after).await
    }

    async fn find_unknown(
        &self,
        like: DuplicateQuery,
        after: WallTime,
    ) -> Result<Option<UncertainCall>, StoreError> {
        let shared = self.0.writer.shared();
        if shared.unknown.load(Ordering::Acquire) == 0 {
            return self.0.readers.unknown_like(like, after).await;
        }
        // One that the file does not have yet is written in front of what the writer is asked, if
        // what is owed is no more than goes with one group.
        while shared.owed().len() > OWED_PER_GROUP {
            self.flush().await?;
        }
        self.0.writer.ask(Durability::Commit, FindUnknown { like, after }).await
    }

    async fn keep_large(&self, caller: &Caller, content: &Content) -> Option<ResultHandle> {
        // A permit of a semaphore that nobody closes.
        let _place = self.0.keeping.acquire().await.ok()?;
        let result = NewResult::of(caller, content, &self.0.options)?;
        let keeping = self.0.writer.ask(Durability::Commit, KeepResult(result));
        let (handle, holders) = keeping.await.ok()?;
        self.0.writer.shared().holders.set(&caller.tenant, holders);
        Some(handle)
    }
}
