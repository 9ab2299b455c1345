//! Nothing of the files of other programs is lost without a note.

use toolcrib_config::import::ImportFormat;
use toolcrib_config::{ImportError, ImportedConfig, import};

use crate::import::imported;

/// The notes of a server `s` that says this beside a command or an address, and whether it is on.
fn noted(server: &str) -> (Vec<String>, bool, ImportedConfig) {
    let imported = imported(&format!(r#"{{"mcpServers": {{"s": {server}}}}}"#));
    let notes = imported.notes.iter().map(|note| note.text.clone()).collect();
    let is_on = imported.toml.contains("[[source]]") && !imported.toml.contains("enabled = false");
    (notes, is_on, imported)
}

#[test]
fn a_known_key_of_another_kind_is_told_and_turns_the_source_off() {
    let values =
        ["3", "true", "\"text\"", "[\"a=b\"]", "[[1]]", "{\"a\": {\"b\": 1}}", "1.5", "[7]"];
    let keys = [
        ("args", &["[\"a=b\"]", "[7]"][..]),
        ("env", &[][..]),
        ("environment", &[]),
        ("cwd", &["\"text\""]),
        ("disabled", &["true"]),
        ("enabled", &["true"]),
        ("isActive", &["true"]),
        ("type", &[]),
        ("transport", &[]),
        ("includeTools", &[]),
        ("excludeTools", &[]),
        ("disabledTools", &[]),
        ("headers", &[]),
        ("url", &[]),
        ("httpUrl", &[]),
    ];
    for (key, fine) in keys {
        for value in values.iter().filter(|value| !fine.contains(value)) {
            let way =
                if matches!(key, "headers") { "url\": \"https://x/" } else { "command\": \"x" };
            let (notes, is_on, imported) = noted(&format!(r#"{{"{way}", "{key}": {value}}}"#));
            let is_told = !notes.is_empty();
            // A second way in and an address of the wrong kind are told, and the command is used.
            let is_off = !is_on || key.ends_with("rl");
            assert!(is_told && is_off, "{key}: {value}: {notes:?} {}", imported.toml);
        }
        // What says nothing is nothing.
        let (notes, is_on, _) = noted(&format!(r#"{{"command": "x", "{key}": null}}"#));
        assert!(notes.is_empty() && is_on, "{key}: {notes:?}");
    }
    for (command, told) in [("3", "`command` is neither"), ("{\"path\": 1}", "`path` is no text")] {
        let (notes, is_on, _) = noted(&format!(r#"{{"command": {command}}}"#));
        assert!(!is_on && notes[0].contains(told), "{command}: {notes:?}");
    }
}

#[test]
fn the_list_of_another_program_loses_no_word_without_a_note() {
    let (notes, is_on, split) = noted(r#"{"command": "npx", "args": "-y foo"}"#);
    assert_eq!(notes, ["`args` is one text: make a list of its words; then set `enabled = true`"]);
    assert!(!is_on && split.toml.contains("command = [\"npx\", \"-y foo\"]"), "{}", split.toml);
    let (notes, is_on, _) = noted(r#"{"command": "x", "disabled": "true"}"#);
    assert!(!is_on && notes[0].starts_with("`disabled` is neither true nor false"), "{notes:?}");
    let (notes, is_on, taken) = noted(r#"{"command": ["npx", "-y", "foo"], "args": ["b"]}"#);
    assert!(is_on && notes.is_empty(), "{notes:?}");
    assert!(taken.toml.contains("command = [\"npx\", \"-y\", \"foo\", \"b\"]"), "{}", taken.toml);
    for (server, told) in [
        (r#"{"command": "x", "headers": {"A": "b"}}"#, "`headers` is not taken"),
        (r#"{"url": "https://x/", "env": {"A": "b"}}"#, "`env` is not taken"),
        (r#"{"url": "https://x/", "args": ["a"]}"#, "`args` is not taken"),
        (r#"{"url": "https://x/", "type": "stdio"}"#, "`type` says another way"),
        (r#"{"url": "https://x/", "type": "ws"}"#, "`type` names a way"),
        (r#"{"command": {"path": "x", "shell": true}}"#, "`command.shell` is not taken"),
        (r#"{"command": {"path": "x"}, "env": {"A": "b"}}"#, "`env` beside `command`"),
        (r#"{"url": "https://x/", "httpUrl": "https://y/"}"#, "`httpUrl` is a second address"),
        (r#"{"command": "x", "env": {"A": ["b"]}}"#, "the variable `A` is not taken"),
        (r#"{"command": "x", "env": {"A": "1"}, "environment": {"A": "2"}}"#, "`A` stands in"),
        (r#"{"command": "x", "somethingElse": 1}"#, "`somethingElse` is not taken"),
    ] {
        let (notes, _, _) = noted(server);
        assert!(notes.iter().any(|note| note.contains(told)), "{server}: {notes:?}");
    }
}

#[test]
fn variables_are_known_in_the_forms_of_other_programs() {
    let (_, _, imported) = noted(
        r#"{"command": "x", "args": ["%APPDATA%"], "env": {"A": "${env:ONE}", "B": "${TWO:-x}", "C": "$THREE",
            "D": "%FOUR%", "E": "{env:FIVE}", "F": "a {env:SIX}", "G": "costs $5", "H": "p$WORD"}}"#,
    );
    let expected = "A = \"${env:ONE}\"\nB = \"${env:TWO}\"\nC = \"${env:THREE}\"\nD = \"${env:FOUR}\"\n\
                    E = \"${env:FIVE}\"\nF = \"a ${env:SIX}\"\nG = \"costs $5\"\nH = \"p$WORD\"\n";
    assert!(imported.toml.contains(expected), "{}", imported.toml);
    let exports: Vec<_> = imported.notes.iter().filter_map(|note| note.export.as_deref()).collect();
    assert_eq!(exports, ["TWO", "THREE", "FOUR", "FIVE", "SIX"]);
    let told = |part: &str| imported.notes.iter().any(|note| note.text.contains(part));
    assert!(told("argument 1 holds `%APPDATA%`") && told("`$WORD` in `H`"), "{:?}", imported.notes);
    let (notes, is_on, _) = noted(r#"{"url": "https://{env:HOST}/mcp"}"#);
    assert!(!is_on && notes[0].contains("its address cannot be taken"), "{notes:?}");
    let (notes, is_on, _) = noted(r#"{"command": "x", "cwd": "%USERPROFILE%"}"#);
    assert!(!is_on && notes[0].contains("its folder"), "{notes:?}");
}

#[test]
fn a_key_that_stands_for_two_values_is_refused_wherever_it_stands() {
    let lists = [
        r#"{"mcpServers": {"a": {"command": "first"}, "a": {"command": "second"}}}"#,
        r#"{"mcpServers": {"a": {"command": "x"}}, "mcpServers": {"b": {"command": "y"}}}"#,
        r#"{"mcpServers": {"a": {"command": "x", "env": {"K": "1", "K": "2"}}}}"#,
        r#"{"mcpServers": {"a": {"command": "x", "command": "y"}}}"#,
    ];
    for list in lists {
        let refused = import(list, None).unwrap_err();
        assert!(matches!(refused, ImportError::Twice { line: 1, .. }), "{list}: {refused:?}");
        assert!(refused.to_string().contains("stands twice in one object"), "{refused}");
    }
    imported(r#"{"mcpServers": {"a": {"command": "x"}, "a": {"command": "x"}}}"#);
}

#[test]
fn opencode_is_read_and_what_a_file_switches_off_elsewhere_stays_off() {
    let imported = imported(
        r#"{"$schema": "https://opencode.ai/config.json", "model": "m", "mcp": {
            "a": {"type": "local", "command": ["bun", "x", "y"], "environment": {"A": "1"}, "enabled": true},
            "b": {"type": "remote", "url": "https://b/mcp", "enabled": false, "headers": {"Accept": "{env:T}"}}}}"#,
    );
    assert_eq!(imported.form, ImportFormat::OpenCode);
    let expected = r#"# Taken from a file of the form opencode.

# runs: "bun" "x" "y"
[[source]]
id = "a"

[source.mcp]
command = ["bun", "x", "y"]

[source.mcp.env]
A = "1"

# T: the file refers to it
[[source]]
id = "b"
enabled = false

[source.mcp]
url = "https://b/mcp"

[source.mcp.headers]
Accept = "${env:T}"
"#;
    assert_eq!(imported.toml, expected);
    for (key, list) in [
        ("disabledMcpServers", r#"["a"]"#),
        ("mcp", r#"{"excluded": ["a"]}"#),
        ("mcp", r#"{"allowed": ["b"]}"#),
    ] {
        let list = format!(r#"{{"mcpServers": {{"a": {{"command": "x"}}}}, "{key}": {list}}}"#);
        let off = self::imported(&list);
        assert!(off.toml.contains("enabled = false"), "{}", off.toml);
        assert!(off.notes.iter().any(|note| note.text.contains("switched off")), "{:?}", off.notes);
    }
    let two = self::imported(
        r#"{"mcpServers": {"a": {"command": "x"}}, "context_servers": {"b": {"command": "y"}}}"#,
    );
    assert_eq!(two.notes[0].text, "`context_servers` is not taken");
}
