//! What a caller may not see is, through every door, as if it were not there.
//!
//! Two worlds: one with all tools and rules, and for each caller one in which those that are
//! forbidden to it do not exist. Whatever the caller asks, both answer the same.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib_mcp::METHODS;

use super::oracle::{Operation, Oracle, document};
use super::routes;
use super::support::{Answer, Serving, bearer, head};
use super::wire::{modern, taking};
use crate::chance::Chance;
use crate::process::Folder;

const CALLERS: [&str; 3] = ["ann", "bob", "cleo"];
const SOURCES: [&str; 5] = ["one", "two", "three", "four", "five"];

/// A word that nothing else has: no letter of it is a digit of a hexadecimal number.
fn word(chance: &mut Chance) -> String {
    let letter = |number: usize| char::from(b'g' + u8::try_from(number).unwrap());
    (0..12).map(|_| letter(chance.below(20))).collect()
}

/// A catalog and who may use what of it.
struct World {
    tools: Vec<(&'static str, Operation)>,
    /// By caller, in the order of `CALLERS`: the full names of the tools that are permitted.
    permitted: Vec<BTreeSet<String>>,
}

impl World {
    fn random(chance: &mut Chance) -> Self {
        let count = 1 + chance.below(200);
        let tools: Vec<_> = (0..count)
            .map(|_| {
                let operation = Operation { name: word(chance), word: word(chance) };
                (SOURCES[chance.below(SOURCES.len())], operation)
            })
            .collect();
        let mut permitted = || -> BTreeSet<String> {
            let share = 1 + chance.below(4);
            let all = tools.iter().map(|(source, tool)| full(source, tool));
            all.filter(|_| chance.below(4) < share).collect()
        };
        let permitted = vec![permitted(), permitted(), permitted()];
        Self { tools, permitted }
    }

