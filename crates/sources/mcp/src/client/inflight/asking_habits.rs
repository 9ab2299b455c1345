//! Which requests of a server are known to ask something without saying for which call it is.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::client::call::outgoing::OutgoingRequest;

/// Tools, prompts and methods of one server of which something is kept.
const MOST: usize = 4_096;

/// What the requests of one server did until now.
#[derive(Default)]
pub(crate) struct AskingHabits {
    /// Its program is one that asks.
    has_asked: AtomicBool,
    known: Mutex<HashMap<Arc<str>, AskingHabit>>,
}

/// What is known of a tool, a prompt or a method.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AskingHabit {
    /// It came to its end and asked nothing.
    Silent,
    /// A question may have been its own.
    Suspected,
    Asks,
}

/// What a request is about, as far as it matters to those beside it.
#[derive(Clone)]
pub(crate) struct CallSubject {
    pub(crate) name: Arc<str>,
    /// It may be begun anew.
    pub(crate) is_harmless: bool,
}

/// What a request may have beside it on one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SharingRule {
    Others,
    /// Nothing is known of it, so that others come a moment later: most of what asks asks at once.
    OthersSoon,
    /// Nothing is known of it, and it is better by itself.
    NobodyIfPossible,
    Nobody,
}

impl SharingRule {
    pub(crate) fn is_alone(self) -> bool {
        matches!(self, Self::NobodyIfPossible | Self::Nobody)
    }
}

impl AskingHabits {
    fn known(&self) -> MutexGuard<'_, HashMap<Arc<str>, AskingHabit>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn subject(&self, asked: &OutgoingRequest) -> CallSubject {
        let is_harmless = asked.is_harmless;
        let name = match asked.params.name() {
            Some(tool) if asked.method == "tools/call" => {
                let known = self.known().get_key_value(tool).map(|(name, _)| Arc::clone(name));
                known.unwrap_or_else(|| tool.into())
            }
            // A slash stands in no name of a tool that is listed.
            name => format!("{}/{}", asked.method, name.unwrap_or_default()).into(),
        };
        CallSubject { name, is_harmless }
    }

    /// Whether anything of this server has asked, or may have.
    pub(crate) fn have_asked(&self) -> bool {
        self.has_asked.load(Ordering::Acquire)
    }

    /// What may run beside it. Once a program has asked anything, only what is known to be silent
    /// runs beside others.
    pub(crate) fn company(&self, subject: &CallSubject) -> SharingRule {
        let habit = self.known().get(&subject.name).copied();
        match habit {
            Some(AskingHabit::Silent) => SharingRule::Others,
            Some(AskingHabit::Suspected | AskingHabit::Asks) => SharingRule::Nobody,
            None if self.have_asked() => SharingRule::NobodyIfPossible,
            // It can be begun anew where a question turns out to be nobody's.
            None if subject.is_harmless => SharingRule::Others,
            None => SharingRule::OthersSoon,
        }
    }

    pub(crate) fn asks(&self, subject: &CallSubject) {
        self.is(subject, AskingHabit::Asks);
    }

    pub(crate) fn suspect(&self, subject: &CallSubject) {
        self.is(subject, AskingHabit::Suspected);
    }

    /// One request of it has ended, and no question can have been its own.
    pub(crate) fn was_silent(&self, subject: &CallSubject) {
        self.is(subject, AskingHabit::Silent);
    }

    fn is(&self, subject: &CallSubject, habit: AskingHabit) {
        if habit != AskingHabit::Silent {
            self.has_asked.store(true, Ordering::Release);
        }
        let mut known = self.known();
        let has_room = known.len() < MOST;
        match known.get_mut(&subject.name) {
            // What asked once may ask again.
            Some(AskingHabit::Asks) => {}
            Some(before) => *before = habit,
            None if has_room => {
                known.insert(Arc::clone(&subject.name), habit);
            }
            None => {}
        }
    }
}
