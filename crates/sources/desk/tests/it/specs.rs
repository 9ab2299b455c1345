//! What callers see of the tools.

use serde_json::json;
use toolcrib_core::{Effect, Source, Toolset};
use toolcrib_desk::{DeskBackends, DeskTimeSettings, DeskToolSource};

use crate::room::Room;

fn tools(backends: DeskBackends) -> Toolset {
    DeskToolSource::new(DeskTimeSettings::new(jiff::tz::TimeZone::UTC), backends).tools().clone()
}

#[test]
fn the_tools_stand_in_a_fixed_order_with_what_they_may_do() {
    let rows: Vec<_> = tools(Room::new().backends)
        .iter()
        .map(|shelved| {
            let spec = &shelved.spec;
            let asked = if spec.approval.is_some() { " asked" } else { "" };
            let category = spec.category.as_deref().unwrap();
            let actions = spec.actions.join(",");
            format!("{category} {} {actions} {}{asked}", spec.name, spec.effect.as_str())
        })
        .collect();
    assert_eq!(
        rows,
        [
            "calendar list_calendar_events list,read read",
            "calendar search_calendar_events search,read read",
            "calendar get_calendar_event read read",
            "calendar find_free_slots search,read read",
            "calendar list_calendars list,read read",
            "calendar add_calendar_event create,write write",
            "calendar schedule_meeting create,write write asked",
            "calendar update_calendar_event update,write write",
            "calendar update_meeting update,write write asked",
            "calendar respond_to_invitation update,write write asked",
            "calendar delete_calendar_event delete,write destroy asked",
            "tasks list_tasks list,search,read read",
            "tasks list_task_lists list,read read",
            "tasks create_task create,write write",
            "tasks mark_task_complete update,write write",
            "tasks mark_task_incomplete update,write write",
            "tasks update_task update,write write",
            "tasks create_task_list create,write write",
            "tasks delete_task delete,write destroy",
            "mail read_emails list,read read",
            "mail get_email read read",
            "mail search_emails search,read read",
            "mail list_unread_emails list,read read",
            "mail list_email_labels list,read read",
            "mail summarize_weekly_emails read,summarize read",
            "mail draft_email create,write write",
            "mail send_email create,send,write write asked",
            "mail reply_to_email create,send,write write asked",
            "mail forward_email create,send,write write asked",
            "mail label_email update,write write",
            "mail archive_email update,write write",
            "mail mark_email_read update,write write",
            "mail mark_email_unread update,write write",
            "mail delete_email delete,write destroy",
        ]
    );
}

#[test]
fn every_tool_is_described_to_its_last_field() {
    for shelved in tools(Room::new().backends).iter() {
        let spec = &shelved.spec;
        let name = &spec.name;
        assert!((20..=80).contains(&spec.summary.len()), "{name}: {}", spec.summary);
        let described = spec.description.contains("Use it ");
        assert!(described && spec.description.len() <= 400, "{name}: {}", spec.description);
        let input = spec.input.value();
        assert_eq!(input["additionalProperties"], json!(false), "{name}");
        let plain = [
            "title",
            "description",
            "location",
            "notes",
            "subject",
            "cc",
            "bcc",
            "name",
            "reply",
            "status",
            "unread",
            "has_attachments",
        ];
        for (field, schema) in input["properties"].as_object().unwrap() {
            let is_plain = plain.contains(&field.as_str());
            assert!(is_plain || schema["description"].is_string(), "{name}.{field}: {schema}");
            let is_text = schema["type"] == json!("string") || schema["type"][0] == json!("string");
            let is_bounded = schema.get("maxLength").is_some() || schema.get("enum").is_some();
            assert!(!is_text || is_bounded, "{name}.{field}: {schema}");
            let is_list = schema["type"] == json!("array");
            assert!(!is_list || schema.get("maxItems").is_some(), "{name}.{field}: {schema}");
        }
        let output = spec.output.as_ref().unwrap().value();
        assert_eq!(output["type"], json!("object"), "{name}: {output}");
        assert!(output["properties"].get("data").is_some(), "{name}: {output}");
        for text in [input.to_string(), output.to_string()] {
            assert!(!text.contains("$ref") && !text.contains("\"format\""), "{name}: {text}");
        }
    }
}

#[test]
fn only_readers_are_repeated_unasked_and_only_the_rest_may_change() {
    for shelved in tools(Room::new().backends).iter() {
        let spec = &shelved.spec;
        let reads = spec.actions.iter().any(|action| action == "read");
        assert_eq!(spec.effect == Effect::Read, reads, "{}", spec.name);
        let adds = ["create", "send"].iter().any(|one| spec.actions.iter().any(|own| own == one));
        assert!(!(adds && spec.idempotent), "{}", spec.name);
    }
}

#[tokio::test]
async fn what_nothing_keeps_has_no_tools() {
    let all = Room::new().backends;
    let only = |backends: DeskBackends| {
        let categories = tools(backends);
        let mut names: Vec<_> =
            categories.iter().filter_map(|shelved| shelved.spec.category.clone()).collect();
        names.dedup();
        names
    };
    assert_eq!(only(DeskBackends::default()), [""; 0]);
    assert_eq!(only(DeskBackends { mail: None, ..all.clone() }), ["calendar", "tasks"]);
    assert_eq!(only(DeskBackends { calendar: None, tasks: None, ..all.clone() }), ["mail"]);
    let desk = DeskToolSource::new(DeskTimeSettings::new(jiff::tz::TimeZone::UTC), all);
    assert_eq!(desk.load().await.unwrap().iter().count(), 34);
}

#[test]
fn the_schema_of_an_update_says_what_may_be_null() {
    let tools = tools(Room::new().backends);
    let spec = tools.get("update_task").unwrap().spec.clone();
    let expected = json!({
        "type": "object",
        "properties": {
            "task_id": {
                "description": "Id of the task.", "type": "string", "minLength": 1, "maxLength": 1024,
            },
            "title": {"type": "string", "minLength": 1, "maxLength": 500},
            "notes": {"type": ["string", "null"], "maxLength": 8000},
            "due": {
                "description": "Until when: `Friday`, `tomorrow 5pm`, `2026-01-21`; null for no day.",
                "type": ["string", "null"], "minLength": 1, "maxLength": 200,
            },
            "timezone": {
                "description": "IANA time zone of `due`; the user's if not set.",
                "type": ["string", "null"], "minLength": 1, "maxLength": 64,
            },
        },
        "additionalProperties": false,
        "required": ["task_id"],
    });
    assert_eq!(spec.input.value(), expected);
}
