//! Tools that declare nothing: what is proposed for them, and how that comes into a file.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolcrib_config::Config;
use toolcrib_config::effects::{EffectWriteError, proposal, write};
use toolcrib_core::{Effect, SourceId, ToolName, ToolSpec};

const LABELLED: &str = include_str!("../labelled/tools.txt");

/// A tool of a line, and whether it only reads.
fn labelled() -> Vec<(bool, ToolSpec)> {
    let lines = LABELLED.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (label, rest) = line.split_once(' ').unwrap();
            let parts: Vec<_> = rest.split('|').map(str::trim).collect();
            (label == "R", tool(parts[0], parts[1], parts[2]))
        })
        .collect()
}

fn tool(name: &str, description: &str, arguments: &str) -> ToolSpec {
    let mut properties = Map::new();
    for argument in arguments.split(", ").filter(|argument| !argument.is_empty()) {
        if let Some((name, values)) = argument.split_once('=') {
            let values: Vec<_> = values.split('/').collect();
            properties.insert(name.to_owned(), json!({ "type": "string", "enum": values }));
        } else if let Some(flag) = argument.strip_suffix('?') {
            properties.insert(flag.to_owned(), json!({ "type": "boolean" }));
        } else {
            properties.insert(argument.to_owned(), json!({ "type": "string" }));
        }
    }
    let mut spec = ToolSpec::new(name, description, Effect::Destroy).unwrap();
    spec.input = json!({ "type": "object", "properties": properties }).into();
    spec.origin.undeclared = true;
    spec
}

fn proposes(spec: &ToolSpec) -> Option<Effect> {
    proposal(spec).0
}

#[test]
fn no_tool_that_changes_something_is_proposed_to_read_and_most_that_read_are() {
    let tools = labelled();
    let told = |spec: &ToolSpec| format!("{}: {:?}", spec.name, proposal(spec));
    let wrong: Vec<_> = tools
        .iter()
        .filter(|(reads, spec)| !reads && !matches!(proposes(spec), None | Some(Effect::Destroy)))
        .map(|(_, spec)| told(spec))
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
    let reads: Vec<_> = tools.iter().filter(|(reads, _)| *reads).map(|(_, spec)| spec).collect();
    let missed: Vec<_> = reads
        .iter()
        .filter(|spec| proposes(spec) != Some(Effect::Read))
        .map(|spec| told(spec))
        .collect();
    let found = reads.len() - missed.len();
    assert!(tools.len() >= 250 && reads.len() >= 120, "{} and {}", tools.len(), reads.len());
    assert!(found * 100 >= reads.len() * 90, "{found} of {}: {missed:#?}", reads.len());
}

#[test]
fn a_word_of_change_anywhere_takes_the_proposal_away() {
    let reader = || tool("list_items", "List the items of a shelf.", "shelf, limit");
    assert_eq!(proposes(&reader()), Some(Effect::Read));
    let with = |change: &dyn Fn(&mut ToolSpec)| {
        let mut spec = reader();
        change(&mut spec);
        proposal(&spec)
    };
    let described = |text: &'static str| move |spec: &mut ToolSpec| spec.description = text.into();
    for text in [
        "List the items and marks them as seen.",
        "List the items. They are removed afterwards.",
        "List items, then deletes the oldest.",
        "Lists items; old ones will be archived.",
        "Does not only list items but also deletes them.",
        "Does not ask, deletes.",
        "Lists items (and moves them to another shelf).",
        "List items.\n\nSide effects:\n- sends a mail to the owner",
        "Lists items\u{2019} names by overwriting the index.",
        "List items. Each call charges the account.",
        "List items. Reading locks the shelf for a minute.",
        "Delete items",
        "Post the items to a channel",
        "Lists items. Items that come back are automatically consumed.",
        "Lists d\u{435}letes of the shelf.",
        "Enumera los elementos del estante y los borra despu\u{e9}s",
    ] {
        let (proposed, because) = with(&described(text));
        assert_eq!(proposed, None, "{text}: {because}");
    }
    for text in [
        "List items that were deleted, created or updated since a day.",
        "Lists items. Does not change, move or delete anything.",
        "List items without modifying them.",
        "List the items that are assigned to you.",
        "Use this before creating an item: lists the items that there are.",
        "Lists items; call `create_item` or updateItem for more.",
        "Get a set of items close to a place.",
    ] {
        assert_eq!(
            with(&described(text)).0,
            Some(Effect::Read),
            "{text}: {:?}",
            with(&described(text))
        );
    }
    for title in ["Delete Item", "Item: clear all"] {
        assert_eq!(with(&|spec| spec.title = Some(title.into())).0, None, "{title}");
    }
    let output = |fields: Value| {
        let output = json!({ "type": "object", "properties": fields });
        with(&move |spec| spec.output = Some(output.clone().into())).0
    };
    assert_eq!(output(json!({ "items": {}, "total": {} })), Some(Effect::Read));
    assert_eq!(output(json!({ "success": {}, "message": {} })), None);
    assert_eq!(output(json!({ "items": {}, "rows_affected": {} })), None);
    assert_eq!(output(json!({ "deletedCount": { "type": "integer" } })), None);
}

