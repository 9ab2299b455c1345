//! A body that ends when the server does: some streams have no end of their own.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::reply;

pub(crate) struct Until {
    pub(crate) body: reply::Body,
    pub(crate) end: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Body for Until {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Pending => self.end.as_mut().poll(cx).map(|()| None),
            ready @ Poll::Ready(_) => ready,
        }
    }
}
