//! Bodies in memory, never more than was asked for.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;

/// Up to this size a body may unpack to any multiple of what came.
const FLOOR: u64 = 1024 * 1024;
/// What came packed may be this much larger than what it unpacks to.
const OVERHEAD: u64 = 64 * 1024;

/// A body as it comes.
pub(crate) enum BodyDecoder {
    Plain(BoundedBuffer),
    // Boxed: the decoder's window is large.
    Gzip(Box<MultiGzDecoder<BoundedBuffer>>),
}

/// Bytes up to a bound.
#[derive(Default)]
pub(crate) struct BoundedBuffer {
    bytes: Vec<u8>,
    max: u64,
    /// What came may unpack to this many times its size.
    ratio: u64,
    received: u64,
}

/// Why a body is not taken on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BodyLimitError {
    #[error("the answer is larger than {0} bytes")]
    Size(u64),
    #[error("the answer unpacks to more than {0} times its size")]
    Ratio(u64),
}

impl BodyDecoder {
    pub(crate) fn plain(max: u64) -> Self {
        // As large as it came.
        Self::Plain(BoundedBuffer { max, ratio: 1, ..BoundedBuffer::default() })
    }

    pub(crate) fn gzip(max: u64, ratio: u64) -> Self {
        let bounded = BoundedBuffer { max, ratio, ..BoundedBuffer::default() };
        Self::Gzip(Box::new(MultiGzDecoder::new(bounded)))
    }

    /// Takes the next bytes. The error holds a [`BodyLimitError`], or says that they are not packed
    /// right.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> io::Result<()> {
        let more = u64::try_from(chunk.len()).unwrap_or(u64::MAX);
        match self {
            Self::Plain(bounded) => {
                bounded.received = bounded.received.saturating_add(more);
                bounded.write_all(chunk)
            }
            Self::Gzip(decoder) => {
                let bounded = decoder.get_mut();
                bounded.received = bounded.received.saturating_add(more);
                // Packed nothings unpack to nothing for ever.
                if bounded.received > bounded.max.saturating_add(OVERHEAD) {
                    return Err(io::Error::other(BodyLimitError::Size(bounded.max)));
                }
                decoder.write_all(chunk)
            }
        }
    }

    pub(crate) fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Plain(bounded) => Ok(bounded.bytes),
            // Nothing at all is the body of an answer without one.
            Self::Gzip(decoder) if decoder.get_ref().received == 0 => Ok(Vec::new()),
            Self::Gzip(mut decoder) => {
                decoder.try_finish()?;
                Ok(std::mem::take(&mut decoder.get_mut().bytes))
            }
        }
    }
}

impl Write for BoundedBuffer {
    fn write(&mut self, chunk: &[u8]) -> io::Result<usize> {
        let size = u64::try_from(self.bytes.len() + chunk.len()).unwrap_or(u64::MAX);
        if size > self.max {
            return Err(io::Error::other(BodyLimitError::Size(self.max)));
        }
        if size > FLOOR && size > self.received.saturating_mul(self.ratio) {
            return Err(io::Error::other(BodyLimitError::Ratio(self.ratio)));
        }
        self.bytes.extend_from_slice(chunk);
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bound that an error is about.
pub(crate) fn bound(error: &io::Error) -> Option<BodyLimitError> {
    error.get_ref().and_then(|inner| inner.downcast_ref::<BodyLimitError>()).copied()
}
