//! Plans that are only looked at, what they cost, and rules that are only tried.

use serde_json::{Value, json};

use super::keys::make;
use super::support::{Serving, eventually};
use crate::process::Folder;

const FILE: &str = "allow = [\"*\"]\nask = [\"uuid_new\"]\n\n\
    [store]\nurl = \"sqlite://crib.db\"\n\n\
    [[rule]]\nname = \"guests look on\"\nwhen = { scope = \"guest\" }\ndeny = [\"hash_text\"]\n\n\
    [[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = [\"calculate\", \"hash_text\", \"uuid_new\"]\n\n\
    [toolset.sums]\ntools = [\"calculate\"]\n\n\
    [profile.small]\nallow = [\"calculate\", \"uuid_*\"]\nmax_calls = 2\n";

fn serving() -> Serving {
    let folder = Folder::new();
    folder.write("crib.toml", FILE);
    Serving::start_in(folder, &[])
}

fn plan(serving: &Serving, body: &Value) -> Value {
    let answer = serving.ask("POST", "/v1/plan", &body.to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

#[test]
fn a_plan_that_is_only_looked_at_has_no_name_and_cannot_be_run() {
    let serving = serving();
    let preview = plan(&serving, &json!({ "preview": true, "why": true, "dialect": "anthropic" }));
    let mut kept = plan(&serving, &json!({ "why": true, "dialect": "anthropic" }));
    assert!(kept["plan"].as_str().is_some_and(|name| name.starts_with("p_")), "{kept}");
    kept["plan"] = Value::Null;
    assert_eq!(preview, kept);
}

#[test]
fn an_operator_looks_at_what_another_caller_is_given() {
    let serving = serving();
    let visible = |body: &Value| {
        let mut told = plan(&serving, body)["visible"].clone();
        told.as_array_mut().unwrap().sort_by_key(ToString::to_string);
        told
    };
    let guest = json!({ "tenant": "acme", "subject": "ann", "scopes": ["tools", "guest"] });
    let as_guest = json!({ "preview": true, "as": guest });
    assert_eq!(visible(&as_guest), json!(["calculate", "uuid_new"]));
    let all = json!({ "preview": true, "as": { "tenant": "acme", "subject": "ann", "scopes": ["tools"] } });
    assert_eq!(visible(&all), json!(["calculate", "hash_text", "uuid_new"]));
    let why = plan(&serving, &json!({ "preview": true, "why": true, "as": guest }))["why"].clone();
    let of = why.as_array().unwrap().iter().find(|row| row["tool"] == "hash_text").unwrap();
    assert_eq!((&of["visible"], &of["rule"]), (&json!(false), &json!("denied")));
    let profile = json!({ "tenant": "acme", "subject": "ann", "scopes": ["profile:small"] });
    let small = json!({ "preview": true, "profile": "small", "as": profile });
    assert_eq!(visible(&small), json!(["calculate", "uuid_new"]));
    assert_eq!(plan(&serving, &json!({ "as": guest }))["plan"], Value::Null);
    let nowhere = json!({ "preview": true, "as": profile });
    let answer = serving.ask("POST", "/v1/plan", &nowhere.to_string());
    assert_eq!(answer.problem(), "409 nothing-left");
    for wrong in [
        json!({ "preview": true, "as": { "tenant": "acme", "subject": "x".repeat(300) } }),
        json!({ "preview": true, "as": { "tenant": "acme" } }),
    ] {
        let answer = serving.ask("POST", "/v1/plan", &wrong.to_string());
        assert_eq!(answer.problem(), "422 invalid-body", "{wrong}");
    }
    let unknown = json!({ "preview": true, "profile": "none", "as": guest });
    let answer = serving.ask("POST", "/v1/plan", &unknown.to_string());
    assert_eq!(answer.problem(), "404 unknown-profile");
}

#[test]
fn what_tools_cost_is_what_the_command_says() {
    let serving = serving();
    let told = serving.ask("POST", "/v1/plan/cost", "{}").json();
    let command = serving.folder.run(&["cost", "--json"]).json();
    assert_eq!(told["costs"], command["costs"]);
    assert_eq!(told["tools"], 3);
    let rows = told["per_tool"].as_array().unwrap();
    let tokens: Vec<_> = rows.iter().map(|row| row["tokens"].as_u64().unwrap()).collect();
    assert!(tokens.is_sorted_by(|left, right| left >= right) && tokens[2] > 0, "{rows:?}");
    let fewer = serving.ask("POST", "/v1/plan/cost", r#"{"disabled":["hash_text"]}"#).json();
    assert_eq!(fewer["tools"], 2);
    let many = json!({ "choices": vec!["x"; 1_001] }).to_string();
    assert_eq!(serving.ask("POST", "/v1/plan/cost", &many).problem(), "422 invalid-body");
    let wrong = serving.ask("POST", "/v1/plan/cost", r#"{"profile":"none"}"#);
    assert_eq!(wrong.problem(), "404 unknown-profile");
}

#[test]
fn a_caller_that_has_costs_counted_all_the_time_keeps_no_other_away() {
    let serving = serving();
    let other = serving.token_of("other");
    let ask = |token: &str| serving.ask_as(token, "POST", "/v1/plan/cost", "{}").problem();
    assert!(eventually(|| ask(&other) == "200"));
    std::thread::scope(|scope| {
        let many: Vec<_> = (0..24).map(|_| scope.spawn(|| ask(&serving.token))).collect();
        for _ in 0..4 {
            assert_eq!(ask(&other), "200");
        }
        for one in many {
            let told = one.join().unwrap();
            assert!(told == "200" || told == "429 too-many", "{told}");
        }
    });
    // Every place is given back.
    for _ in 0..6 {
        assert_eq!(ask(&serving.token), "200");
    }
}

#[test]
fn profiles_are_told_with_their_rules_and_where_they_stand() {
    let serving = serving();
    let all = serving.ask("GET", "/v1/profiles", "").json();
    let small =
        json!({ "name": "small", "sources": null, "mode": "direct", "max_calls": 2, "rules": 2 });
    assert_eq!(all["profiles"], json!([small]));
    let line = |text: &str| FILE.lines().position(|line| line.contains(text)).unwrap() + 1;
    let told = |rules: &Value| -> Vec<Value> {
        let rows = rules.as_array().unwrap().iter();
        rows.map(|row| json!([row["line"], row["verdict"], row["pattern"], row["tools"]])).collect()
    };
    let whole = [
        json!([line("allow = [\"*\"]"), "allow", "*", 0]),
        json!([line("ask = "), "ask", "uuid_new", 0]),
        json!([line("deny = "), "deny", "hash_text", 0]),
    ];
    assert_eq!(told(&all["whole"]["rules"]), whole);
    assert_eq!(all["whole"]["rules"][2]["rule"], "rule `guests look on`");
    let one = serving.ask("GET", "/v1/profiles/small", "").json();
    let at = line("allow = [\"calculate\"");
    let own = [json!([at, "allow", "calculate", 1]), json!([at, "allow", "uuid_*", 1])];
    assert_eq!(told(&one["own"]), own);
    assert_eq!(told(&one["whole"])[0][3], 3);
    assert_eq!(one["tools"], json!({ "allow": 1, "ask": 1, "deny": 1 }));
    assert_eq!(one["visible"], 2);
    assert!(one["tokens"].as_u64().unwrap() > 0, "{one}");
    assert_eq!(serving.ask("GET", "/v1/profiles/none", "").problem(), "404 unknown-profile");
}

#[test]
fn other_rules_are_held_against_the_calls_of_the_last_day() {
    let serving = serving();
    let sum = json!({ "name": "calculate", "arguments": { "expression": "1+1" } });
    let hash = json!({ "name": "hash_text", "arguments": { "text": "x", "algorithm": "sha256" } });
    serving.call(&json!({ "calls": [sum, hash] }));
    serving
        .call(&json!({ "calls": [{ "name": "calculate", "arguments": { "expression": "2+2" } }] }));
    let test = |rules: &str| {
        let answer = serving.ask("POST", "/v1/policy/test", &json!({ "rules": rules }).to_string());
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    };
    assert!(eventually(|| test("allow = [\"*\"]")["calls"] == 3));
    assert_eq!(test("allow = [\"*\"]")["changes"], json!([]));
    let mut found = test("allow = [\"hash_*\"]\nask = [\"calc*\"]");
    let last = found["changes"][0].as_object_mut().unwrap().remove("last").unwrap();
    assert!(last.as_str().is_some_and(|last| last.ends_with('Z')), "{last}");
    assert_eq!(
        found,
        json!({
            "problems": [],
            "changes": [{
                "tenant": "local",
                "caller": "local",
                "tool": "calculate",
                "source": "basics",
                "before": "allow",
                "after": "ask",
                "calls": 2,
            }],
            "changed": 2,
            "calls": 3,
            "of_gone": 0,
            "has_more": false,
        })
    );
    let wrong = test("alow = []\nallow = [\"nofield:x\"]");
    let lines: Vec<_> =
        wrong["problems"].as_array().unwrap().iter().map(|row| &row["line"]).collect();
    assert_eq!(lines, [&json!(1), &json!(2)]);
    let long = json!({ "rules": " ".repeat(300_000) }).to_string();
    assert_eq!(serving.ask("POST", "/v1/policy/test", &long).problem(), "422 invalid-body");
}

#[test]
fn an_operator_of_another_tenant_accepts_nothing_that_it_could_not_run() {
    let folder = Folder::new();
    let (key, entry) = make(&folder, &["ops", "--tenant", "acme", "--scope", "operator"]);
    folder.write("crib.toml", &(FILE.to_owned() + &entry));
    assert_eq!(folder.run(&["lock"]).code, 0);
    let serving = Serving::start_in(folder, &[]);
    let asked = |method: &str, path: &str, body: &str| serving.ask_as(&key, method, path, body);
    assert_eq!(asked("GET", "/v1/drift", "").status, 200);
    let any = json!({ "accept": [{ "source": "s", "tool": "t", "fingerprint": "x" }] }).to_string();
    assert_eq!(asked("POST", "/v1/drift", &any).problem(), "403 insufficient-scope");
}
