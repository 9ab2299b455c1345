//! What all calls of one agent share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use url::Url;

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
    /// Whether it sends word of its tasks, as its card says.
    pub(crate) pushes: bool,
}

impl RemoteAgent {
    /// Our address for word of a task, where no stream tells of it.
    pub(super) fn told_at(&self) -> Option<&Url> {
        let is_told = self.pushes && !self.streams.load(Ordering::Relaxed);
        self.settings.push.as_ref().filter(|_| is_told)
    }
}
