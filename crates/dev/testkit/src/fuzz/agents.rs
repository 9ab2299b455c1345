//! What agents read: calls that a model writes into its words, and runs out of a file.

use std::collections::HashSet;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use toolcrib_agent::model::{TextCallFormat, fuzz};
use toolcrib_agent::{Cassette, ReplayError, cited_spans};

use super::two_tools::crib;

/// The form of calls on the first line, and an answer of a model on the others: however it is cut,
/// the same is told of it and called by it, and every call of it can be answered. Where it cites a
/// source, it has brackets.
pub fn text_calls(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (word, answer) = text.split_once('\n').unwrap_or((&text, ""));
    let format = TextCallFormat::WORDS.into_iter().find(|(name, _)| *name == word);
    let Some((_, format)) = format else { return };
    let (_, plan) = crib();
    let whole = fuzz::text_calls(format, &plan, &[answer]);
    let (told, said, calls) = &whole;
    assert_eq!(told, said, "what was told is not what was said");
    let ids: HashSet<_> = calls.iter().map(|call| &call.id).collect();
    assert_eq!(ids.len(), calls.len(), "two calls share an id");
    let letters: Vec<&str> = answer.split_inclusive(|_: char| true).collect();
    for span in cited_spans(answer) {
        let cited = letters.get(span.start..span.end).unwrap_or_default();
        let ends = (cited.first().copied(), cited.last().copied());
        assert_eq!(ends, (Some("["), Some("]")), "what it cites is in no brackets");
    }
    assert_eq!(fuzz::text_calls(format, &plan, &letters), whole, "cut, it says another thing");
}

/// A run out of a file. What was read is written and read as the same; what plays to its end tells
/// the events of the file and no others; and nothing is waited for.
pub fn cassette(data: &[u8]) {
    let Ok(cassette) = Cassette::read(&String::from_utf8_lossy(data)) else { return };
    let text = cassette.to_json();
    assert_eq!(Cassette::read(&text).as_ref(), Ok(&cassette), "written, it is another run");
    let mut replay = pin!(cassette.replay());
    let mut context = Context::from_waker(Waker::noop());
    let Poll::Ready(played) = replay.as_mut().poll(&mut context) else {
        unreachable!("what is on record is not waited for")
    };
    match played {
        Ok(replay) => assert_eq!(cassette.events().ok(), Some(replay.events), "others were told"),
        Err(ReplayError::Cassette(_) | ReplayError::Damaged { .. } | ReplayError::Differs(_)) => {}
    }
}
