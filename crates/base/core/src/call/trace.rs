//! Where a call stands in the traces of those who asked for it: the Trace Context of the W3C.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use uuid::Uuid;

/// A place in a trace: the trace, and the span that is the parent of whatever begins here.
///
/// Of a client's `traceparent` nothing but the name of the trace and whether it is recorded goes
/// on: each step has a span of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Trace {
    id: u128,
    span: u64,
    parent: Option<u64>,
    sampled: bool,
    goes_on: bool,
}

impl Trace {
    /// The beginning of a trace that is recorded.
    pub fn root() -> Self {
        let id = u128::from(number_of_its_own()) << 64 | u128::from(number_of_its_own());
        Self { id, span: number_of_its_own(), parent: None, sampled: true, goes_on: true }
    }

    /// The beginning of one that joins our own records and that nobody else hears of.
    pub fn of_ours() -> Self {
        Self { sampled: false, goes_on: false, ..Self::root() }
    }

    /// A step within.
    #[must_use]
    pub fn child(self) -> Self {
        Self { span: number_of_its_own(), parent: Some(self.span), ..self }
    }

    /// Whether both are of one trace.
    pub fn is_with(self, other: Self) -> bool {
        self.id == other.id
    }

    /// Reads a `traceparent`; `None`: it is none, and a trace of one's own begins.
    pub fn parse(header: &str) -> Option<Self> {
        let mut parts = header.split('-');
        let (version, id, span, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        // Later versions may add parts; this one may not.
        if version == "ff" || (version == "00" && parts.next().is_some()) {
            return None;
        }
        let _: u64 = number(version, 2)?;
        let high: u64 = number(id.get(..16)?, 16)?;
        let low: u64 = number(id.get(16..)?, 16)?;
        let id = u128::from(high) << 64 | u128::from(low);
        let span = number(span, 16)?;
        let sampled = number(flags, 2)? & 1 == 1;
        let trace = Self { id, span, parent: None, sampled, goes_on: true };
        (id != 0 && span != 0).then_some(trace)
    }

    /// Whether others may hear of it.
    pub fn goes_on(self) -> bool {
        self.goes_on
    }

    /// Whether whoever began the trace records it.
    pub fn is_sampled(self) -> bool {
        self.sampled
    }

    /// 32 hexadecimal digits.
    pub fn trace_id(self) -> String {
        format!("{:032x}", self.id)
    }

    /// 16 hexadecimal digits.
    pub fn span_id(self) -> String {
        format!("{:016x}", self.span)
    }

    /// The span that this one is a part of, as far as we made it or were told.
    pub fn parent_id(self) -> Option<String> {
        self.parent.map(|parent| format!("{parent:016x}"))
    }
}

/// What the systems that trace wrote beside the place in a trace, for each other: a `tracestate`.
/// It goes on as it is, and wherever the place does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceState(Arc<str>);

/// Letters that everybody passes on.
const LONGEST_STATE: usize = 512;
/// Members of its list.
const MOST_MEMBERS: usize = 32;

impl TraceState {
    /// `None`: it is none, or longer than everybody must pass on, or says nothing.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_matches([' ', '\t']);
        let members = || text.split(',').map(|member| member.trim_matches([' ', '\t']));
        let fits = !text.is_empty() && text.len() <= LONGEST_STATE;
        let is_list = fits && members().count() <= MOST_MEMBERS && members().all(is_member);
        is_list.then(|| Self(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// `key=value`, or nothing at all.
fn is_member(text: &str) -> bool {
    let Some((key, value)) = text.split_once('=') else { return text.is_empty() };
    let in_key =
        |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/' | b'@');
    let begins =
        key.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let in_value = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'=';
    begins && key.bytes().all(in_key) && !value.is_empty() && value.bytes().all(in_value)
}

/// As a `traceparent`.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.id, self.span, u8::from(self.sampled))
    }
}

/// Lower-case hexadecimal digits, this many of them.
fn number(text: &str, digits: usize) -> Option<u64> {
    let fits =
        text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if fits { u64::from_str_radix(text, 16).ok() } else { None }
}

/// A number that looks random and is not drawn twice: no secret, but the operating system is asked
/// for one once and not for every call. (The generator is `SplitMix64`.)
fn number_of_its_own() -> u64 {
    static STATE: LazyLock<AtomicU64> =
        LazyLock::new(|| AtomicU64::new(Uuid::new_v4().as_u64_pair().1));
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let state = STATE.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
    let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    // Zero names no span.
    (mixed ^ mixed >> 31).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_traceparent_is_read_as_it_is_written() {
        let trace = Trace::parse(GOOD).unwrap();
        assert_eq!(trace.to_string(), GOOD);
        assert_eq!(trace.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(trace.span_id(), "00f067aa0ba902b7");
        assert!(trace.is_sampled());
        let later = Trace::parse(&GOOD.replace("00-4b", "01-4b").replace("-01", "-00-more"));
        assert!(later.is_some_and(|later| !later.is_sampled()));
    }

    #[test]
    fn what_is_no_traceparent_is_none() {
        for bad in [
            "",
            "00",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736é-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(Trace::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_tracestate_is_a_list_of_so_many_letters_and_members() {
        let long = |letters: usize| format!("a={}", "x".repeat(letters - 2));
        let many = |members: usize| vec!["a=1"; members].join(",");
        for good in [
            "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
            "a=1, b@c=2 ,,",
            "0=~",
            &long(511),
            &long(512),
            &many(31),
            &many(32),
        ] {
            assert_eq!(TraceState::parse(good).as_ref().map(TraceState::as_str), Some(good));
        }
        for bad in
            ["", "a", "a=", "=1", "A=1", "a=1=2", "a=\u{e9}", "a=1\r\nb: c", &long(513), &many(33)]
        {
            assert_eq!(TraceState::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_step_has_a_span_of_its_own() {
        let trace = Trace::parse(GOOD).unwrap();
        let step = trace.child();
        assert_eq!(step.trace_id(), trace.trace_id());
        assert_ne!(step.span_id(), trace.span_id());
        assert!(Trace::root().is_sampled());
    }
}
