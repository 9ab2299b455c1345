//! What comes back.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::{Instant, timeout};

use crate::decompress::{BodyDecoder, bound};
use crate::error::{EgressError, EgressErrorKind, EgressPhase};
use crate::origin::UrlOrigin;

/// The head of an answer, and its body still on the line. A redirect is an answer like others.
pub struct EgressResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub(crate) body: Incoming,
    pub(crate) place: UrlOrigin,
    pub(crate) idle: Duration,
    /// When the whole must have come.
    pub(crate) end: Instant,
    /// What is packed may unpack to this many times its size.
    pub(crate) unpack: u64,
}

impl fmt::Debug for EgressResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers may carry secrets.
        write!(f, "{} from {}", self.status, self.place)
    }
}

impl EgressResponse {
    /// The body, unpacked, if it is not larger than `max` bytes.
    pub async fn bytes(mut self, max: u64) -> Result<Bytes, EgressError> {
        let mut unpack = self.unpack(max)?;
        while let Some(chunk) = self.chunk().await? {
            unpack.push(&chunk).map_err(|error| self.not_taken(error))?;
        }
        let bytes = unpack.finish().map_err(|error| self.not_taken(error))?;
        Ok(Bytes::from(bytes))
    }

    /// The next bytes as they came.
    async fn chunk(&mut self) -> Result<Option<Bytes>, EgressError> {
        loop {
            let left = self.end.saturating_duration_since(Instant::now());
            let phase = if left < self.idle { EgressPhase::Total } else { EgressPhase::Body };
            let frame = timeout(self.idle.min(left), self.body.frame()).await;
            match frame.map_err(|_| EgressError::timeout(phase, &self.place))? {
                None => return Ok(None),
                Some(Ok(frame)) => {
                    // Trailers say nothing to us.
                    if let Ok(bytes) = frame.into_data() {
                        return Ok(Some(bytes));
                    }
                }
                Some(Err(cause)) => return Err(self.broken("the line broke").because(cause)),
            }
        }
    }

    fn unpack(&self, max: u64) -> Result<BodyDecoder, EgressError> {
        let packing =
            self.headers.get(CONTENT_ENCODING).map_or("", |it| it.to_str().unwrap_or("?"));
        match packing.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => {
                let length = self.headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok());
                let length = length.and_then(|it| it.parse::<u64>().ok());
                if length.is_some_and(|length| length > max) {
                    let message =
                        format!("`{}`: the answer is larger than {max} bytes", self.place);
                    return Err(EgressError::new(EgressErrorKind::TooLarge, message));
                }
                Ok(BodyDecoder::plain(max))
            }
            "gzip" | "x-gzip" => Ok(BodyDecoder::gzip(max, self.unpack)),
            _ => Err(self.broken("the answer is packed in a way nobody asked for")),
        }
    }

    fn not_taken(&self, error: std::io::Error) -> EgressError {
        match bound(&error) {
            Some(bound) => {
                EgressError::new(EgressErrorKind::TooLarge, format!("`{}`: {bound}", self.place))
            }
            None => self.broken("the answer is not packed right").because(error),
        }
    }

    fn broken(&self, what: &str) -> EgressError {
        EgressError::new(EgressErrorKind::Broken, format!("`{}`: {what}", self.place))
    }
}
