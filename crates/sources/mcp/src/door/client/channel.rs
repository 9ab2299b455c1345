//! The way to the client of one request: notifications, and questions where the protocol has them.

use rmcp::model::{
    ClientResult, CustomNotification, CustomRequest, ProgressNotificationParam, RequestId,
    ServerNotification, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RoleServer, ServiceError};
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use toolcrib_core::{HostQuestion, JsonFields, LogEntry, Progress, QuestionError};

use super::events::HostAnswer;
use super::features::{ClientFeatures, method};

pub(crate) struct ClientChannel {
    /// Of the client's request.
    pub(crate) id: RequestId,
    /// Where messages before the answer go; `None`: this client hears the answer alone.
    pub(crate) context: Option<RequestContext<RoleServer>>,
    /// Is cancelled when the session of its client is over.
    pub(crate) over: Option<CancellationToken>,
    pub(crate) client: ClientFeatures,
    pub(crate) patience: Duration,
}

impl ClientChannel {
    /// To a client that hears the answer alone.
    pub(crate) fn silent(id: &RequestId, client: ClientFeatures, patience: Duration) -> Self {
        Self { id: id.clone(), context: None, over: None, client, patience }
    }

    /// Resolves when the client does not want the answer any more; whoever serves a client that
    /// hears nothing before it is dropped instead.
    pub(crate) async fn gone(&self) {
        match (&self.context, &self.over) {
            (Some(context), Some(over)) => tokio::select! {
                () = context.ct.cancelled() => {}
                () = over.cancelled() => {}
            },
            (Some(context), None) => context.ct.cancelled().await,
            (None, _) => std::future::pending().await,
        }
    }

    pub(crate) async fn progress(&self, progress: Progress) {
        let Some(context) = &self.context else { return };
        let Some(token) = context.meta.get_progress_token() else { return };
        let mut told = ProgressNotificationParam::new(token, progress.done);
        told.total = progress.total;
        told.message = progress.message;
        // Whoever does not listen any more is told nothing.
        let _ = context.peer.notify_progress(told).await;
    }

    pub(crate) async fn log(&self, entry: LogEntry) {
        let Some(context) = &self.context else { return };
        if self.client.hears.is_none_or(|lowest| entry.level < lowest) {
            return;
        }
        let told = CustomNotification::new("notifications/message", Some(json!(entry)));
        let told = ServerNotification::CustomNotification(told);
        let _ = context.peer.send_notification(told).await;
    }

    /// Tells a client of a revision that has this that what it was asked to open is done.
    pub(crate) async fn opened(&self, said: JsonFields) {
        let Some(context) = self.context.as_ref().filter(|_| !self.client.is_modern) else {
            return;
        };
        let told = Value::Object(said);
        let told = CustomNotification::new("notifications/elicitation/complete", Some(told));
        let told = ServerNotification::CustomNotification(told);
        let _ = context.peer.send_notification(told).await;
    }

    /// Puts a question to a client of an older revision, and waits for the person behind it.
    ///
    /// Must be awaited by the task that serves the request: the SDK knows by that to which of the
    /// client's requests the question belongs.
    pub(crate) async fn ask(&self, ask: HostQuestion) -> HostAnswer {
        let Some(context) = &self.context else { return Err(QuestionError::Unable) };
        let asked = CustomRequest::new(method(ask.question), Some(ask.params));
        let options = PeerRequestOptions::with_timeout(self.patience);
        let sent = context
            .peer
            .send_request_with_option(ServerRequest::CustomRequest(asked), options)
            .await;
        let answer = match sent {
            Ok(sent) => sent.await_response().await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(answer) => Ok(plain(&answer)),
            Err(ServiceError::Timeout { .. } | ServiceError::Cancelled { .. }) => {
                Err(QuestionError::Cancelled)
            }
            Err(_) => Err(QuestionError::Unable),
        }
    }
}

fn plain(answer: &ClientResult) -> Value {
    // What the SDK has no type for is kept whole; the types serialise to what was read.
    serde_json::to_value(answer).unwrap_or_default()
}