#[test]
fn an_argument_that_may_change_something_takes_the_proposal_away_however_deep() {
    let with = |field: Value| {
        let mut spec = tool("get_items", "Get the items of a shelf.", "");
        spec.input = json!({ "type": "object", "properties": field }).into();
        proposes(&spec)
    };
    assert_eq!(with(json!({ "shelf": { "type": "string" } })), Some(Effect::Read));
    for field in [
        json!({ "options": { "type": "object", "properties": { "delete": { "type": "boolean" } } } }),
        json!({ "steps": { "type": "array", "items": { "properties": { "sql": {} } } } }),
        json!({ "mode": { "enum": ["list", "remove"] } }),
        json!({ "mode": { "oneOf": [{ "const": "list" }, { "const": "write" }] } }),
        json!({ "what": { "anyOf": [{ "properties": { "force": { "type": "boolean" } } }] } }),
        json!({ "url": {}, "method": { "type": "string" } }),
        json!({ "url": {}, "payload": {} }),
        json!({ "outputFile": { "type": "string" } }),
        json!({ "markAsRead": { "type": "boolean" } }),
        json!({ "shar\u{435}": { "type": "boolean" } }),
    ] {
        assert_eq!(with(field.clone()), None, "{field}");
    }
    for field in [
        json!({ "includeDeleted": { "type": "boolean" } }),
        json!({ "created_after": { "type": "string" }, "order": { "enum": ["asc", "desc"] } }),
        json!({ "comment_id": {}, "post": { "type": "string" } }),
    ] {
        assert_eq!(with(field.clone()), Some(Effect::Read), "{field}");
    }
}

#[test]
fn the_name_of_the_source_in_that_of_a_tool_hides_nothing() {
    let of = |source: &str, tool_name: &str, description: &str| {
        let mut spec = tool(tool_name, description, "");
        spec.origin.source = SourceId::new(source);
        proposes(&spec)
    };
    assert_eq!(of("notes", "notes_list_pages", "All pages."), Some(Effect::Read));
    assert_eq!(of("other", "notes_list_pages", "All pages."), None);
    assert_eq!(of("git", "git_fetch", "Gets what is new."), None);
    assert_eq!(of("git", "fetch", "Gets what a remote has."), None);
    assert_eq!(of("remove", "remove_list", "Every list."), Some(Effect::Destroy));
    assert_eq!(of("order", "order_find", "Orders at the shop."), None);
}

fn name(text: &str) -> ToolName {
    ToolName::new(text).unwrap()
}

