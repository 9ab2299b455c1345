//! One test for each command: what it prints, for people and for programs, and how it exits.

use serde_json::json;

use crate::process::{Folder, Ran, run, shell};

const RULES: &str = r#"
allow = ["category:arithmetic"]
ask = ["category:text"]

[[rule]]
name = "admins"
when = { scope = "admin" }
allow = ["*"]
"#;

#[test]
fn tools_are_listed_for_people_and_for_programs() {
    let table = run(&["tools", "--category", "arithmetic"]);
    assert_eq!((table.code, table.err.as_str()), (0, ""));
    let lines: Vec<_> = table.out.lines().collect();
    assert!(lines[0].contains("NAME") && lines[0].contains("SUMMARY"), "{table:?}");
    assert!(lines[1].contains("calculate") && lines[1].contains("read"), "{table:?}");
    assert!(!table.out.contains('\u{1b}'), "no colour where nobody sees it");
    let listed = run(&["tools", "--json"]).json();
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert!(names.len() >= 8 && names.contains(&&json!("calculate")), "{names:?}");
    let none = run(&["tools", "--json", "--effect", "destroy", "--source", "basics"]);
    assert_eq!(none.json(), json!([]));
}

#[test]
fn tools_are_selected_for_a_task_and_shared_out_over_agents() {
    let folder = Folder::new();
    let assign = "[assign]\nscribe = [\"hash_text\", \"hash_txt\"]\n";
    let source = "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n";
    folder.write("crib.toml", &format!("{source}{assign}"));
    let task = "count the words of a text, then hash it";
    let found = folder.run(&["select", task, "--limit", "2", "--json"]).json();
    let named = |tools: &serde_json::Value| -> Vec<String> {
        let tools = tools.as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(named(&found["tools"]), ["hash_text", "text_count"], "{found}");
    let all = folder.run(&["tools", "--json"]).json();
    let shared = folder.run(&["select", "--agents", "3", "--json"]).json();
    let agents = shared["agents"].as_array().unwrap();
    let who: Vec<_> = agents.iter().map(|agent| &agent["name"]).collect();
    assert_eq!(who, ["scribe", "agent_1", "agent_2"], "{shared}");
    assert_eq!(named(&agents[0]["tools"]), ["hash_text"], "{shared}");
    let mut placed: Vec<_> = agents.iter().flat_map(|agent| named(&agent["tools"])).collect();
    placed.sort();
    let mut every = named(&all);
    every.sort();
    assert_eq!(placed, every, "{shared}");
    let told = folder.run(&["select", "--agents", "1"]);
    assert!(
        told.err.contains(
            "crib.toml:6:24: assign.scribe[1]: there is no tool `hash_txt` now; did you mean \
             `hash_text`?"
        ) && told.err.contains("no agent has `calculate`"),
        "{told:?}"
    );
    let own = folder.run(&["tools", "--profile", "agent:scribe", "--json"]).json();
    assert_eq!(named(&own), ["hash_text"], "{own}");
    let refused = folder.run(&["call", "calculate", "{}", "--profile", "agent:scribe"]);
    assert!(refused.code != 0 && refused.err.contains("calculate"), "{refused:?}");
    folder.write("crib.toml", &format!("unlisted_agents = \"nothing\"\n{source}{assign}"));
    let shared = folder.run(&["select", "--agents", "2", "--json"]).json();
    assert_eq!(shared["agents"][1], json!({ "name": "agent_1", "tools": [] }), "{shared}");
    assert_eq!(shared["warnings"], json!(["`agent_1` has no tool: none is assigned to it"]));
}

#[test]
fn tools_are_shared_out_over_roles_and_what_cannot_be_is_told() {
    let folder = Folder::new();
    let source = "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n";
    let assign = "[assign]\nscribe = [\"hash_text\", \"hash_txt\"]\n";
    folder.write("crib.toml", &format!("{source}{assign}"));
    let named = |tools: &serde_json::Value| -> Vec<String> {
        let tools = tools.as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let every = named(&folder.run(&["tools", "--json"]).json());
    folder.write("roles.json", "{\"clock\": \"Dates, times and zones\", \"cook\": \"Recipes\"}");
    let roles = folder.run(&["select", "--roles", "roles.json", "--json"]).json();
    let clock = named(&roles["agents"][0]["tools"]);
    assert!(clock.contains(&"time_convert".to_owned()), "{roles}");
    let table = folder.run(&["select", "--roles", "roles.json"]);
    assert!(table.out.lines().next().unwrap().contains("AFFINITY"), "{table:?}");
    let full = folder.run(&["select", "--agents", "2", "--capacity", "2"]);
    assert_eq!(full.code, 2, "{full:?}");
    assert!(
        full.err.contains(
            "10 tools do not fit: there is room for 2, and for 2 at each agent: raise the capacity"
        ),
        "{full:?}"
    );
    let none = folder.run(&["select", "xylophone", "--json"]).json();
    assert_eq!((&none["tools"], &none["fallback"]), (&json!([]), &json!("nothing")), "{none}");
    let all = folder.run(&["select", "xylophone", "--limit", "20", "--or-all", "--json"]).json();
    assert_eq!((named(&all["tools"]).len(), &all["fallback"]), (every.len(), &json!("all")));
    folder.write("roles.json", "[1]");
    let wrong = folder.run(&["select", "--roles", "roles.json"]);
    assert!(wrong.code == 2 && wrong.err.contains("`roles.json` has no roles"), "{wrong:?}");
    let unknown = folder.run(&["select", "hash", "--always", "hash_txt"]);
    assert!(unknown.err.contains("did you mean `hash_text`"), "{unknown:?}");
    for wrong in [
        &["select"][..],
        &["select", "hash", "--limit", "0"],
        &["select", "hash", "--min-confidence", "2"],
        &["select", "hash", "--capacity", "2"],
        &["select", "hash", "--overlap"],
        &["select", "--agents", "2", "--roles", "roles.json"],
    ] {
        assert_eq!(folder.run(wrong).code, 2, "{wrong:?}");
    }
}

#[test]
fn tools_are_found_by_what_they_do_and_counted_in_tokens() {
    let found = run(&["search", "evaluate an", "arithmetic expression", "--json"]).json();
    assert_eq!(found["tools"][0]["name"], "calculate");
    assert_eq!(found["tools"][0]["writes"], false);
    let none = run(&["search", "xylophone"]);
    assert_eq!((none.code, none.out.as_str()), (0, ""), "{none:?}");
    let folder = Folder::new();
    folder.write("crib.toml", "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n");
    let costs = folder.run(&["cost", "--json"]).json();
    let costs = costs["costs"].as_array().unwrap();
    let tokens = |dialect: &str, mode: &str| {
        let is_it = |cost: &&serde_json::Value| cost["dialect"] == dialect && cost["mode"] == mode;
        costs.iter().find(is_it).unwrap()["tokens"].as_u64().unwrap()
    };
    assert!(tokens("openai-chat", "direct") > tokens("openai-chat", "lazy"));
    assert!(tokens("anthropic", "lazy") < 100);
    // So few tools are no reason to make a model search.
    assert_eq!(tokens("gemini", "auto"), tokens("gemini", "direct"));
    let plan = folder.run(&["plan", "--discovery", "lazy", "--json"]).json();
    assert_eq!(plan["visible"].as_array().unwrap().last().unwrap(), "clear_pending");
}

#[test]
fn show_tells_everything_of_a_tool_and_what_to_do_about_a_wrong_name() {
    let shown = run(&["show", "calculate"]);
    assert_eq!(shown.code, 0);
    assert!(shown.out.starts_with("calculate(expression: string"), "{}", shown.out);
    let spec = run(&["show", "calculate", "--json"]).json();
    assert_eq!(spec["effect"], "read");
    assert_eq!(spec["fingerprint"].as_str().unwrap().len(), 64);
    let wrong = run(&["show", "calc"]);
    assert_eq!((wrong.code, wrong.out.as_str()), (2, ""));
    assert_eq!(
        wrong.err,
        "error: there is no tool `calc` for this caller; did you mean `calculate`? `toolcrib tools` \
         lists what is there\n"
    );
}

#[test]
fn plan_shows_what_is_visible_and_why_and_what_the_model_is_given() {
    let plan = run(&["plan", "--choose", "calculate", "--choose", "nobody", "--json"]).json();
    assert_eq!(plan["visible"], json!(["calculate"]));
    assert_eq!(plan["forced"], json!(["calculate"]));
    assert_eq!(plan["warnings"], json!(["the choice `nobody` names no available tool"]));
    for (dialect, place) in [
        ("openai-chat", "/tools/0/function/name"),
        ("openai-responses", "/tools/0/name"),
        ("anthropic", "/tools/0/name"),
        ("gemini", "/tools/0/functionDeclarations/0/name"),
    ] {
        let words = ["plan", "--choose", "calculate", "--dialect", dialect, "--json"];
        let plan = run(&words).json();
        assert_eq!(plan.pointer(place), Some(&json!("calculate")), "{plan:#}");
        assert!(!plan["tool_choice"].is_null(), "{plan:#}");
    }
    let nothing = run(&["plan", "--choose", "nobody"]);
    assert_eq!(nothing.code, 2);
    assert!(nothing.err.starts_with("error: none of the chosen tools is left"), "{nothing:?}");
}

#[test]
fn what_only_a_provider_runs_is_listed_and_explained_for_an_api() {
    let folder = Folder::new();
    folder.write("crib.toml", "[[source]]\nid = \"provider\"\nbuiltin = [\"web_fetch\"]\n");
    let listed = folder.run(&["tools"]).out;
    let about =
        "Reads pages and files at addresses on the web (run by the provider: anthropic, gemini)";
    assert!(listed.contains(about), "{listed}");
    let listed = folder.run(&["tools", "--json"]).json();
    assert_eq!(listed[0]["dialects"], json!(["anthropic", "gemini"]));
    let shown = folder.run(&["show", "provider__web_fetch"]).out;
    assert!(shown.contains("run by       the provider: anthropic, gemini"), "{shown}");
    let why =
        |dialect: &[&str]| folder.run(&[&["why", "provider__web_fetch"], dialect].concat()).out;
    assert_eq!(
        why(&["--dialect", "anthropic"]),
        "`provider__web_fetch` is visible: it is a capability, which no choice removes (capability)\n"
    );
    let none = why(&["--dialect", "openai-responses"]);
    assert!(none.contains("is not visible: the API of this model has no such tool"), "{none}");
    assert!(why(&[]).contains("no model is told of this plan: name a dialect"), "{}", why(&[]));
    let plan = folder.run(&["plan", "--dialect", "gemini", "--json"]).json();
    assert_eq!(plan["tools"], json!([{ "urlContext": {} }]));
}

#[test]
fn why_tells_the_rule_that_decided() {
    let why = run(&["why", "time_now", "--choose", "calculate"]);
    assert_eq!(why.out, "`time_now` is not visible: other tools were chosen (not_chosen)\n");
    let why = run(&["why", "time_now", "--disable", "time_now", "--json"]).json();
    assert_eq!(why["rule"], "disabled_for_request");
    assert_eq!(run(&["why", "nobody"]).code, 2);
}

#[test]
fn call_prints_the_result_and_exits_by_the_outcome() {
    let good = run(&["call", "calculate", r#"{"expression": "6 * 7"}"#]);
    assert_eq!((good.code, good.err.as_str()), (0, ""));
    assert!(good.out.contains("42"), "{good:?}");
    let folder = Folder::new();
    let piped = folder.run_with(&["call", "calculate", "-"], "{'expression': '6 * 7'}");
    assert!(piped.out.contains("42") && piped.out.contains("Note:"), "{piped:?}");
    let wrong = run(&["call", "calculate", r#"{"expresion": "6 * 7"}"#, "--json"]);
    assert_eq!(wrong.code, 1);
    let response = wrong.json();
    assert_eq!(
        (&response["error"], &response["kind"]),
        (&json!(true), &json!("invalid_arguments"))
    );
    let failed = run(&["call", "calculate", r#"{"expression": "1 / 0"}"#]);
    assert_eq!((failed.code, failed.out.as_str()), (1, ""));
    assert!(failed.err.starts_with("Error: "), "{failed:?}");
    assert_eq!(run(&["call", "nobody"]).code, 1);
}

#[test]
fn run_answers_a_message_and_prints_what_to_send_back() {
    let folder = Folder::new();
    let message = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "call_1", "type": "function",
         "function": {"name": "calculate", "arguments": "{\"expression\": \"6 * 7\"}"}},
        {"id": "call_2", "type": "function", "function": {"name": "calculator", "arguments": ""}},
    ]});
    let ran = folder.run_with(&["run", "--json"], &message.to_string());
    assert_eq!(ran.code, 1);
    let answer = ran.json();
    assert_eq!(answer["messages"][0]["role"], "tool");
    assert_eq!(answer["messages"][0]["tool_call_id"], "call_1");
    assert!(answer["messages"][0]["content"].as_str().unwrap().contains("42"));
    assert_eq!(answer["responses"][1]["kind"], "unknown_tool");
    let text = folder.run_with(&["run"], &message["tool_calls"].to_string());
    let lines: Vec<_> = text.out.lines().collect();
    let answer = r#"  {"result":"42","exact":true}"#;
    assert_eq!(lines[..3], ["call_1 calculate done", answer, "call_2 calculator failed"]);
    assert!(lines[3].starts_with("  Error: there is no tool `calculator`."), "{text:?}");
}

#[test]
fn rules_deny_ask_and_explain() {
    let folder = Folder::new();
    folder.write("rules.toml", RULES);
    let with = |words: &[&str]| folder.run(&[&["--policy", "rules.toml"], words].concat());
    let allowed = with(&["call", "calculate", r#"{"expression": "1 + 1"}"#]);
    assert_eq!(allowed.code, 0, "{allowed:?}");
    // A denied tool is one that does not exist.
    assert_eq!(with(&["call", "time_now"]).code, 1);
    assert_eq!(with(&["call", "time_now", "--scope", "admin"]).code, 0);
    let parked = with(&["call", "text_count", r#"{"text": "a b"}"#]);
    assert_eq!((parked.code, parked.out.as_str()), (4, ""));
    assert!(parked.err.contains("`--yes` approves the call beforehand"), "{parked:?}");
    let approved = with(&["call", "text_count", r#"{"text": "a b"}"#, "--yes", "--json"]);
    assert_eq!(approved.code, 0, "{approved:?}");
    assert_eq!(approved.json()["debug"]["flags"], json!(["approved"]));

    let explained = folder.run(&["policy", "explain", "rules.toml", "time_now", "--json"]);
    assert_eq!(explained.json()["verdict"]["deny"], "the rules do not permit it");
    assert_eq!(folder.run(&["policy", "check", "rules.toml"]).code, 0);
    folder.write("bad.toml", "alow = []\nask = [\"colour:red\"]\n");
    let bad = folder.run(&["policy", "check", "bad.toml"]);
    assert_eq!(bad.code, 1);
    assert!(bad.out.contains("`allow`") && bad.out.contains("colour"), "{bad:?}");
    let refused = folder.run(&["--policy", "bad.toml", "tools"]);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    assert_eq!(folder.run(&["--policy", "none.toml", "tools"]).code, 2);
}

#[test]
fn a_pin_file_keeps_out_what_it_does_not_know() {
    let folder = Folder::new();
    let missing = folder.run(&["lock", "--check"]);
    assert_eq!(missing.code, 2);
    assert_eq!(missing.err, "error: there is no `crib.lock`: `toolcrib lock` writes it\n");
    assert_eq!(folder.run(&["lock"]).code, 0);
    let same = folder.run(&["lock", "--check"]);
    assert_eq!((same.code, same.err.as_str()), (0, "nothing changed\n"));

    let pinned = std::fs::read_to_string(folder.path().join("crib.lock")).unwrap();
    let fingerprint = run(&["show", "calculate", "--json"]).json()["fingerprint"].clone();
    let fingerprint = fingerprint.as_str().unwrap();
    assert!(pinned.contains(fingerprint));
    let other = fingerprint.chars().rev().collect::<String>();
    folder.write("crib.lock", &pinned.replace(fingerprint, &other));
    let why = folder.run(&["why", "calculate", "--json"]).json();
    assert_eq!(why["rule"], "quarantined");
    let listed = folder.run(&["tools"]);
    assert!(!listed.out.contains("calculate"), "{listed:?}");
    assert!(listed.err.starts_with("1 tool is kept out:"), "{listed:?}");
    let drift = folder.run(&["lock", "--check", "--json"]);
    assert_eq!(drift.code, 1);
    assert_eq!(drift.json()["drift"][0]["tool"], "calculate");
    assert_eq!(folder.run(&["lock"]).code, 0);
    assert_eq!(folder.run(&["lock", "--check"]).code, 0);
}

#[test]
fn help_completion_and_manual_are_there_and_bad_words_exit_with_2() {
    let help = run(&["--help"]);
    assert!(help.out.contains("Exit codes:") && help.out.contains("toolcrib manual"));
    for command in ["tools", "show", "plan", "why", "call", "run", "lock"] {
        let help = run(&[command, "--help"]);
        assert!(help.code == 0 && help.out.contains("Example"), "{command}: {help:?}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(&["completion", shell]);
        assert!(script.code == 0 && script.out.contains("toolcrib"), "{shell}");
    }
    let manual = run(&["manual"]).out;
    assert!(manual.starts_with("# "));
    assert_eq!(run(&["manual", "--json"]).json()["manual"], manual);
    let script = run(&["completion", "bash", "--json"]).json();
    assert!(script["script"].as_str().is_some_and(|script| script.contains("toolcrib")));
    let Ran { code, err, .. } = run(&["tols"]);
    assert!(code == 2 && err.contains("tools"), "{err}");
}

#[test]
fn words_that_cannot_be_read_are_told_in_json_where_that_is_asked_for() {
    let cases: [(&[&str], &str); 7] = [
        (&["tools", "--json", "--nope"], "unexpected argument '--nope' found"),
        (&["--json", "tools", "--effect", "sideways"], "invalid value 'sideways'"),
        (&["nonsense", "--json"], "unrecognized subcommand 'nonsense'"),
        (&["show", "--json"], "the following required arguments were not provided"),
        (&["--json"], "'toolcrib' requires a subcommand but one was not provided"),
        (&["--json", "policy"], "a command is missing: `--help` lists what there is"),
        (&["--json", "why", "x", "--nope"], "unexpected argument '--nope' found"),
    ];
    for (words, message) in cases {
        let wrong = run(words);
        let told = wrong.json();
        let said = told["error"]["message"].as_str().unwrap();
        assert!(wrong.code == 2 && said.starts_with(message), "{words:?} {wrong:?}");
        assert_eq!(told, json!({ "error": { "message": said, "because": [] } }));
        // What a person reads is what it is without the word; without any there is help.
        let plain: Vec<_> = words.iter().filter(|word| **word != "--json").copied().collect();
        let first = |ran: &Ran| ran.err.lines().next().map(str::to_owned);
        let (plain, is_help) = (run(&plain), plain.is_empty());
        assert_eq!((plain.code, plain.out.as_str()), (2, ""), "{words:?}");
        assert!(first(&wrong).is_some() && (is_help || first(&wrong) == first(&plain)));
    }
    // Behind `--` it is no option, and help is what was asked for.
    let wrong = run(&["tools", "--nope", "--", "--json"]);
    assert_eq!((wrong.code, wrong.out.as_str()), (2, ""));
    let help = run(&["tools", "--json", "--help"]);
    assert!(help.code == 0 && help.out.contains("Usage: "), "{help:?}");
}

#[test]
fn colour_is_for_those_who_see_it() {
    let words = ["tools", "--color", "always"];
    assert!(run(&words).out.contains('\u{1b}'));
    assert!(!run(&["tools", "--color", "never"]).out.contains('\u{1b}'));
    assert!(!run(&["tools", "--json", "--color", "always"]).out.contains('\u{1b}'));
}

#[test]
fn what_a_tool_says_cannot_steer_the_terminal() {
    let arguments = r#"{"text": "a\u202eb\u009bc", "case": "lower"}"#;
    let text = run(&["call", "text_case", arguments]);
    assert_eq!(text.out, "{\"text\":\"a\\u{202e}b\\u{9b}c\"}\n");
    let json = run(&["call", "text_case", arguments, "--json"]);
    assert!(json.out.is_ascii(), "{json:?}");
    assert_eq!(json.json()["structured"]["text"], "a\u{202e}b\u{9b}c");
}

#[test]
fn bounds_hold_for_the_calls_of_a_message() {
    let folder = Folder::new();
    let call = |id: &str, text: &str| {
        json!({"id": id, "type": "function",
               "function": {"name": "text_count", "arguments": {"text": text}}})
    };
    let message = json!([call("1", "a"), call("2", "b"), call("3", "a")]).to_string();
    let ran = folder.run_with(&["run", "--json", "--max-calls", "1"], &message);
    let ran = ran.json();
    let kinds: Vec<_> = [0, 1, 2].map(|place| &ran["responses"][place]["kind"]).to_vec();
    assert_eq!(kinds, [&json!(null), &json!("over_limit"), &json!(null)]);
    assert_eq!(ran["responses"][2]["duplicate_of"], "1");
    for wrong in ["0", "-1", "nan", "1e9", "soon"] {
        let words = ["tools", &format!("--timeout={wrong}")];
        let Ran { code, err, .. } = run(&words);
        assert!(code == 2 && err.contains("write a number of seconds"), "{err}");
    }
    assert_eq!(run(&["tools", "--timeout", "0.5"]).code, 0);
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let line = "{ sleep 0.2; toolcrib manual; echo \"code $?\" >&2; } | true";
    let ran = shell(&Folder::new(), line);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", "code 0\n"));
}

#[test]
fn a_desk_that_could_keep_nothing_takes_nothing() {
    let call = "call add_calendar_event '{\"title\": \"x\", \"start\": \"tomorrow\"}'";
    let line = format!("env -u HOME -u XDG_STATE_HOME toolcrib {call}");
    let ran = crate::process::shell(&Folder::new(), &line);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("set `HOME` or `XDG_STATE_HOME`, or name a `file`"), "{ran:?}");
}

/// A calendar with one event, as others write it.
const CALENDAR: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1@example.org\r\n\
    DTSTART:20261125T100000Z\r\nDTEND:20261125T110000Z\r\nSUMMARY:Imported\r\nEND:VEVENT\r\n\
    END:VCALENDAR\r\n";
/// A mailbox with one message.
const MAILBOX: &str = "From ann@example.org Sun Nov 22 10:00:00 2026\nFrom: Ann <ann@example.org>\n\
    Subject: Hello\nMessage-ID: <1@example.org>\nDate: Sun, 22 Nov 2026 10:00:00 +0000\n\n\
    See you.\n\n";

#[test]
fn files_go_into_the_desk_once_and_come_out_as_they_are_written() {
    let folder = Folder::new();
    folder.write("work.ics", CALENDAR);
    folder.write("old.mbox", MAILBOX);
    let taken = folder.run(&["desk", "import", "work.ics", "old.mbox", "--label", "archive"]);
    assert_eq!(
        (taken.code, taken.out.as_str()),
        (0, "`work.ics`: 1 events, 0 tasks\n`old.mbox`: 1 messages, 0 known before\n"),
        "{taken:?}"
    );
    let again = folder.run(&["desk", "import", "old.mbox", "--json"]).json();
    assert_eq!(again["files"][0]["imported"]["known"], 1, "{again}");
    let mail = folder.run(&["call", "search_emails", r#"{"query": "see", "label": "archive"}"#]);
    assert!(mail.out.contains("\"subject\":\"Hello\""), "{mail:?}");
    let exported = folder.run(&["desk", "export"]);
    assert!(exported.out.starts_with("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"), "{exported:?}");
    assert!(exported.out.contains("UID:1@example.org\r\n"), "{exported:?}");
    folder.write("again.ics", &exported.out);
    assert_eq!(folder.run(&["desk", "import", "again.ics"]).code, 0);
    let listed = r#"{"from": "2026-11-25", "until": "2026-11-25"}"#;
    let events = folder.run(&["call", "list_calendar_events", listed]);
    assert_eq!(events.out.matches("\"title\":\"Imported\"").count(), 1, "{events:?}");
    folder.write("notes.txt", "nothing");
    let refused = folder.run(&["desk", "import", "notes.txt"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("`.ics` for a calendar, `.mbox` for a mailbox"), "{refused:?}");
}
