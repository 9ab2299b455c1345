//! What Google, or whoever stands in its place, may answer.

use toolcrib_desk::backend::EventSlot;
use toolcrib_desk::google::fuzz;

/// Longest text of an error that is passed on, with ours around it.
const LONGEST: usize = 1000;

/// A kind on the first line and such an answer on the others: `event`, `task`, `message`, `cursor`
/// or a status. What is told of it is within its bounds.
pub fn google_answer(data: &[u8]) {
    let at = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (kind, rest) = data.split_at_checked(at).unwrap_or((data, &[]));
    let answer = rest.get(1..).unwrap_or_default();
    match kind {
        b"event" => {
            let Some(Ok(event)) = fuzz::event(answer) else { return };
            let is_forward = match &event.slot {
                EventSlot::Timed { start, end } => start <= end,
                EventSlot::Days { first, last } => first <= last,
            };
            assert!(is_forward, "it ends before it starts");
            assert!(event.id.starts_with("team@example.org/"), "it is of another calendar");
        }
        b"task" => {
            let Some(Ok(task)) = fuzz::task(answer) else { return };
            assert!(task.id.starts_with("list/"), "it is of another list");
        }
        b"message" => {
            let Some(Ok(head)) = fuzz::message(answer) else { return };
            assert!(head.snippet.chars().count() <= 150, "the snippet is long");
            assert!(!head.snippet.contains(char::is_control), "the snippet has commands");
            assert!(!head.id.is_empty() && !head.labels.is_empty(), "it lies nowhere");
        }
        b"cursor" => {
            let text = String::from_utf8_lossy(answer);
            let Some(written) = fuzz::cursor(&text) else { return };
            assert_eq!(fuzz::cursor(&written), Some(written.clone()), "it changes when read");
        }
        _ => {
            let status = std::str::from_utf8(kind).ok().and_then(|text| text.parse().ok());
            let Some(fault) = fuzz::refusal(status.unwrap_or(500), answer) else { return };
            assert!(fault.message.chars().count() <= LONGEST, "the error is long");
            assert!(!fault.message.contains(char::is_control), "the error has commands");
        }
    }
}
