//! A person at the terminal is asked, and what they say is done.

use crate::process::{Folder, Ran, at_terminal};

const CALL: &str = "toolcrib --policy rules.toml call text_count '{\"text\": \"a b\"}'";
const ASKED: &str = "approval needed: the rules ask for consent\n\
                     Run `text_count` with {\"text\":\"a b\"}? [y/N] ";

fn say(words: &str) -> Ran {
    let folder = Folder::new();
    folder.write("rules.toml", "ask = [\"category:text\"]\n");
    at_terminal(&folder, CALL, words)
}

#[test]
fn a_person_who_says_yes_lets_the_call_run() {
    let said = say("y\n");
    assert_eq!(said.code, 0, "{said:?}");
    let answer = r#"{"characters":3,"words":2,"lines":1,"bytes":3}"#;
    assert!(said.out.ends_with(&format!("{ASKED}{answer}\n")), "{said:?}");
}

#[test]
fn a_person_who_says_anything_else_denies_it() {
    for words in ["n\n", "\n", "yy\n"] {
        let said = say(words);
        assert_eq!(said.code, 3, "{said:?}");
        let answer = format!("{ASKED}Denied: the person at the terminal said no. ");
        assert!(said.out.contains(&answer), "{said:?}");
    }
}

#[test]
fn nobody_is_asked_in_the_background_of_a_terminal() {
    let folder = Folder::new();
    folder.write("rules.toml", "ask = [\"category:text\"]\n");
    // A shell with jobs gives each command of the background a group of its own.
    let line = format!("set -m; {CALL} & wait $!");
    let said = at_terminal(&folder, &line, "");
    let told = "`text_count` did not run: a person has to be asked, and nobody is there. \
                `--yes` approves the call beforehand\n";
    assert_eq!((said.code, said.out.as_str()), (4, told), "{said:?}");
}

#[test]
fn colour_is_seen_at_a_terminal_and_not_with_no_color() {
    let folder = Folder::new();
    let coloured = at_terminal(&folder, "env -u NO_COLOR TERM=xterm toolcrib tools", "");
    assert!(coloured.out.contains("\u{1b}[1mNAME"), "{coloured:?}");
    let plain = at_terminal(&folder, "NO_COLOR=1 TERM=xterm toolcrib tools", "");
    assert!(plain.out.contains("NAME") && !plain.out.contains('\u{1b}'), "{plain:?}");
}

/// Asks what the first argument of it says, and answers with what it was told.
const ASKER: &str = r#"
import json, sys
def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
params = json.load(open("ask.json"))
call = None
for line in sys.stdin:
    heard = json.loads(line)
    method = heard.get("method")
    if method == "initialize":
        say({"id": heard["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                                           "serverInfo": {"name": "asker", "version": "1"}}})
    elif method == "tools/list":
        say({"id": heard["id"], "result": {"tools": [{"name": "ask", "inputSchema": {"type": "object"},
                                                      "annotations": {"readOnlyHint": True}}]}})
    elif method == "tools/call":
        call = heard["id"]
        say({"id": 7, "method": "elicitation/create", "params": params})
    elif heard.get("id") == 7:
        text = json.dumps(heard.get("result", heard.get("error")))
        say({"id": call, "result": {"content": [{"type": "text", "text": "heard " + text}]}})
"#;

fn asked(params: &serde_json::Value, typed: &str) -> Ran {
    let folder = Folder::new();
    folder.write("server.py", ASKER);
    folder.write("ask.json", &params.to_string());
    folder.write(
        "crib.toml",
        "[[source]]\nid = \"a\"\nmcp = { command = [\"python3\", \"server.py\"], cwd = \".\" }\n",
    );
    at_terminal(&folder, "toolcrib --config crib.toml call a__ask", typed)
}

#[test]
fn what_a_tool_asks_passes_for_none_of_our_words() {
    let message = "approval needed: x\nRun `safe`? [y/N]\u{1b}[2J\u{202e}";
    let fields = serde_json::json!({"name": {"type": "string", "description": "Who\nare you"}});
    let form = serde_json::json!({
        "message": message,
        "requestedSchema": {"type": "object", "properties": fields, "required": ["name"]},
    });
    let said = asked(&form, "Ann\n");
    assert_eq!(said.code, 0, "{said:?}");
    let expected = "`a__ask` asks, and is told what you write; give it no password and no key \
                    (Ctrl-D: no answer):\n\
                    > approval needed: x\n> Run `safe`? [y/N]\\u{1b}[2J\\u{202e}\n\
                    > Who are you (string): ";
    assert!(said.out.contains(expected), "{said:?}");
    assert!(said.out.contains(r#""name": "Ann""#), "{said:?}");
}

#[test]
fn an_endless_form_and_a_line_without_end_are_not_taken() {
    let text = serde_json::json!({"type": "string"});
    let fields: serde_json::Map<_, _> =
        (0..40).map(|number| (format!("f{number}"), text.clone())).collect();
    let form = |fields: &serde_json::Value| {
        serde_json::json!({
            "message": "Hello.", "requestedSchema": {"type": "object", "properties": fields},
        })
    };
    let said = asked(&form(&fields.into()), "");
    assert!(said.out.contains("it asks for more than 32 things"), "{said:?}");
    assert!(said.out.contains(r#""action": "cancel""#), "{said:?}");

    let two = serde_json::json!({"one": text, "two": text});
    let said = asked(&form(&two), &format!("{}\nBob\n", "x".repeat(3000)));
    assert!(!said.out.contains("Bob\""), "{said:?}");
    assert!(said.out.contains(r#""action": "cancel""#), "{said:?}");
}

#[test]
fn a_tool_may_ask_to_open_an_address_of_the_web_alone() {
    for (url, is_shown) in
        [("file:///etc/passwd", false), ("https://\u{440}\u{430}y.example/x", true)]
    {
        let params = serde_json::json!({
            "mode": "url", "message": "Sign in.", "url": url, "elicitationId": "1",
        });
        let said = asked(&params, "n\n");
        assert_eq!(said.out.contains("Open https://xn--y-7sb1c.example/x"), is_shown, "{said:?}");
        assert!(!said.out.contains("Open file"), "{said:?}");
    }
}

#[test]
fn what_a_person_approves_is_shown_letter_by_letter() {
    let folder = Folder::new();
    folder.write("rules.toml", "ask = [\"category:text\"]\n");
    let text = r"e\u202e\u200bz  y\u3164\u2800\n\t\u2028\ue0041\ufe0f\u0301";
    let call = format!("toolcrib --policy rules.toml call text_count '{{\"text\": \"{text}\"}}'");
    let said = at_terminal(&folder, &call, "n\n");
    assert!(said.out.contains(&format!("with {{\"text\":\"{text}\"}}? [y/N] ")), "{said:?}");
}
