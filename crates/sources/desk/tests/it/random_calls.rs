//! Whatever is said in whatever order, every call has an answer and none breaks.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolcrib_core::{ErrorKind, ToolOutcome};
use toolcrib_desk::{DeskTimeSettings, DeskToolSource};

use crate::room::Room;

const TIMES: [&str; 18] = [
    "tomorrow 2pm",
    "yesterday",
    "every Monday at 9",
    "every day",
    "the last Friday of March",
    "2026-01-21",
    "2026-11-24T14:00",
    "2027-03-28T02:30",
    "2026-10-25T02:30",
    "this weekend",
    "next week",
    "in 2 hours",
    "in 3 months",
    "noon",
    "4pm",
    "midnight",
    "tomorrow 2pm to 3pm",
    "1 Jan 1970",
];
const ODD: [&str; 14] = [
    "9999-12-31",
    "9999-12-31T23:59",
    "-009999-01-01",
    "99pm",
    "flurble",
    "",
    "two\nlines",
    " ",
    "*\u{202e}*",
    "e\u{301}",
    "none",
    "FREQ=HOURLY",
    "99:99-99:99",
    "P1Y",
];
const LENGTHS: [&str; 5] = ["30 min", "2h30m", "1 week", "10 years", "1 day"];
const PEOPLE: [&str; 4] = ["a@b.org", "Ann <ann@example.org>", "B@b.org", "bob@example.org"];
const REPEATS: [&str; 5] = [
    "every Friday",
    "monthly on the 31st",
    "FREQ=WEEKLY;BYDAY=MO",
    "FREQ=DAILY;COUNT=3",
    "FREQ=YEARLY;BYMONTHDAY=31;BYMONTH=2",
];
const ZONES: [&str; 4] = ["UTC", "America/New_York", "Pacific/Apia", "Asia/Kathmandu"];
const LABELS: [&str; 4] = ["inbox", "trash", "Shops", "archive"];
const HOURS: [&str; 4] = ["00:00-24:00", "09:00-17:00", "17:00-9:00", "23:59-24:00"];
const NUMBERS: [&str; 4] = ["#0", "#1", "#2", "#3"];

/// Texts for a field: most of them mean something there.
fn text(field: &str) -> BoxedStrategy<Value> {
    let known = match field {
        "start" | "end" | "from" | "until" | "due" | "due_by" | "after" | "before" => &TIMES[..],
        "duration" => &LENGTHS,
        "repeat" => &REPEATS,
        "timezone" => &ZONES,
        "to" | "cc" | "bcc" | "guests" | "add_guests" | "remove_guests" => &PEOPLE,
        "label" | "add" | "remove" => &LABELS,
        "hours" => &HOURS,
        "draft_id" | "event_id" | "task_id" | "email_id" => &NUMBERS,
        _ => &["Review", "One", "a \u{2014} *b*"],
    };
    let known = prop::sample::select(known).prop_map(Value::from);
    let odd = prop::sample::select(&ODD[..]).prop_map(Value::from);
    prop_oneof![30 => known, 1 => odd, 1 => ".{0,40}".prop_map(Value::from)].boxed()
}

/// A value for a field, most often one that it takes.
fn value(field: &str, schema: &Value) -> BoxedStrategy<Value> {
    if let Value::Array(choices) = &schema["enum"] {
        return prop::sample::select(choices.clone()).boxed();
    }
    let nullable = schema["type"].is_array();
    let kind = if nullable { &schema["type"][0] } else { &schema["type"] };
    let some = match kind.as_str() {
        Some("string") => text(field),
        Some("boolean") => any::<bool>().prop_map(Value::from).boxed(),
        Some("integer") => (1..30_u32).prop_map(Value::from).boxed(),
        Some("array") => {
            let item = value(field, &schema["items"]);
            prop::collection::vec(item, 1..4).prop_map(Value::from).boxed()
        }
        Some("object") => Just(json!({"name": "a.txt", "text": "One"})).boxed(),
        _ => Just(Value::Null).boxed(),
    };
    if nullable { prop_oneof![9 => some, 1 => Just(Value::Null)].boxed() } else { some }
}

/// A call of one of the tools with some of its arguments.
fn call(tools: &[(String, Value)]) -> BoxedStrategy<(String, Value)> {
    let one = |(name, schema): &(String, Value)| {
        let name = name.clone();
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let properties = schema["properties"].as_object().cloned().unwrap_or_default();
        let field = |(field, schema): (String, Value)| {
            let chance = if required.contains(&json!(field)) { 0.99 } else { 0.25 };
            let value = prop::option::weighted(chance, value(&field, &schema));
            value.prop_map(move |value| (field.clone(), value))
        };
        let fields: Vec<_> = properties.into_iter().map(field).collect();
        let call = fields.prop_map(move |fields| {
            let given = fields.into_iter().filter_map(|(field, value)| Some((field, value?)));
            (name.clone(), Value::Object(given.collect()))
        });
        call.boxed()
    };
    prop::strategy::Union::new(tools.iter().map(one)).boxed()
}

