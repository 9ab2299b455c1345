//! What an agent remembers, by the session of whoever calls.

use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;
use toolcrib_core::CallContext;

/// Most conversations of one agent that are remembered; the oldest is forgotten first.
const MOST: usize = 1_024;

/// The name that the agent gave to a conversation; whoever holds it may speak.
pub(crate) type ConversationSlot = Arc<tokio::sync::Mutex<Option<String>>>;

/// The conversations of one agent.
#[derive(Default)]
pub(crate) struct Conversations(Mutex<IndexMap<ConversationOwner, ConversationSlot>>);

/// A session is a name that its caller chose: that of another caller is another one.
#[derive(PartialEq, Eq, Hash)]
struct ConversationOwner {
    tenant: String,
    subject: String,
    session: String,
}

impl Conversations {
    /// The conversation of the session of this call; `None`: its host keeps no session.
    pub(crate) fn of(&self, context: &CallContext) -> Option<ConversationSlot> {
        let caller = context.caller();
        let owner = ConversationOwner {
            tenant: caller.tenant.clone(),
            subject: caller.subject.clone(),
            session: context.session()?.to_owned(),
        };
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if table.len() >= MOST && !table.contains_key(&owner) {
            table.shift_remove_index(0);
        }
        Some(Arc::clone(table.entry(owner).or_default()))
    }
}
