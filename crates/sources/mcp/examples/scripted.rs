//! A server over standard input and output that does what a test needs, good and bad: raw JSON,
//! and no SDK that would keep it from saying odd things.
//!
//! `scripted ERA [OPTION]...`; what the options mean stands where they are read.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test server may die of what it does not expect"
)]

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

fn main() {
    let mut words = std::env::args().skip(1);
    let server = Arc::new(Server {
        era: words.next().unwrap(),
        options: words.collect(),
        calls: AtomicU64::new(0),
        asked: AtomicU64::new(0),
        waiting: Mutex::default(),
        noted: Mutex::default(),
        tasks: Mutex::default(),
    });
    if let Some(pause) = server.number("slow-start") {
        std::thread::sleep(Duration::from_millis(pause));
    }
    let mut stderr = std::io::stderr();
    let _ = writeln!(stderr, "scripted server of the {} era", server.era);
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let server = Arc::clone(&server);
        // Each message on a thread of its own, so that slow ones keep nobody waiting.
        std::thread::spawn(move || server.hear(&message));
    }
}

struct Server {
    era: String,
    options: Vec<String>,
    calls: AtomicU64,
    asked: AtomicU64,
    waiting: Mutex<HashMap<String, Sender<Value>>>,
    noted: Mutex<Vec<Value>>,
    /// What each was begun with, and how often it was asked about.
    tasks: Mutex<Vec<(Value, u64)>>,
}

impl Server {
    fn has(&self, option: &str) -> bool {
        self.options.iter().any(|own| own == option)
    }

    fn text(&self, option: &str) -> Option<&str> {
        let values = self.options.iter().filter_map(|own| own.split_once('='));
        values.into_iter().find(|(name, _)| *name == option).map(|(_, value)| value)
    }

    fn number(&self, option: &str) -> Option<u64> {
        self.text(option).map(|value| value.parse().unwrap())
    }

    fn hear(&self, message: &Value) {
        let id = message["id"].clone();
        match message["method"].as_str() {
            Some("initialize") if self.era != "modern" => self.answer(&id, &self.hello(message)),
            Some("server/discover") if self.era == "modern" => self.answer(&id, &modern_hello()),
            Some("server/discover") if self.era == "empty" => self.answer(&id, &json!({})),
            // Some servers say nothing at all to what they do not know.
            Some("server/discover") if self.era == "silent" => {}
            Some("tools/list") => self.list(&id, &message["params"]),
            Some("tools/call") => self.call(&id, &message["params"]),
            Some("prompts/list") if self.has("prompts") => {
                self.answer(&id, &json!({ "prompts": [{ "name": "greet" }] }));
            }
            Some(method) if method.starts_with("tasks/") && self.has("tasks") => {
                self.task(&id, method, &message["params"]);
            }
            Some("logging/setLevel") => self.answer(&id, &json!({})),
            Some("subscriptions/listen") => say(&json!({
                "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
                "params": {
                    "notifications": message["params"]["notifications"],
                    "_meta": {"io.modelcontextprotocol/subscriptionId": id},
                },
            })),
            Some("notifications/com.example/note") => {
                self.noted.lock().unwrap().push(message["params"].clone());
            }
            Some("com.example/noted") => {
                self.answer(&id, &json!({ "noted": *self.noted.lock().unwrap() }));
            }
            Some(method @ ("com.example/echo" | "com.example/ask" | "com.example/refuse")) => {
                self.extension(&id, method, &message["params"]);
            }
            Some("prompts/get") if message["params"]["name"] == "unlisted" => self.answer(
                &id,
                &json!({ "messages": [], "description": message["params"]["arguments"] }),
            ),
            Some("completion/complete") => self.answer(
                &id,
                &json!({ "completion": { "values": [message["params"]["ref"]["name"]] } }),
            ),
            Some(_) if id.is_null() => note(message),
            Some(_) => refuse(&id, -32601, "no such method"),
            None => {
                let waiting = self.waiting.lock().unwrap().remove(&id.to_string());
                waiting.map(|waiting| waiting.send(message.clone()));
            }
        }
    }

