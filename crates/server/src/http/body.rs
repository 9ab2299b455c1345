//! Takes a body in whole, within bounds of size and time.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::time::{Instant, timeout, timeout_at};
use toolcrib::config::Bounds;

use super::problem::{Kind, Problem};

pub(crate) async fn read(body: Incoming, bounds: &Bounds) -> Result<Bytes, Problem> {
    let largest = bounds.body;
    let too_large = || Problem::new(Kind::TooLarge, format!("send {largest} bytes at the most"));
    let too_slow = || Problem::new(Kind::TooSlow, "send the body without pauses");
    let said = body.size_hint().lower();
    if usize::try_from(said).map_or(true, |said| said > largest) {
        return Err(too_large());
    }
    let last = Instant::now() + bounds.body_time;
    let mut body = std::pin::pin!(body);
    let mut bytes = BytesMut::new();
    let pieces = async {
        while let Some(frame) =
            timeout(bounds.body_pause, body.frame()).await.map_err(|_| too_slow())?
        {
            let frame = frame.map_err(|_| Problem::new(Kind::BadRequest, "the body broke off"))?;
            // Trailers say nothing that we ask for.
            let Ok(data) = frame.into_data() else { continue };
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
