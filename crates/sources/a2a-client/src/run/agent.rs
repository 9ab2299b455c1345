//! What all calls of one agent share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::conversation::Conversations;
use crate::settings::A2aSettings;
use crate::transport::client::AgentClient;

pub(crate) struct RemoteAgent {
    pub(crate) client: AgentClient,
    pub(crate) settings: Arc<A2aSettings>,
    pub(crate) conversations: Arc<Conversations>,
    /// Whether it answers a message with a stream: its card says so, and it has not refused.
    pub(crate) streams: AtomicBool,
    /// The same of what comes of a task later on.
    pub(crate) subscribes: AtomicBool,
}
