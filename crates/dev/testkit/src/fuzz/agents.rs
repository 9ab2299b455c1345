//! What agents read: calls that a model writes into its words, runs out of a file, tasks, and tokens
//! of engines.

use std::collections::HashSet;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use serde_json::Value;
use toolcrib_agent::model::{TextCallFormat, fuzz};
use toolcrib_agent::{
    Cassette, ReplayError, RolloutTask, Trainer, Trajectory, cited_spans, delegated_task,
};
use toolcrib_core::{Call, RawArguments};

use toolcrib_engine::toolsets::SplitOutcome;

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

/// The name of a tool of a team on the first line, and its arguments as a model writes them on the
/// others: whoever is given a task is named, the task is there, and what is wrong is told shortly.
pub fn team_calls(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (name, arguments) = text.split_once('\n').unwrap_or((&text, ""));
    let call = Call::new("c1", name, RawArguments::Text(arguments.to_owned()));
    match delegated_task(&call) {
        Ok(Some((specialist, task))) => {
            assert!(!task.trim().is_empty(), "nothing is to be done");
            assert!(!specialist.is_empty() || name == "ask_", "nobody is to do it");
        }
        Ok(None) => {}
        Err(told) => assert!(told.len() <= 2000 + name.len(), "it is told at length"),
    }
}

/// Names of tools on the first line, with blanks between them, and what a model answered that was
/// asked to group them: each tool is in one group at the most, and what is read again is the same.
pub fn toolset_split(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (names, answer) = text.split_once('\n').unwrap_or((&text, ""));
    let mut names: Vec<String> = names.split(' ').map(str::to_owned).collect();
    names.sort();
    names.dedup();
    let read = SplitOutcome::read(answer, &names);
    if let SplitOutcome::Groups(groups) = &read {
        let placed: Vec<_> = groups.iter().flat_map(|group| &group.tools).collect();
        let distinct: HashSet<_> = placed.iter().collect();
        assert_eq!(distinct.len(), placed.len(), "a tool is in two groups");
        assert!(placed.iter().all(|tool| names.contains(tool)), "a tool is invented");
        assert!(groups.iter().all(|group| !group.tools.is_empty()), "a group has no tool");
    }
    assert_eq!(read.again(&names), read, "read again, it is another one");
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

/// Lines of files of rollouts. A task that is read has an id, and something that is said; what is
/// wrong with any other is told. A trajectory is written for every trainer, each token with its mask.
/// Of tokens that an engine tells without a fault there is a logprob for each, or for none; of one
/// that takes tokens, for each.
pub fn rollout(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut events = Vec::new();
    for line in text.lines() {
        match RolloutTask::read(line, 1) {
            Ok(task) => {
                assert!(!task.id.is_empty() && !task.thread.is_empty(), "a task without words");
                let again = RolloutTask::read(line, 1);
                assert_eq!(again.as_ref(), Ok(&task), "read again, it is another task");
            }
            Err(why) => assert!(!why.is_empty(), "nobody says what is wrong with a task"),
        }
        if let Ok(one) = serde_json::from_str::<Trajectory>(line) {
            for line in Trainer::Verl.lines(&one).into_iter().flatten() {
                let length = |key: &str| line.get(key).and_then(Value::as_array).map(Vec::len);
                assert_eq!(length("response_ids"), length("response_mask"), "{line}");
            }
            for line in Trainer::Twinkle.lines(&one).into_iter().flatten() {
                let length = |key: &str| line.get(key).and_then(Value::as_array).map(Vec::len);
                assert_eq!(length("input_ids"), length("labels"), "{line}");
            }
            assert_eq!(Trainer::Verifiers.lines(&one).map(|lines| lines.len()), Ok(1));
        }
        events.extend(serde_json::from_str::<Value>(line));
        for turn in fuzz::generated_tokens(line.as_bytes(), &[1, 2]) {
            assert!(!turn.completion.is_empty(), "a turn without tokens");
            let logprobs = turn.logprobs.iter().flatten();
            if turn.fault.is_none() {
                assert!(logprobs.clone().all(|logprob| *logprob > -9999.0), "no evidence");
                assert_eq!(logprobs.count(), turn.completion.len(), "a token without its logprob");
            }
        }
    }
    let told = fuzz::sampled_tokens(&events);
    if let (None, Some(logprobs)) = (&told.fault, &told.logprobs) {
        assert_eq!(logprobs.len(), told.completion.len(), "a token without its logprob");
    }
}