    /// The configuration of the world as it is, or as it is for one caller alone.
    fn serve(&self, oracle: &Oracle, only: Option<usize>) -> Serving {
        let folder = Folder::new();
        let mut file = String::new();
        for (caller, names) in CALLERS.iter().zip(&self.permitted) {
            let names = json!(names);
            let rule = "[[rule]]\nwhen = { subject =";
            writeln!(file, "{rule} \"{caller}\" }}\nallow = {names}\n").unwrap();
        }
        // Under the profile most of the tools are taken away from everybody.
        file += "[profile.p]\nsources = [\"one\", \"two\"]\nallow = [\"*\"]\n\n";
        for source in SOURCES {
            let there = |own: &str, tool: &Operation| {
                own == source
                    && only.is_none_or(|who| self.permitted[who].contains(&full(own, tool)))
            };
            let tools = self.tools.iter().filter(|(own, tool)| there(own, tool));
            let tools: Vec<_> = tools.map(|(_, tool)| tool).collect();
            folder.write(&format!("{source}.json"), &document(&tools).to_string());
            writeln!(
                file,
                "[[source]]\nid = \"{source}\"\nopenapi = {{ document = \"{source}.json\", \
                 base_url = \"{}\" }}\n",
                oracle.url
            )
            .unwrap();
        }
        folder.write("crib.toml", &file);
        Serving::start_in(folder, &[])
    }
}

fn full(source: &str, tool: &Operation) -> String {
    format!("{source}__{}", tool.name)
}

/// Every question of a caller about a name, over every route of the table and every method.
fn questions(serving: &Serving, token: &str, name: &str, words: &str) -> Vec<(String, Answer)> {
    let mut answers = over_routes(serving, token, name, words);
    answers.extend(over_methods(serving, token, name));
    answers
}

/// What listens for ever is left out: it tells nothing of a tool.
fn over_routes(serving: &Serving, token: &str, name: &str, words: &str) -> Vec<(String, Answer)> {
    let mut answers = Vec::new();
    let bodies = [
        json!({}),
        json!({ "choices": [name], "why": true, "dialect": "anthropic" }),
        json!({ "disabled": [name], "why": true, "dialect": "openai-chat", "profile": "p" }),
        json!({ "calls": [{ "id": "1", "name": name, "arguments": {} }] }),
        json!({ "profile": "p", "calls": [{ "id": "1", "name": name, "arguments": {} }] }),
        json!({ "dialect": "gemini", "calls": [{ "functionCall": { "name": name } }] }),
        json!({ "decision": "approve" }),
    ];
    let queries = [
        String::new(),
        "?profile=p".to_owned(),
        "?limit=1".to_owned(),
        format!("?q={words}"),
        format!("?cursor={name}"),
        format!("?disabled={name}"),
        format!("?choices={name}"),
    ];
    for route in routes::all().iter().filter(|route| !route.listens()) {
        for value in [name, "p", "x"] {
            for query in &queries {
                let path = route.with(value) + query;
                let bodies = if route.takes_body { &bodies[..] } else { &bodies[..1] };
                for body in bodies {
                    let body = body.to_string();
                    let lines = [&bearer(token), "Content-Type: application/json"];
                    let body = if route.takes_body { body.as_str() } else { "" };
                    if route.method != "GET" || !route.path.starts_with("/mcp") {
                        let head = head(route.method, &path, serving, &lines);
                        let asked = format!("{} {path} {body}", route.method);
                        answers.push((asked, serving.send(&head, body)));
                    }
                }
                if !["/v1/tools", "/v1/tools/{name}", "/v1/why/{tool}"].contains(&route.path) {
                    break;
                }
            }
            if !route.path.contains('{') {
                break;
            }
        }
    }
    answers
}

fn over_methods(serving: &Serving, token: &str, name: &str) -> Vec<(String, Answer)> {
    let mut answers = Vec::new();
    let reference = json!({ "type": "ref/prompt", "name": name });
    let asked = [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("tools/call", json!({ "name": name, "arguments": {} })),
        ("tools/call", json!({ "name": name, "arguments": { "x": 1 } })),
        ("tools/call", json!({ "name": name, "arguments": {}, "_meta": taking() })),
        ("tasks/get", json!({ "taskId": name, "_meta": taking() })),
        ("tasks/cancel", json!({ "taskId": name, "_meta": taking() })),
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": name })),
        ("resources/list", json!({})),
        ("resources/read", json!({ "uri": name })),
        ("resources/templates/list", json!({})),
        (
            "completion/complete",
            json!({ "ref": reference, "argument": { "name": "a", "value": "" } }),
        ),
        ("logging/setLevel", json!({ "level": "debug" })),
        ("ping", json!({})),
        (name, json!({})),
    ];
    // And every other one, with whatever could name the tool. What listens does not end.
    let others = METHODS.iter().copied().filter(|method| {
        *method != "subscriptions/listen" && asked.iter().all(|(known, _)| known != method)
    });
    let named = json!({ "name": name, "uri": name, "taskId": name, "requestId": name });
    let others: Vec<_> = others.map(|method| (method, named.clone())).collect();
    for (method, params) in asked.into_iter().chain(others) {
        for path in ["/mcp", "/mcp/p"] {
            let asked = format!("{path} {method} {params}");
            answers.push((asked, modern(serving, token, path, (method, params.clone()))));
        }
    }
    answers
}

/// An answer without what is new in each: names of batches and plans, and times.
fn plain(answer: &Answer, serving: &Serving) -> String {
    let status = answer.status;
    let mut text = answer.body.replace(&serving.address, "ADDRESS");
    let of_time =
        ["waited_us", "ran_us", "age_seconds", "seconds", "planned", "ended", "created_at", "at"];
    let of_sessions = ["page_key", "expires", "started"];
    // Tokens are guessed until they are counted: only how many figures there are is the same.
    if let Some((head, tail)) = text.split_once("\"tokens\":[")
        && let Some((figures, tail)) = tail.split_once(']')
    {
        text = format!("{head}{} figures{tail}", figures.split(',').count());
    }
    for key in of_time.iter().chain(&of_sessions).chain(&["tokens_counted"]) {
        let told = format!("\"{key}\":");
        let mut parts = text.split(&told);
        let first = parts.next().unwrap_or_default().to_owned();
        let rest = |part: &str| {
            let end = part.find([',', '}']).unwrap_or(part.len());
            part[end..].to_owned()
        };
        text = parts.fold(first, |text, part| text + &told + &rest(part));
    }
    // The words of this test have no letter before `g`, so that only names of ours are long
    // strings of hexadecimal digits. Fingerprints are kept: they are the same in both worlds.
    let mut plain = String::new();
    for piece in text.split_inclusive(|c: char| !c.is_ascii_hexdigit() && c != '-') {
        let digits = piece.trim_end_matches(|c: char| !c.is_ascii_hexdigit());
        let is_ours = digits.len() >= 32 && digits.len() < 64;
        plain += &if is_ours { piece.replace(digits, "ID") } else { piece.to_owned() };
    }
    format!("{status} {plain}")
}

fn tokens(serving: &Serving) -> Vec<String> {
    CALLERS.iter().map(|name| serving.token_of(name)).collect()
}

/// Holds one caller's two worlds against each other.
fn compare(world: &World, (all, token): (&Serving, &str), oracle: &Oracle, who: usize) -> usize {
    let alone = world.serve(oracle, Some(who));
    let own = alone.token_of(CALLERS[who]);
    let permitted = &world.permitted[who];
    let is_permitted =
        |(source, tool): &&(&'static str, Operation)| permitted.contains(&full(source, tool));
    let forbidden: Vec<_> = world.tools.iter().filter(|tool| !is_permitted(tool)).collect();
    let mut count = 0;
    for (source, tool) in forbidden.iter().take(2) {
        let name = full(source, tool);
        let before = oracle.asked().len();
        let here = questions(all, token, &name, &tool.word);
        let there = questions(&alone, &own, &name, &tool.word);
        for ((asked, here), (_, there)) in here.iter().zip(&there) {
            assert_eq!(plain(here, all), plain(there, &alone), "{asked} of {}", CALLERS[who]);
            // Only what the question said itself is ever said of a forbidden tool.
            let said = here.body.replace(&name, "").replace(&tool.word, "");
            for (source, other) in &forbidden {
                let names = [full(source, other), other.word.clone()];
                assert!(!names.iter().any(|name| said.contains(name)), "{asked}: {said}");
            }
        }
        assert_eq!(oracle.asked().len(), before, "{name} ran");
        count += here.len();
    }
    // What is permitted is listed, and can be called.
    let listed = all.ask_as(token, "GET", "/v1/tools?limit=1000", "").json();
    let listed = listed["tools"].as_array().unwrap().iter();
    let names: BTreeSet<_> = listed.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(&names, permitted);
    for name in permitted {
        let call = json!({ "name": name, "arguments": {} });
        let called = modern(all, token, "/mcp", ("tools/call", call));
        assert!(called.body.contains("ok"), "{name}: {called:?}");
    }
    count
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// How long a forbidden name and one that is nowhere take, each the median of many, in turns.
fn timing(serving: &Serving, token: &str, name: &str) -> (Duration, Duration) {
    let nowhere: String = name.chars().map(|c| if c == 'z' { 'y' } else { 'z' }).collect();
    let time = |name: &str| {
        let began = Instant::now();
        let call: Value = json!({ "name": name, "arguments": {} });
        modern(serving, token, "/mcp", ("tools/call", call));
        began.elapsed()
    };
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..200 {
        first.push(time(name));
        second.push(time(&nowhere));
    }
    (median(first), median(second))
}

#[test]
fn a_forbidden_tool_is_to_its_caller_as_one_that_is_not_there() {
    let out = &mut std::io::stdout();
    let mut chance = Chance::of("forbidden tools");
    let oracle = Oracle::start();
    let world = World::random(&mut chance);
    let all = world.serve(&oracle, None);
    let tokens = tokens(&all);
    let mut count = 0;
    for (who, token) in tokens.iter().enumerate() {
        count += compare(&world, (&all, token), &oracle, who);
    }
    writeln!(out, "forbidden tools: {count} questions in two worlds").unwrap();
    let forbidden = world.tools.iter().map(|(source, tool)| full(source, tool));
    let forbidden: Vec<_> = forbidden.filter(|name| !world.permitted[0].contains(name)).collect();
    if let Some(name) = forbidden.first() {
        // What makes a difference makes one each time, and what else runs here does not.
        let is_alike = (0..3).any(|_| {
            let (denied, absent) = timing(&all, &tokens[0], name);
            writeln!(out, "forbidden tools: denied after {denied:?}, absent after {absent:?}")
                .unwrap();
            denied.abs_diff(absent) < Duration::from_millis(2)
        });
        assert!(is_alike, "its time tells that `{name}` is there");
    }
}