#[test]
fn an_effect_comes_into_the_file_and_nothing_else_of_it_changes() {
    let read = |text: &str| write(text, &[(name("a__get"), Effect::Read)]);
    for (before, after) in [
        ("", "[tool.a__get]\neffect = \"read\"\n"),
        ("x = 1 # why", "x = 1 # why\n\n[tool.a__get]\neffect = \"read\"\n"),
        ("x = 1\r\n", "x = 1\r\n\r\n[tool.a__get]\r\neffect = \"read\"\r\n"),
        (
            "# shop\n[tool.a__get] # mine\nsummary = \"x\"\n\n[[source]]\nid = \"a\"\n",
            "# shop\n[tool.a__get] # mine\neffect = \"read\"\nsummary = \"x\"\n\n[[source]]\nid = \"a\"\n",
        ),
        ("[tool.a__get]", "[tool.a__get]\neffect = \"read\"\n"),
        (
            "[tool]\na__get = { retries = 2 }\n",
            "[tool]\na__get = { effect = \"read\", retries = 2 }\n",
        ),
        ("tool = { a__get = {} }\n", "tool = { a__get = { effect = \"read\"} }\n"),
        (
            "tool = { b = { retries = 1 } }\n",
            "tool = { a__get = { effect = \"read\" }, b = { retries = 1 } }\n",
        ),
        (
            "tool.a__get.retries = 2 # twice\n",
            "tool.a__get.effect = \"read\"\ntool.a__get.retries = 2 # twice\n",
        ),
        ("[tool]\na__get.retries = 2\n", "[tool]\na__get.effect = \"read\"\na__get.retries = 2\n"),
        (
            "[tool.a__get.guidance]\nuser = \"x\"\n",
            "[tool.a__get.guidance]\nuser = \"x\"\n\n[tool.a__get]\neffect = \"read\"\n",
        ),
    ] {
        assert_eq!(read(before).as_deref(), Ok(after), "{before}");
    }
    assert_eq!(
        read("[tool.a__get]\neffect = \"write\"\n"),
        Err(EffectWriteError::Said(name("a__get")))
    );
    assert_eq!(read("x = "), Err(EffectWriteError::NoToml));
    let large = format!("# {}\n", "x".repeat((1 << 20) - 20));
    assert_eq!(read(&large), Err(EffectWriteError::TooLarge));
    let odd = EffectWriteError::NoPlace { tool: name("a__get"), effect: Effect::Read };
    assert_eq!(read("tool = 3\n"), Err(odd));
}

#[test]
fn a_file_with_the_effects_is_good() {
    let before = "[[source]]\nid = \"clock\"\nbasics = [\"time_now\"]\nprefix = \"\"\n";
    let effects = [(name("time_now"), Effect::Read), (name("other.name"), Effect::Destroy)];
    let after = write(before, &effects).unwrap();
    let read = Config::read(&after, "crib.toml");
    assert_eq!(read.problems, vec![], "{after}");
    assert!(after.starts_with(before), "{after}");
}

proptest! {
    #[test]
    fn whatever_is_written_is_said_and_all_else_stays(
        names in prop::collection::btree_set("[a-z_.-]{1,8}", 1..6),
        known in prop::collection::vec(
            prop_oneof![
                Just("# a word\n"), Just("[tool.ab]\nretries = 1\n"), Just("[tool.\"a.b\"]\n"),
                Just("[[source]]\nid = \"s\"\n"), Just("\n\n"), Just("[tool.abc.guidance]\n"),
            ],
            0..4,
        ),
    ) {
        let text = known.concat();
        let names = names.iter().filter_map(|name| ToolName::new(name).ok());
        let effects: Vec<_> = names.map(|name| (name, Effect::Read)).collect();
        let Ok(before) = text.parse::<toml::Table>() else { return Ok(()) };
        let after = write(&text, &effects).unwrap().parse::<toml::Table>().unwrap();
        let mut wanted = before;
        let empty = || toml::Value::Table(toml::Table::new());
        for (name, _) in &effects {
            let tools = wanted.entry("tool").or_insert_with(empty).as_table_mut().unwrap();
            let of_tool = tools.entry(name.as_str()).or_insert_with(empty).as_table_mut().unwrap();
            of_tool.insert("effect".to_owned(), "read".into());
        }
        prop_assert_eq!(after, wanted);
    }

    #[test]
    fn no_words_make_the_judgement_stumble(
        name in "[a-zA-Z_-]{1,30}", text in "\\PC{0,200}", arguments in "[a-z_?=/, ]{0,60}",
    ) {
        if ToolName::new(&name).is_ok() {
            let (proposed, because) = proposal(&tool(&name, &text, &arguments));
            prop_assert!(proposed != Some(Effect::Write) && !because.is_empty());
        }
    }
}
