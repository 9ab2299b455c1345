//! A body that goes on after its head: it holds the place of its request until its end, and where
//! it has no end of its own, it ends when it is told to.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use hyper::body::{Body, Frame};

use super::concurrency::ConcurrencyPermit;
use crate::http::routes::reply;

pub(crate) struct GuardedBody {
    pub(crate) body: reply::ReplyBody,
    /// `None`: it has an end of its own.
    pub(crate) end: Option<BoxFuture<'static, ()>>,
    /// `None`: whoever asked needed none.
    pub(crate) place: Option<ConcurrencyPermit>,
}

impl Body for GuardedBody {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let frame = match (Pin::new(&mut self.body).poll_frame(cx), &mut self.end) {
            (Poll::Pending, Some(end)) => end.as_mut().poll(cx).map(|()| None),
            (polled, _) => polled,
        };
        if matches!(frame, Poll::Ready(None)) {
            self.place = None;
        }
        frame
    }
}
