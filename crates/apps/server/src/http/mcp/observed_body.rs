//! The answer to an operation, on its way to the client: how it ends is read off it.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Response, header};
use hyper::body::{Body, Frame, SizeHint};
use serde::Deserialize;

use super::operation::ActiveOperation;
use crate::telemetry::OperationErrorType;

pub(super) struct ObservedBody<B> {
    body: B,
    /// `None`: nothing is watched.
    operation: Option<ActiveOperation>,
    /// Whether it comes as events, of which the last but few is the answer.
    streams: bool,
}

/// An answer, as far as it is looked at.
#[derive(Deserialize)]
struct ObservedAnswer {
    error: Option<ObservedError>,
    result: Option<ObservedResult>,
}

#[derive(Deserialize)]
struct ObservedError {
    code: i64,
}

#[derive(Deserialize)]
struct ObservedResult {
    #[serde(rename = "isError", default)]
    is_error: bool,
}

impl<B> ObservedBody<B> {
    pub(super) fn of(reply: Response<B>, mut operation: Option<ActiveOperation>) -> Response<Self> {
        let kind = reply.headers().get(header::CONTENT_TYPE);
        let streams = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let status = reply.status();
        if let Some(operation) = &mut operation {
            operation.answered = !streams;
            operation.status = (!status.is_success()).then_some(status.as_u16());
        }
        reply.map(|body| Self { body, operation, streams })
    }

    fn look(&mut self, frame: &Bytes) {
        let (Some(operation), Ok(text)) = (&mut self.operation, str::from_utf8(frame)) else {
            return;
        };
        if !self.streams {
            return hear(operation, text);
        }
        for data in text.lines().filter_map(|line| line.strip_prefix("data:")) {
            hear(operation, data);
        }
    }
}

/// Only what may have failed is read: what is searched for stands in every answer that did.
fn hear(operation: &mut ActiveOperation, text: &str) {
    if !text.contains("\"error\":") && !text.contains("\"isError\":true") {
        operation.answered = operation.answered || text.contains("\"result\":");
        return;
    }
    let Ok(answer) = serde_json::from_str::<ObservedAnswer>(text) else { return };
    operation.answered |= answer.error.is_some() || answer.result.is_some();
    if let Some(ObservedError { code }) = answer.error {
        operation.fails(OperationErrorType::Code(code));
    }
    if answer.result.is_some_and(|result| result.is_error) {
        operation.fails(OperationErrorType::Tool);
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for ObservedBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            self.look(data);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
