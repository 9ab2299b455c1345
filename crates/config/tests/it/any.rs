//! Files that nobody meant: cut, turned and mixed.

use proptest::prelude::*;
use toolcrib_config::{Config, import};

const EXAMPLE: &str = include_str!("../../../../docs/crib.example.toml");
const SERVERS: &str = r#"{"inputs": [{"id": "k"}], "mcpServers": {"a b": {"command": "npx", "args": ["-y", "${env:A}"], "env": {"API_KEY": "${input:k}", "X": "sk-abcdefghijklmnopqrstuvwx"}, "disabled": true}, "c": {"url": "https://u:p@h/?token=abc", "headers": {"Authorization": "Bearer abc"}}}, "tool_assignment": {"A": ["x"]}}"#;

/// A text with a few pieces taken out, or put in at other places.
fn damaged(text: &'static str) -> impl Strategy<Value = String> {
    let cut = (0..text.len(), 0..12_usize, 0..text.len(), 0..3_u8);
    prop::collection::vec(cut, 1..6).prop_map(|cuts| {
        let mut text = text.to_owned();
        for (at, length, to, kind) in cuts {
            let at = text.floor_char_boundary(at);
            let end = text.floor_char_boundary(at + length);
            let piece = text[at..end].to_owned();
            if kind > 0 {
                text.replace_range(at..end, "");
            }
            let to = text.floor_char_boundary(to);
            if kind < 2 {
                text.insert_str(to, &piece);
            }
        }
        text
    })
}

proptest! {
    #[test]
    fn a_damaged_file_is_read_and_its_problems_stand_within_it(text in damaged(EXAMPLE)) {
        let read = Config::read(&text, "crib.toml");
        let lines = text.matches('\n').count() + 1;
        for problem in read.problems.iter().chain(&read.warnings) {
            prop_assert!((1..=lines).contains(&problem.line), "{problem}");
            prop_assert!(!problem.to_string().contains('\n'), "{problem}");
            // The types refuse nothing that the shape lets through.
            prop_assert!(!problem.message.starts_with("the file cannot be read"), "{problem}");
        }
        prop_assert_eq!(read.config.is_none(), !read.problems.is_empty());
    }

    #[test]
    fn what_is_made_of_a_damaged_file_of_another_program_is_right(text in damaged(SERVERS)) {
        if let Ok(imported) = import(&text, None) {
            let problems = Config::read(&imported.toml, "crib.toml").problems;
            prop_assert_eq!(problems, vec![], "{}", imported.toml);
        }
        // As it is, it is told of by its own places.
        let read = Config::read(&text, "servers.json");
        let lines = text.matches('\n').count() + 1;
        for problem in read.problems.iter().chain(&read.warnings) {
            prop_assert!((1..=lines).contains(&problem.line), "{problem}");
            prop_assert!(!problem.to_string().contains('\n'), "{problem}");
        }
        prop_assert_eq!(read.config.is_none(), !read.problems.is_empty());
    }

    #[test]
    fn no_secret_passes_wherever_it_stands_in_a_value(
        before in "[ -z]{0,6}(\\$\\{env:A\\})?(Bearer )?[ -z]{0,6}",
        after in "[ -z]{0,6}(\\$\\{[A-Z]{1,3}(:-x)?\\})?[ -z]{0,6}",
        header in "[A-Za-z-]{1,12}",
        variable in "[A-Z_]{0,6}(TOKEN|PASSWORD|_KEY|SECRET)",
    ) {
        let harmless = ["accept", "origin"];
        prop_assume!(!harmless.contains(&header.to_ascii_lowercase().as_str()));
        let value = format!("{before}hunter2{after}");
        let text = serde_json::json!({ "mcpServers": {
            "a": { "command": "x", "env": { variable: value } },
            "b": { "url": "https://x/", "headers": { header: value } },
        } });
        let imported = import(&text.to_string(), None).unwrap();
        prop_assert!(!imported.toml.contains("hunter2"), "{}", imported.toml);
        let notes = format!("{:?}", imported.notes);
        prop_assert!(!notes.contains("hunter2"), "{}", notes);
    }

    #[test]
    fn any_server_becomes_a_file_that_is_right(
        names in prop::collection::vec("\\PC{0,12}|[a-zA-Z0-9_ -]{0,70}", 1..4),
        words in prop::collection::vec(any::<String>(), 0..4),
        pairs in prop::collection::hash_map(any::<String>(), any::<String>(), 0..4),
        url in "(https?://)?[a-z@:/?=$%{}\\[\\]é]{0,20}",
    ) {
        let command = serde_json::json!({ "command": "x", "args": words, "env": pairs, "cwd": words.first() });
        let address = serde_json::json!({ "url": url, "headers": pairs });
        let mut servers = serde_json::Map::new();
        for (index, name) in names.iter().enumerate() {
            let server = if index % 2 == 0 { &command } else { &address };
            servers.insert(name.clone(), server.clone());
        }
        let assign = serde_json::json!({ names.concat(): words });
        let text = serde_json::json!({ "mcpServers": servers, "tool_assignment": assign }).to_string();
        let imported = import(&text, None).unwrap();
        let problems = Config::read(&imported.toml, "crib.toml").problems;
        prop_assert_eq!(problems, vec![], "{}", imported.toml);
    }
}
