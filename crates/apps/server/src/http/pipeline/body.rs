//! Takes a body in whole, within bounds of size and time.

use std::future::poll_fn;
use std::task::Poll;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Body;
use tokio::time::{Instant, timeout, timeout_at};
use toolcrib_config::ServerLimits;

use crate::http::routes::problem::{HttpProblem, ProblemKind};

pub(crate) async fn read<B: Body<Data = Bytes>>(
    body: B,
    bounds: &ServerLimits,
) -> Result<Bytes, HttpProblem> {
    let largest = bounds.body;
    let too_large =
        || HttpProblem::new(ProblemKind::TooLarge, format!("send {largest} bytes at the most"));
    let too_slow = || HttpProblem::new(ProblemKind::TooSlow, "send the body without pauses");
    let broken_off = || HttpProblem::new(ProblemKind::BadRequest, "the body broke off");
    let said = body.size_hint().lower();
    if usize::try_from(said).map_or(true, |said| said > largest) {
        return Err(too_large());
    }
    let mut body = std::pin::pin!(body);
    let mut bytes = BytesMut::new();
    // Most bodies come in one piece with their head, and need no clock and no copy.
    let first = poll_fn(|context| Poll::Ready(body.as_mut().poll_frame(context))).await;
    if let Poll::Ready(frame) = first {
        let Some(frame) = frame else { return Ok(Bytes::new()) };
        // Trailers say nothing that we ask for.
        if let Ok(data) = frame.map_err(|_| broken_off())?.into_data() {
            if data.len() > largest {
                return Err(too_large());
            }
            if body.is_end_stream() {
                return Ok(data);
            }
            bytes.extend_from_slice(&data);
        }
    }
    let last = Instant::now() + bounds.body_time;
    let pieces = async {
        while let Some(frame) =
            timeout(bounds.body_pause, body.frame()).await.map_err(|_| too_slow())?
        {
            let Ok(data) = frame.map_err(|_| broken_off())?.into_data() else { continue };
            if bytes.len() + data.len() > largest {
                return Err(too_large());
            }
            bytes.extend_from_slice(&data);
        }
        Ok(())
    };
    timeout_at(last, pieces).await.map_err(|_| too_slow())??;
    Ok(bytes.freeze())
}
