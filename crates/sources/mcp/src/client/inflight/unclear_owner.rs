//! Questions that could be of several calls.
//!
//! Such a question is put to nobody before it is certain whose it is: its server waits for the
//! answer, so that the calls which end meanwhile did not ask it. Where all of them may be begun
//! anew, each of them is, by itself; else the question is held until one call is left. A call that
//! was given up may have asked as well. Where that cannot be told, the server is told that nobody
//! can be asked, and never that a person put it away.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use super::asking_habits::AskingHabits;
use super::request::UpstreamRequest;

/// How long a question is held whose call is not certain.
const HELD: Duration = Duration::from_secs(20);

/// The questions of one connection that are held.
#[derive(Default)]
pub(super) struct UnclearQuestions {
    open: AtomicUsize,
    /// Rung when a call has ended.
    ended: Notify,
}

/// The calls that a question could be of.
pub(crate) struct UnclearQuestion {
    of: Vec<Arc<UpstreamRequest>>,
    /// They are begun anew, whichever asked: it is asked again by that.
    are_moved: bool,
}

/// Whose a question is.
enum OwnerVerdict {
    Of(Arc<UpstreamRequest>),
    Nobody,
    Open,
}

impl UnclearQuestion {
    /// Several ran when a question came, or one beside those that were given up.
    pub(super) fn of(askers: &AskingHabits, of: Vec<Arc<UpstreamRequest>>) -> Self {
        of.iter().filter_map(|slot| slot.subject()).for_each(|own| askers.suspect(own));
        // Whose person is being asked, or was, is not asked the same once more.
        let is_free = |slot: &&Arc<UpstreamRequest>| !slot.waits_for_us() && !slot.has_asked();
        let free: Vec<_> = of.iter().filter(is_free).map(Arc::clone).collect();
        let is_harmless =
            |slot: &Arc<UpstreamRequest>| slot.subject().is_some_and(|own| own.is_harmless);
        if !free.is_empty() && free.iter().all(is_harmless) {
            for slot in &free {
                slot.moves();
            }
            return Self { of: free, are_moved: true };
        }
        Self { of, are_moved: false }
    }

    /// `held`: questions of its connection that wait like this one, with it.
    fn verdict(
        &self,
        held: usize,
        may_be_of_another: impl Fn(&UpstreamRequest) -> bool,
    ) -> OwnerVerdict {
        let running: Vec<_> = self.of.iter().filter(|slot| !slot.is_closed()).collect();
        // Of one that was given up nobody knows whether it has asked.
        let are_gone = self.of.iter().any(|slot| slot.is_closed() && !slot.was_answered());
        match running.as_slice() {
            [] => OwnerVerdict::Nobody,
            _ if self.are_moved => OwnerVerdict::Open,
            [only] if !are_gone && !may_be_of_another(only) => OwnerVerdict::Of(Arc::clone(only)),
            // Each of them waits for an answer, and none will end before it has one.
            several if several.len() <= held && several.len() > 1 => OwnerVerdict::Nobody,
            _ => OwnerVerdict::Open,
        }
    }
}

impl UnclearQuestions {
    /// A call has ended, or was given up.
    pub(super) fn tell_end(&self) {
        if self.open.load(Ordering::Acquire) > 0 {
            self.ended.notify_waiters();
        }
    }

    /// Waits until it is certain whose a question is. `None`: that cannot be told.
    pub(super) async fn settled(
        &self,
        doubt: &UnclearQuestion,
        may_be_of_another: impl Fn(&UpstreamRequest) -> bool,
    ) -> Option<Arc<UpstreamRequest>> {
        let _held = UnclearQuestionGuard::new(self);
        let settling = async {
            loop {
                let mut ended = pin!(self.ended.notified());
                ended.as_mut().enable();
                match doubt.verdict(self.open.load(Ordering::Acquire), &may_be_of_another) {
                    OwnerVerdict::Of(slot) => return Some(slot),
                    OwnerVerdict::Nobody => return None,
                    OwnerVerdict::Open => ended.await,
                }
            }
        };
        let of = timeout(HELD, settling).await.ok().flatten();
        if of.is_none() {
            doubt.of.iter().for_each(|slot| slot.may_have_asked());
        }
        of
    }
}

struct UnclearQuestionGuard<'a>(&'a UnclearQuestions);

impl<'a> UnclearQuestionGuard<'a> {
    fn new(doubts: &'a UnclearQuestions) -> Self {
        doubts.open.fetch_add(1, Ordering::AcqRel);
        // Those that are held already may be one too many now.
        doubts.ended.notify_waiters();
        Self(doubts)
    }
}

impl Drop for UnclearQuestionGuard<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::AcqRel);
    }
}