    fn hello(&self, message: &Value) -> Value {
        if let Some(path) = self.text("hello") {
            return serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        }
        let tells = json!({"listChanged": !self.has("tells-nothing")});
        let mut capabilities = json!({"tools": tells, "logging": {}});
        if self.has("prompts") {
            capabilities["prompts"] = tells;
        }
        if self.has("tasks") {
            capabilities["tasks"] = json!({"cancel": {}, "requests": {"tools": {"call": {}}}});
        }
        json!({
            "protocolVersion": self.text("revision").unwrap_or("2025-11-25"),
            "capabilities": capabilities,
            "serverInfo": {"name": "scripted", "version": "1.2.3"},
            "instructions": format!("Declared: {}", message["params"]["capabilities"]),
        })
    }

    fn list(&self, id: &Value, params: &Value) {
        if self.has("no-list") {
            return refuse(id, -32603, "the list is lost");
        }
        if self.has("list-hangs") {
            return;
        }
        // By the cursor that is asked for, the text of each result as it is written.
        if let Some(path) = self.text("raw-pages") {
            let pages = std::fs::read_to_string(path).unwrap();
            let pages: HashMap<String, String> = serde_json::from_str(&pages).unwrap();
            let cursor = params.get("cursor").map_or("first".to_owned(), Value::to_string);
            let Some(result) = pages.get(&cursor) else { return refuse(id, -32602, "no page") };
            return write(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
        }
        let Some(pages) = self.number("pages") else {
            return self.answer(id, &json!({ "tools": self.tools() }));
        };
        let page: u64 = params["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
        let next = if self.has("circle") { (page + 1) % 3 } else { page + 1 };
        let mut answer = json!({ "tools": [tool(&format!("tool_{page}"))] });
        if next < pages {
            answer["nextCursor"] = next.to_string().into();
        }
        self.answer(id, &answer);
    }

    fn tools(&self) -> Vec<Value> {
        if let Some(path) = self.text("list") {
            return serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        }
        let names =
            ["count", "rich", "fail", "wrong", "gone", "progress", "log", "ask", "ask_model"];
        let mut tools: Vec<_> = names.iter().map(|name| tool(name)).collect();
        for name in [
            "slow",
            "hang",
            "die",
            "odd",
            "huge",
            "line",
            "deep",
            "env",
            "change",
            "ask_modern",
            "late",
            "last_words",
        ] {
            tools.push(tool(name));
        }
        let mut echo = tool("echo");
        echo["annotations"] = json!({"readOnlyHint": true});
        let mut research = tool("research");
        research["execution"] = json!({"taskSupport": "required"});
        tools.extend([echo, tool("level"), research]);
        if self.has("reads") {
            for tool in &mut tools {
                tool["annotations"] = json!({"readOnlyHint": true});
            }
        }
        tools
    }

    fn call(&self, id: &Value, params: &Value) {
        let arguments = &params["arguments"];
        let number = |name: &str| arguments[name].as_u64().unwrap_or_default();
        match params["name"].as_str().unwrap() {
            "echo" => self.tell(id, &arguments.to_string()),
            "count" => {
                let count = self.calls.fetch_add(1, Ordering::AcqRel) + 1;
                self.tell(id, &format!("{count} of {}", std::process::id()));
            }
            "rich" => self.answer(id, &rich()),
            "fail" => self.answer(
                id,
                &json!({
                    "content": [{"type": "text", "text": "the disk is full"}], "isError": true,
                }),
            ),
            "wrong" => refuse(id, -32602, "`x` must be\u{1b}[2J positive"),
            "gone" => refuse(id, -32601, "no such tool"),
            "progress" => self.progress(id, &params["_meta"]["progressToken"], number("pause")),
            "log" => self.log(id, arguments),
            "level" => {
                let level = &params["_meta"]["io.modelcontextprotocol/logLevel"];
                self.tell(id, &level.to_string());
            }
            "ask" => self.ask(
                id,
                "elicitation/create",
                &question(params).unwrap_or_else(|| {
                    json!({
                        "message": "Sure?", "requestedSchema": {"type": "object", "properties": {}},
                        "x-unknown": 7,
                    })
                }),
                number("pause"),
            ),
            "ask_model" => self.ask(
                id,
                "sampling/createMessage",
                &json!({
                    "messages": [], "maxTokens": 3,
                }),
                0,
            ),
            "ask_modern" => self.ask_modern(id, params),
            "research" if self.has("tasks") => self.research(id, params),
            "research" => self.tell(id, "no task"),
            _ => self.misbehave(id, params),
        }
    }

    /// Begins a task, as it is done here alone.
    fn research(&self, id: &Value, params: &Value) {
        let arguments = &params["arguments"];
        if params["task"].is_null() {
            return refuse(id, -32601, "it runs as a task alone");
        }
        if arguments["at_once"] == true {
            return self.tell(id, "at once");
        }
        if let Some(path) = arguments["file"].as_str() {
            let mut file = std::fs::File::options().append(true).open(path).unwrap();
            file.write_all(b"begun\n").unwrap();
        }
        let mut tasks = self.tasks.lock().unwrap();
        tasks.push((arguments.clone(), 0));
        let task = state(tasks.len() - 1, "working", "0 looks");
        drop(tasks);
        self.answer(id, &json!({ "task": task }));
    }

    /// A task of which is asked: it works for as many looks as its call said, and then `ends` so.
    fn task(&self, id: &Value, method: &str, params: &Value) {
        let place: usize = params["taskId"].as_str().unwrap()[1..].parse().unwrap();
        let mut tasks = self.tasks.lock().unwrap();
        let (arguments, looks) = &mut tasks[place];
        let (arguments, ends) = (arguments.clone(), arguments["ends"].as_str().unwrap().to_owned());
        *looks += u64::from(method == "tasks/get");
        let looks = *looks;
        drop(tasks);
        match method {
            "tasks/cancel" => {
                let _ = writeln!(std::io::stderr(), "task {place} cancelled");
                self.answer(id, &state(place, "cancelled", ""));
            }
            "tasks/get" if looks < arguments["looks"].as_u64().unwrap_or(2) => {
                if looks == 1 && arguments["asks"] == true {
                    let question = json!({
                        "message": format!("Is it {}?", arguments["nonce"]),
                        "requestedSchema": {"type": "object", "properties": {}},
                        "_meta": {"io.modelcontextprotocol/related-task": {"taskId": params["taskId"]}},
                    });
                    say(&json!({
                        "jsonrpc": "2.0", "id": format!("between {place}"),
                        "method": "elicitation/create", "params": question,
                    }));
                }
                // Each thing is said twice.
                self.answer(id, &state(place, "working", &format!("{} looks", looks / 2)));
                if arguments["dies"] == true {
                    std::process::exit(3);
                }
            }
            "tasks/get" => self.answer(id, &state(place, &ends, "that is it")),
            _ if ends == "input_required" => {
                let question = json!({
                    "message": "Sure?", "requestedSchema": {"type": "object", "properties": {}},
                    "_meta": {"io.modelcontextprotocol/related-task": {"taskId": params["taskId"]}},
                });
                self.ask(id, "elicitation/create", &question, 0);
            }
            _ if !arguments["refused"].is_null() => {
                let code = arguments["refused"].as_i64().unwrap();
                refuse(id, i32::try_from(code).unwrap(), "it is lost");
            }
            _ => self.answer(
                id,
                &json!({
                    "content": [{"type": "text", "text": format!("{ends} after {looks} looks")}],
                    "isError": ends == "failed",
                    "_meta": {"io.modelcontextprotocol/related-task": {"taskId": params["taskId"]}},
                }),
            ),
        }
    }

    /// The calls that end in another way than well.
    fn misbehave(&self, id: &Value, params: &Value) {
        let arguments = &params["arguments"];
        let number = |name: &str| arguments[name].as_u64().unwrap_or_default();
        match params["name"].as_str().unwrap() {
            "slow" | "late" => self.after(id, number("pause"), &arguments["nonce"]),
            "hang" => {}
            "die" => {
                let _ = writeln!(std::io::stderr(), "dying as asked");
                std::process::exit(3);
            }
            "last_words" => {
                self.tell(id, &"x".repeat(usize::try_from(number("bytes")).unwrap()));
                std::process::exit(3);
            }
            "odd" => say(&json!({"jsonrpc": "2.0", "id": id, "result": [1, 2]})),
            // One line of exactly so many bytes.
            "line" => {
                let text = |x: &str| {
                    let content = format!(r#"[{{"type":"text","text":"{x}"}}]"#);
                    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":{content}}}}}"#)
                };
                let bytes = usize::try_from(number("bytes")).unwrap();
                write(&text(&"x".repeat(bytes - text("").len())));
            }
            "huge" => self.tell(id, &"x".repeat(usize::try_from(number("bytes")).unwrap())),
            "deep" => {
                let depth = usize::try_from(number("depth")).unwrap();
                let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
                // Or what is no JSON at all.
                let nested = arguments["raw"].as_str().unwrap_or(&nested);
                let said = format!(r#""result":{{"content":[],"x":{nested}}}"#);
                let text = match arguments["id"].as_str() {
                    Some("last") => format!(r#"{{"jsonrpc":"2.0",{said},"id":{id}}}"#),
                    Some(_) => format!(r#"{{"jsonrpc":"2.0",{said}}}"#),
                    None => format!(r#"{{"jsonrpc":"2.0","id":{id},{said}}}"#),
                };
                write(&text);
            }
            "env" => {
                let names: Vec<_> = std::env::vars().map(|(name, _)| name).collect();
                self.tell(id, &names.join(" "));
            }
            "change" => {
                let list = arguments["list"].as_str().unwrap_or("tools");
                let method = format!("notifications/{list}/list_changed");
                say(&json!({"jsonrpc": "2.0", "method": method}));
                self.tell(id, "told");
            }
            _ => refuse(id, -32602, "unknown tool"),
        }
    }

    /// Methods that the protocol does not define.
    fn extension(&self, id: &Value, method: &str, params: &Value) {
        let mut said = params.clone();
        let meta = said.as_object_mut().and_then(|said| said.remove("_meta"));
        let of_others = meta.is_some_and(|meta| meta.to_string().contains("canary"));
        match method {
            "com.example/echo" => self.answer(
                id,
                &json!({
                    "content": said, "x-new": [1], "_meta": {"com.example/a": of_others},
                    "resultType": if self.era == "modern" { "com.example/own" } else { "complete" },
                }),
            ),
            "com.example/ask" if self.era == "modern" => self.ask_modern(id, params),
            "com.example/ask" => {
                self.ask(id, "elicitation/create", &json!({"message": "Sure?"}), 0);
            }
            _ => say(&json!({"jsonrpc": "2.0", "id": id, "error": {
                "code": -32050, "message": "not today", "data": {"why": [1]},
            }})),
        }
    }

    /// Writes a line of log: `late`, of no call, since its answer is there, and a change after it.
    fn log(&self, id: &Value, arguments: &Value) {
        let line = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {
            "level": arguments["level"].as_str().unwrap_or("warning"),
            "logger": "scripted", "data": {"nonce": arguments["nonce"]}, "x-new": 1,
        }});
        let is_late = arguments["late"] == true;
        if !is_late {
            say(&line);
        }
        self.after(id, arguments["pause"].as_u64().unwrap_or_default(), &arguments["nonce"]);
        if is_late {
            say(&line);
            say(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
        }
    }

    fn after(&self, id: &Value, pause: u64, nonce: &Value) {
        std::thread::sleep(Duration::from_millis(pause));
        self.tell(id, &format!("answer to {nonce}"));
    }

    fn progress(&self, id: &Value, token: &Value, pause: u64) {
        for done in 1..=3 {
            std::thread::sleep(Duration::from_millis(pause));
            say(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {
                "progressToken": token, "progress": done, "total": 3, "message": format!("step {done}"),
            }}));
        }
        std::thread::sleep(Duration::from_millis(pause));
        self.tell(id, "done");
    }

    fn ask(&self, id: &Value, method: &str, params: &Value, pause: u64) {
        std::thread::sleep(Duration::from_millis(pause));
        let own = format!("q{}", self.asked.fetch_add(1, Ordering::AcqRel));
        let (sender, answer) = channel();
        self.waiting.lock().unwrap().insert(json!(own).to_string(), sender);
        say(&json!({"jsonrpc": "2.0", "id": own, "method": method, "params": params}));
        let mut answer = answer.recv_timeout(Duration::from_secs(20)).unwrap();
        if params["mode"] == "url" {
            say(&json!({
                "jsonrpc": "2.0", "method": "notifications/elicitation/complete",
                "params": {"elicitationId": params["elicitationId"], "x-new": 1},
            }));
        }
        let answer = if answer["error"].is_null() {
            answer["result"].take()
        } else {
            answer["error"].take()
        };
        self.tell(id, &answer.to_string());
    }

    /// Asks as the new era does: by an answer that wants the call again with more in it.
    fn ask_modern(&self, id: &Value, params: &Value) {
        if params["requestState"] != "round 1" {
            let question = question(params).unwrap_or_else(|| json!({"message": "Sure?"}));
            let mut sure = json!({"method": "elicitation/create", "params": question});
            let mut asks = json!({"resultType": "input_required", "requestState": "round 1"});
            let more = |name: &str| params["arguments"][name].as_object().cloned();
            extend(&mut sure, more("beside"));
            extend(&mut asks, more("around"));
            asks["inputRequests"] = json!({ "sure": sure });
            return self.answer(id, &asks);
        }
        let declared = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        self.tell(id, &json!([params["inputResponses"], declared]).to_string());
    }

    fn tell(&self, id: &Value, text: &str) {
        self.answer(id, &json!({ "content": [{"type": "text", "text": text}] }));
    }

    fn answer(&self, id: &Value, result: &Value) {
        let mut result = result.clone();
        if self.era == "modern" && result.get("resultType").is_none() {
            result["resultType"] = "complete".into();
        }
        if self.has("besides") && result.get("content").is_none() {
            result["_meta"]["com.example/a"] = json!("hidden-word");
            result["x-new"] = json!([1]);
            result["ttlMs"] = json!(7);
        }
        say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }
}

fn state(place: usize, status: &str, said: &str) -> Value {
    json!({
        "taskId": format!("t{place}"), "status": status, "statusMessage": said, "ttl": null,
        "createdAt": "2026-01-01T00:00:00Z", "pollInterval": 30,
    })
}

/// What a call wants to have asked.
fn question(params: &Value) -> Option<Value> {
    params["arguments"].get("question").cloned()
}

fn extend(fields: &mut Value, more: Option<serde_json::Map<String, Value>>) {
    fields.as_object_mut().unwrap().extend(more.unwrap_or_default());
}

/// Leaves a trace of every cancellation where a test can see it.
fn note(message: &Value) {
    if message["method"] == "notifications/cancelled" {
        let _ = writeln!(std::io::stderr(), "cancelled {}", message["params"]["requestId"]);
    }
}

fn refuse(id: &Value, code: i32, message: &str) {
    say(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}));
}

fn modern_hello() -> Value {
    json!({
        "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": true}},
        "ttlMs": 0, "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "scripted", "version": "2"}},
    })
}

fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}. And more."), "inputSchema": {"type": "object"}})
}

/// Every kind of content, each with fields that nobody knows.
fn rich() -> Value {
    json!({
        "content": [
            {"type": "text", "text": "hello", "annotations": {"audience": ["user"]}, "x-new": 1},
            {"type": "image", "data": "aGk=", "mimeType": "image/png", "x-new": 2},
            {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "inside", "x-new": 3}},
            {"type": "resource", "resource": {"uri": "file:///a/b.bin", "blob": "aGk="}},
            {"type": "resource_link", "uri": "file:///c", "name": "c", "size": 12},
            {"type": "hologram", "beam": true},
        ],
        "structuredContent": {"answer": 42}, "_meta": {"trace": "t1"}, "x-new": "top",
    })
}

fn say(message: &Value) {
    write(&message.to_string());
}

fn write(line: &str) {
    let mut stdout = std::io::stdout().lock();
    // Whoever reads may be gone; then there is nobody to tell.
    let _ = stdout.write_all(format!("{line}\n").as_bytes()).and_then(|()| stdout.flush());
}
