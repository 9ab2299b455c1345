//! How many requests a server may have open with us.
//!
//! The SDK makes a task for each request of a server, and one more for each answer of ours until
//! that is written. A server that goes on asking and reads nothing would have both without end.

use std::collections::HashSet;
use std::sync::Arc;

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, RequestId, ServerJsonRpcMessage, ServerNotification,
};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;

use crate::client::inflight::InFlight;

/// Requests, pings too, whose answers are not written yet. What comes beyond them is not heard.
const MOST: usize = 256;

/// A transport between the SDK and a server that asks without end.
pub(crate) struct BoundedTransport<T> {
    inner: T,
    calls: Arc<InFlight>,
    /// What the SDK was told of and has not answered.
    open: HashSet<RequestId>,
    /// Held by each answer until it is written.
    writing: Arc<()>,
    /// Only then the SDK gives up what the server cancels; it answers everything of a new one.
    is_old: bool,
}

impl<T> BoundedTransport<T> {
    pub(crate) fn new(inner: T, calls: &Arc<InFlight>) -> Self {
        let (open, writing) = (HashSet::new(), Arc::default());
        Self { inner, calls: Arc::clone(calls), open, writing, is_old: false }
    }

    fn count(&self) -> usize {
        self.open.len() + Arc::strong_count(&self.writing) - 1
    }

    /// Whether the SDK is to hear of a message. Of two requests under one id the SDK would answer
    /// one alone.
    fn takes(&mut self, message: &ServerJsonRpcMessage) -> bool {
        match message {
            ServerJsonRpcMessage::Request(request) => {
                let is_taken = self.count() < MOST && self.open.insert(request.id.clone());
                if !is_taken {
                    // Nobody will ask for it.
                    drop(self.calls.question(&request.id));
                }
                is_taken
            }
            ServerJsonRpcMessage::Notification(notification) => {
                if let ServerNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = cancelled.params.request_id.as_ref().filter(|_| self.is_old)
                {
                    self.open.remove(id);
                }
                true
            }
            ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_) => true,
        }
    }

    /// Takes note of what we say; what is given back for an answer lives until that is written.
    fn says(&mut self, message: &ClientJsonRpcMessage) -> Option<Arc<()>> {
        let id = match message {
            ClientJsonRpcMessage::Response(response) => Some(&response.id),
            ClientJsonRpcMessage::Error(error) => error.id.as_ref(),
            ClientJsonRpcMessage::Request(request) => {
                self.is_old |= matches!(request.request, ClientRequest::InitializeRequest(_));
                None
            }
            ClientJsonRpcMessage::Notification(_) => None,
        };
        self.open.remove(id?);
        Some(Arc::clone(&self.writing))
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for BoundedTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        let writing = self.says(&message);
        let sending = self.inner.send(message);
        async move {
            let sent = sending.await;
            drop(writing);
            sent
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let message = self.inner.receive().await?;
            if self.takes(&message) {
                return Some(message);
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.inner.close()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::future::pending;

    use futures_util::FutureExt as _;
    use rmcp::model::ClientResult;
    use serde_json::json;

    use super::*;
    use crate::client::inflight::ServerNotices;
    use crate::client::settings::McpBounds;

    /// Says what it is told to, and reads nothing.
    struct Flood(std::vec::IntoIter<serde_json::Value>);

    impl Transport<RoleClient> for Flood {
        type Error = Infallible;

        fn send(
            &mut self,
            _: ClientJsonRpcMessage,
        ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
            pending()
        }

        async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
            Some(serde_json::from_value(self.0.next()?).unwrap())
        }

        async fn close(&mut self) -> Result<(), Infallible> {
            Ok(())
        }
    }

    fn flood(said: Vec<serde_json::Value>) -> BoundedTransport<Flood> {
        BoundedTransport::new(
            Flood(said.into_iter()),
            &InFlight::new(&Arc::<ServerNotices>::default(), McpBounds::default(), &Arc::default()),
        )
    }

    fn ping(id: usize) -> serde_json::Value {
        json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
    }

    fn pong(message: &ServerJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        let ServerJsonRpcMessage::Request(request) = message else { return None };
        Some(ClientJsonRpcMessage::response(ClientResult::empty(()), request.id.clone()))
    }

    #[tokio::test]
    async fn a_server_that_pings_and_never_reads_is_not_heard_for_long() {
        let mut server = flood((0..10_000).map(ping).collect());
        let mut answers = Vec::new();
        while let Some(message) = server.receive().await {
            let mut answer = Box::pin(server.send(pong(&message).unwrap()));
            assert!(answer.as_mut().now_or_never().is_none());
            answers.push(answer);
        }
        assert_eq!((answers.len(), server.count()), (MOST, MOST));
        drop(answers);
        assert_eq!(server.count(), 0);
    }

    #[tokio::test]
    async fn requests_count_until_they_are_answered_or_an_old_server_cancels_them() {
        let cancelled = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0},
        });
        for is_old in [false, true] {
            let mut said: Vec<_> = (0..MOST + 9).map(ping).collect();
            said.extend([cancelled.clone(), ping(MOST), ping(MOST)]);
            let mut server = flood(said);
            server.is_old = is_old;
            let mut heard = Vec::new();
            while let Some(message) = server.receive().await {
                heard.push(message);
            }
            // All that there is room for, the word, and one in the room of the one that is gone.
            assert_eq!((heard.len(), server.count()), (MOST + 1 + usize::from(is_old), MOST));
            assert_eq!(server.open.contains(&RequestId::Number(0)), !is_old);
            for answer in heard.iter().filter_map(pong) {
                drop(server.send(answer));
            }
            assert_eq!(server.count(), 0);
        }
    }
}
