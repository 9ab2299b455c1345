//! The answer to a forwarded request, in frames that are marked: signs of life until there is one, its
//! head, and its body as it comes. An answer without its last frame is none.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use toolcrib_auth::{ClusterKey, MARK};

use super::envelope::received;

/// Bytes before what a frame holds: its mark, its kind and its length.
const BEFORE: usize = MARK + 1 + size_of::<u32>();
/// Bytes that a frame holds, at the most.
pub(super) const LARGEST: usize = 1024 * 1024;
/// What is marked, so that no mark of anything else is one of it.
const WHAT: &[u8] = b"an answer, form 1";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// Whoever answers is there.
    Alive,
    Head,
    Data,
    End,
}

const KINDS: [(FrameKind, u8); 4] =
    [(FrameKind::Alive, 0), (FrameKind::Head, 1), (FrameKind::Data, 2), (FrameKind::End, 3)];

/// Status and headers of an answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerHead {
    status: u16,
    headers: Vec<(String, String)>,
}

impl AnswerHead {
    pub(super) fn of(status: StatusCode, headers: &HeaderMap) -> Self {
        let headers = headers
            .iter()
            .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())));
        Self { status: status.as_u16(), headers: headers.collect() }
    }

    pub(super) fn parts(&self) -> Option<(StatusCode, HeaderMap)> {
        Some((StatusCode::from_u16(self.status).ok()?, received(&self.headers)?))
    }
}

/// Marks the frames of one answer, or looks at their marks, in their order.
pub(super) struct FrameMarks {
    /// What the answer is an answer to.
    stamp: String,
    next: u64,
}

impl FrameMarks {
    pub(super) fn new(stamp: &str) -> Self {
        Self { stamp: stamp.to_owned(), next: 0 }
    }

    fn of<T>(&mut self, (kind, text): (u8, &[u8]), with: impl FnOnce(&[&[u8]]) -> T) -> T {
        let number = self.next.to_be_bytes();
        self.next += 1;
        with(&[WHAT, self.stamp.as_bytes(), &number, &[kind], text])
    }

    pub(super) fn frame(&mut self, key: &ClusterKey, kind: FrameKind, text: &[u8]) -> Bytes {
        let number =
            KINDS.iter().find(|(known, _)| *known == kind).map_or(0, |(_, number)| *number);
        let mark = self.of((number, text), |texts| key.mark(texts));
        let mut frame = BytesMut::with_capacity(BEFORE + text.len());
        frame.put_slice(&mark);
        frame.put_u8(number);
        // Whoever writes cuts what is larger.
        frame.put_u32(u32::try_from(text.len()).unwrap_or(u32::MAX));
        frame.put_slice(text);
        frame.freeze()
    }
}

/// Puts frames together from what comes.
pub(super) struct FrameReader {
    marks: FrameMarks,
    waiting: BytesMut,
}

/// It is no answer of whoever was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the answer of a replica is not marked by it")]
pub(super) struct ForgedAnswer;

impl FrameReader {
    pub(super) fn new(stamp: &str) -> Self {
        Self { marks: FrameMarks::new(stamp), waiting: BytesMut::new() }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
    }

    /// The next frame that is there as a whole.
    pub(super) fn next(
        &mut self,
        key: &ClusterKey,
    ) -> Result<Option<(FrameKind, Bytes)>, ForgedAnswer> {
        let Some((mark, rest)) = self.waiting.split_first_chunk::<MARK>() else { return Ok(None) };
        let Some(([number], rest)) = rest.split_first_chunk::<1>() else { return Ok(None) };
        let Some((length, rest)) = rest.split_first_chunk() else { return Ok(None) };
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        if length > LARGEST {
            return Err(ForgedAnswer);
        }
        let Some(text) = rest.get(..length) else { return Ok(None) };
        let kind = KINDS.iter().find(|(_, known)| known == number).map(|(kind, _)| *kind);
        let is_right = self.marks.of((*number, text), |texts| key.is_mark(mark, texts));
        let kind = kind.filter(|_| is_right).ok_or(ForgedAnswer)?;
        let mut frame = self.waiting.split_to(BEFORE + length);
        frame.advance(BEFORE);
        Ok(Some((kind, frame.freeze())))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use toolcrib_core::Secret;

    use super::*;

    fn key() -> ClusterKey {
        ClusterKey::new(&Secret::new("ours"), "forwards between replicas")
    }

    fn answer(stamp: &str) -> Vec<Bytes> {
        let mut marks = FrameMarks::new(stamp);
        let frames = [(FrameKind::Alive, ""), (FrameKind::Data, "one"), (FrameKind::End, "")];
        frames.map(|(kind, text)| marks.frame(&key(), kind, text.as_bytes())).into()
    }

    fn read(
        stamp: &str,
        bytes: &[u8],
        step: usize,
    ) -> Result<Vec<(FrameKind, Bytes)>, ForgedAnswer> {
        let (mut reader, mut frames) = (FrameReader::new(stamp), Vec::new());
        for piece in bytes.chunks(step) {
            reader.take(piece);
            while let Some(frame) = reader.next(&key())? {
                frames.push(frame);
            }
        }
        Ok(frames)
    }

    #[test]
    fn frames_are_read_in_whatever_pieces_they_come_and_in_their_order_alone() {
        let sent = answer("s");
        for step in [1, 7, 1000] {
            let got = read("s", &sent.concat(), step).unwrap();
            let kinds: Vec<_> = got.iter().map(|(kind, _)| *kind).collect();
            assert_eq!(kinds, [FrameKind::Alive, FrameKind::Data, FrameKind::End]);
            assert_eq!(&got[1].1[..], b"one");
        }
        assert_eq!(read("other", &sent.concat(), 7), Err(ForgedAnswer));
        assert_eq!(read("s", &sent[1..].concat(), 7), Err(ForgedAnswer));
        let twice = [&sent[0][..], &sent[0][..]].concat();
        assert_eq!(read("s", &twice, 7), Err(ForgedAnswer));
        let mut huge = sent[0].to_vec();
        huge[MARK + 1] = 255;
        assert_eq!(read("s", &huge, 7), Err(ForgedAnswer));
    }

    proptest! {
        #[test]
        fn whatever_comes_is_no_frame(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            prop_assert!(read("s", &bytes, 16).map_or(true, |frames| frames.is_empty()));
        }
    }
}