fn tools() -> Vec<(String, Value)> {
    let desk =
        DeskToolSource::new(DeskTimeSettings::new(jiff::tz::TimeZone::UTC), Room::new().backends);
    let all = desk.tools().iter().map(|one| (one.spec.name.to_string(), one.spec.input.value()));
    all.collect()
}

/// The ids that results told, by the field that takes them.
#[derive(Default)]
struct Ids(HashMap<&'static str, Vec<String>>);

impl Ids {
    fn field(tool: &str) -> &'static str {
        match tool {
            _ if tool.contains("task") => "task_id",
            _ if tool.contains("mail") => "email_id",
            _ => "event_id",
        }
    }

    fn gather(&mut self, tool: &str, value: &Value) {
        match value {
            Value::Object(fields) => {
                for name in ["id", "series"] {
                    if let Some(id) = fields.get(name).and_then(Value::as_str) {
                        self.0.entry(Self::field(tool)).or_default().push(id.to_owned());
                    }
                }
                fields.values().for_each(|field| self.gather(tool, field));
            }
            Value::Array(items) => items.iter().for_each(|item| self.gather(tool, item)),
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Puts ids where numbers of them stand.
    fn put(&self, arguments: &mut Value) {
        let mut nothing = Map::new();
        for (field, value) in arguments.as_object_mut().unwrap_or(&mut nothing) {
            let kind = if field == "draft_id" { "email_id" } else { field.as_str() };
            let number = value.as_str().and_then(|text| text.strip_prefix('#'));
            let number: Option<usize> = number.and_then(|text| text.parse().ok());
            let known = self.0.get(kind).map(Vec::as_slice).unwrap_or_default();
            if let Some(id) = number.and_then(|number| known.iter().rev().nth(number)) {
                *value = json!(id);
            }
        }
    }
}

/// A room in which there is something of everything.
async fn furnished() -> (Room, Ids) {
    let (room, mut ids) = (Room::new(), Ids::default());
    let guests = ["ann@example.org", "bob@example.org"];
    let calls = [
        ("add_calendar_event", json!({"title": "One", "start": "tomorrow 2pm"})),
        ("add_calendar_event", json!({"title": "All", "start": "every Monday at 9"})),
        ("schedule_meeting", json!({"title": "Met", "start": "2026-11-25", "guests": guests})),
        ("create_task", json!({"title": "Do", "due": "Friday"})),
        ("draft_email", json!({"to": ["bob@example.org"], "subject": "Draft"})),
        ("send_email", json!({"to": ["ann@example.org"], "subject": "Self", "body": "Hello"})),
    ];
    for (tool, arguments) in calls {
        let result = room.done(tool, arguments).await;
        ids.gather(tool, &result);
    }
    (room, ids)
}

#[tokio::test]
async fn what_leads_beyond_the_last_day_is_refused_in_words_and_is_no_fault_of_ours() {
    let (room, _) = furnished().await;
    for (tool, arguments) in [
        (
            "schedule_meeting",
            json!({"title": "T", "start": "9999-12-31", "repeat": "every Friday"}),
        ),
        ("schedule_meeting", json!({"title": "T", "start": "9999-12-30 22:30"})),
        ("schedule_meeting", json!({"title": "T", "start": "9999-12-31"})),
        ("schedule_meeting", json!({"title": "T", "start": "9999-12-30", "duration": "9 days"})),
        (
            "schedule_meeting",
            json!({"title": "T", "start": "9999-12-30 20:00", "duration": "90 hours"}),
        ),
        ("list_calendar_events", json!({"from": "9999-12-30"})),
        ("list_calendar_events", json!({"from": "9999-12-30", "until": "9999-12-31"})),
    ] {
        let response = room.response(tool, &arguments).await;
        let kind = response.error().map(|error| error.kind);
        let refused = [None, Some(ErrorKind::Tool), Some(ErrorKind::InvalidArguments)];
        assert!(refused.contains(&kind), "{tool} {arguments}: {:?}", response.outcome);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_calls_breaks_a_tool(calls in prop::collection::vec(call(&tools()), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (room, mut ids) = furnished().await;
            for (tool, mut arguments) in calls {
                ids.put(&mut arguments);
                let mut response = room.response(&tool, &arguments).await;
                if let ToolOutcome::Pending(pending) = &response.outcome {
                    let Ok(redeemed) = room.approve(&pending.ticket).await else { continue };
                    response = redeemed;
                }
                let kind = response.error().map(|error| error.kind);
                let refused = [None, Some(ErrorKind::Tool), Some(ErrorKind::InvalidArguments)];
                assert!(refused.contains(&kind), "{tool} {arguments}: {:?}", response.outcome);
                if let Some(result) = response.content().and_then(|it| it.structured.clone()) {
                    room.fits(&tool, &result);
                    ids.gather(&tool, &result);
                }
            }
        });
    }
}
