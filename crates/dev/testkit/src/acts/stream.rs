//! What a test expects of a stream, compared with the events that came.

use serde_json::{Map, Value};

use super::matching;

/// What an event holds, under its name on the wire and in the suite.
const KINDS: [(&str, &str); 4] = [
    ("task", "task"),
    ("message", "message"),
    ("statusUpdate", "status_update"),
    ("artifactUpdate", "artifact_update"),
];
/// States after which nothing comes.
const LAST: [&str; 4] =
    ["TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED"];

/// What differs. `raw`: the events as they came, where a test wants to see what is around them.
pub(super) fn faults(expected: &Value, events: &[Value], raw: Option<&[Value]>) -> Vec<String> {
    let mut faults = Vec::new();
    let count = |name: &str| expected.get(name).and_then(Value::as_u64);
    let length = u64::try_from(events.len()).unwrap_or(u64::MAX);
    if count("min_count").is_some_and(|least| length < least)
        || count("max_count").is_some_and(|most| length > most)
    {
        faults.push(format!("the stream has {length} events"));
    }
    let flat: Vec<Value> = events.iter().map(flattened).collect();
    if let Some(each) = expected.get("each_event") {
        for (index, event) in raw.unwrap_or(&flat).iter().enumerate() {
            faults.extend(matching::faults(each, Some(event), &format!("event {}", index + 1)));
        }
    }
    if let Some(last) = expected.get("final_event") {
        faults.extend(matching::faults(last, flat.last(), "the last event"));
    }
    if expected.get("ordering").and_then(Value::as_str) == Some("monotonic_state") {
        faults.extend(out_of_order(&flat));
    }
    for wanted in expected.get("events").and_then(Value::as_array).into_iter().flatten() {
        faults.extend(of_one(wanted, &flat));
    }
    faults
}

fn of_one(wanted: &Value, flat: &[Value]) -> Vec<String> {
    let Some(members) = wanted.as_object() else { return Vec::new() };
    let rest = matching::without(members, &["description", "match", "index"]);
    if wanted.get("match").and_then(Value::as_str) == Some("any_position") {
        let is_met = flat.iter().any(|event| matching::faults(&rest, Some(event), "").is_empty());
        let fault = || format!("no event is like {rest}");
        return if is_met { Vec::new() } else { vec![fault()] };
    }
    let index = wanted.get("index").and_then(Value::as_u64).unwrap_or(0);
    let event = usize::try_from(index).ok().and_then(|index| flat.get(index));
    matching::faults(&rest, event, &format!("event {}", index.saturating_add(1)))
}

/// An event with the fields of what it holds beside it, and that under both of its names.
fn flattened(event: &Value) -> Value {
    let mut flat = Map::new();
    for (name, suite_name) in KINDS {
        let Some(held) = event.get(name) else { continue };
        flat.extend(held.as_object().cloned().unwrap_or_default());
        flat.insert(suite_name.to_owned(), held.clone());
        flat.insert(name.to_owned(), held.clone());
    }
    if flat.is_empty() { event.clone() } else { Value::Object(flat) }
}

/// A task begins once, and nothing follows on its end.
fn out_of_order(flat: &[Value]) -> Option<String> {
    let states = flat.iter().filter_map(|event| event.pointer("/status/state")?.as_str());
    let mut before: Option<&str> = None;
    for state in states {
        let wrong = before.is_some_and(|before| {
            LAST.contains(&before)
                || (state == "TASK_STATE_SUBMITTED" && before != "TASK_STATE_SUBMITTED")
        });
        if wrong {
            return Some(format!("{state} follows on {}", before.unwrap_or_default()));
        }
        before = Some(state);
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::faults;

    fn state(state: &str) -> Value {
        json!({ "statusUpdate": { "status": { "state": format!("TASK_STATE_{state}") } } })
    }

    #[test]
    fn a_stream_is_judged_by_its_length_its_order_its_end_and_its_events() {
        let task = json!({ "task": { "id": "t", "status": { "state": "TASK_STATE_SUBMITTED" } } });
        let piece = json!({ "artifactUpdate": { "artifact": { "artifactId": "a" } } });
        let events = [task, state("WORKING"), piece, state("COMPLETED")];
        let told = |expected: Value| faults(&expected, &events, None);
        let none: [&str; 0] = [];
        assert_eq!(told(json!({ "min_count": 4, "ordering": "monotonic_state" })), none);
        assert_eq!(told(json!({ "min_count": 5 })), ["the stream has 4 events"]);
        let end = |word: &str| json!({ "final_event": { "status": { "state": word } } });
        assert_eq!(told(end("TASK_STATE_COMPLETED")), none);
        assert_eq!(told(end("TASK_STATE_FAILED")).len(), 1);
        let any =
            json!({ "events": [{ "match": "any_position", "artifact": { "exists": true } }] });
        assert_eq!(told(any.clone()), none);
        assert_eq!(faults(&any, &events[..2], None).len(), 1);
        let first = json!({ "events": [{ "index": 0, "task": { "id": "t" } }] });
        assert_eq!(told(first), none);
        let again = [state("COMPLETED"), state("WORKING")];
        let told = faults(&json!({ "ordering": "monotonic_state" }), &again, None);
        assert_eq!(told, ["TASK_STATE_WORKING follows on TASK_STATE_COMPLETED"]);
    }
}
