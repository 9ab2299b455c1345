//! Tools that are found by their meaning: by a model in a folder, by one behind an address, and by
//! their words when that is away.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::support::{Serving, bearer, eventually, head};
use super::wire::{message, modern};
use crate::process::Folder;

const TOOLS: [(&str, &str); 6] = [
    ("get_forecast", "Predicts rain, sun and temperature in a city."),
    ("send_invoice", "Sends a bill to a customer."),
    ("play_song", "Plays a track of an album."),
    ("translate_text", "Puts a text into another language."),
    ("book_table", "Reserves seats at a restaurant."),
    ("open_ticket", "Reports a fault of a machine to the workshop."),
];

fn serving(embedder: &str) -> Serving {
    let operation = |(name, summary): &(&str, &str)| {
        let operation = json!({
            "operationId": name, "summary": summary,
            "responses": { "200": { "description": "Done." } },
        });
        (format!("/{name}"), json!({ "get": operation }))
    };
    let paths: serde_json::Map<String, Value> = TOOLS.iter().map(operation).collect();
    let document =
        json!({ "openapi": "3.1.0", "info": { "title": "Odds", "version": "1" }, "paths": paths });
    let folder = Folder::new();
    folder.write("odds.json", &document.to_string());
    folder.write("key", "sk-of-the-endpoint-0123456789\n");
    folder.write(
        "crib.toml",
        &format!(
            "discovery = \"lazy\"\nallow = [\"*\"]\n{embedder}\n[[source]]\nid = \"odds\"\nopenapi = \
             {{ document = \"odds.json\", base_url = \"http://127.0.0.1:9\" }}\n"
        ),
    );
    Serving::start_in(folder, &[])
}

/// The names that a search finds, best first, and what became of its meaning.
fn search(serving: &Serving, question: &str) -> (Vec<String>, String) {
    let path = format!("/v1/tools?q={}", question.replace(' ', "%20"));
    let asked = head("GET", &path, serving, &[&bearer(&serving.token)]);
    let answer = serving.send(&asked, "").json();
    let names = answer["tools"].as_array().unwrap().iter();
    let names = names.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    (names, answer["meaning"].as_str().unwrap_or_default().to_owned())
}

/// A server that speaks `/v1/embeddings`: what is about music, about weather, and the rest.
struct Endpoint {
    address: String,
    is_silent: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
    heads: Arc<Mutex<String>>,
}

impl Endpoint {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (is_silent, asked) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let heads = Arc::<Mutex<String>>::default();
        let endpoint = Self {
            address,
            is_silent: Arc::clone(&is_silent),
            asked: Arc::clone(&asked),
            heads: Arc::clone(&heads),
        };
        // It ends with the process of the tests.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (is_silent, asked) = (Arc::clone(&is_silent), Arc::clone(&asked));
                let heads = Arc::clone(&heads);
                std::thread::spawn(move || answer(stream, &is_silent, &asked, &heads));
            }
        });
        endpoint
    }
}

fn answer(stream: TcpStream, is_silent: &AtomicBool, asked: &AtomicUsize, heads: &Mutex<String>) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut head, mut line, mut length) = (String::new(), String::new(), 0);
        while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
            let lower = line.to_lowercase();
            if let Some(bytes) = lower.strip_prefix("content-length:") {
                length = bytes.trim().parse().unwrap();
            }
            head += &line;
            line.clear();
        }
        if head.is_empty() {
            return;
        }
        heads.lock().unwrap().push_str(&head);
        asked.fetch_add(1, Ordering::SeqCst);
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        if is_silent.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_mins(1));
            return;
        }
        let body: Value = serde_json::from_slice(&body).unwrap();
        let texts = body["input"].as_array().unwrap().iter().enumerate();
        let data = texts.map(|(at, text)| json!({ "index": at, "embedding": vector(text) }));
        let told = json!({ "object": "list", "data": data.collect::<Vec<_>>() }).to_string();
        let told = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{told}",
            told.len()
        );
        reader.get_mut().write_all(told.as_bytes()).unwrap();
    }
}

fn vector(text: &Value) -> [f32; 3] {
    let text = text.as_str().unwrap();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    [
        f32::from(u8::from(has(&["song", "wedding"]))),
        f32::from(u8::from(has(&["forecast", "wet"]))),
        f32::from(u8::from(!has(&["song", "wedding", "forecast", "wet"]))),
    ]
}

#[test]
fn an_endpoint_finds_what_words_do_not_and_its_silence_costs_nobody_an_answer() {
    let endpoint = Endpoint::start();
    let serving = serving(&format!(
        "[embedder]\nendpoint = \"http://{}/v1\"\nmodel = \"small\"\nkey = \"${{file:key}}\"\n\
         within = \"2s\"\n",
        endpoint.address
    ));
    let wet = "is it going to be wet outside";
    assert!(eventually(|| search(&serving, wet).1 == "used"));
    let forecast = vec!["odds__get_forecast".to_owned()];
    assert_eq!(search(&serving, wet), (forecast.clone(), "used".to_owned()));
    let call = json!({ "name": "discover_tools", "arguments": { "query": "what at a wedding" } });
    let told = message(&modern(&serving, &serving.token, "/mcp", ("tools/call", call)));
    let structured = &told["result"]["structuredContent"];
    let first = (&structured["tools"][0]["name"], &structured["meaning"]);
    assert_eq!(first, (&json!("odds__play_song"), &json!("used")));

    endpoint.is_silent.store(true, Ordering::SeqCst);
    let started = Instant::now();
    let words = search(&serving, "send an invoice");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert_eq!(words, (vec!["odds__send_invoice".to_owned()], "failed".to_owned()));
    // It is left alone for a while, and what it was asked before is known.
    let asked = endpoint.asked.load(Ordering::SeqCst);
    assert_eq!(search(&serving, "play a song").1, "failed");
    assert_eq!(search(&serving, wet), (forecast, "used".to_owned()));
    assert_eq!(endpoint.asked.load(Ordering::SeqCst), asked);
    let told = || serving.told.lock().unwrap().clone();
    assert!(eventually(|| told().contains("tools are found by their words alone")));
    assert!(!told().contains("sk-of-the-endpoint"));
    let heads = endpoint.heads.lock().unwrap().to_lowercase();
    assert!(heads.contains("authorization: bearer sk-of-the-endpoint-0123456789"));
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_the_vectors_that_are_kept() {
    use std::os::unix::fs::PermissionsExt as _;

    let endpoint = Endpoint::start();
    let serving = serving(&format!(
        "[embedder]\nendpoint = \"http://{}/v1\"\nmodel = \"small\"\nkey = \"${{file:key}}\"\n",
        endpoint.address
    ));
    assert!(eventually(|| search(&serving, "what at a wedding").1 == "used"));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = serving.folder.path().join("state/toolcrib/vectors");
    let kept = || std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    let is_kept = |path: &Path| path.extension().is_some_and(|end| end == "vectors");
    assert!(eventually(|| kept().any(|file| is_kept(&file))));
    assert_eq!(mode(&folder), 0o700);
    for file in kept().filter(|file| is_kept(file)) {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn an_endpoint_that_is_not_there_leaves_the_words() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let serving = serving(&format!(
        "[embedder]\nendpoint = \"http://{gone}/v1\"\nmodel = \"small\"\nkey = \"${{file:key}}\"\n"
    ));
    let found = || search(&serving, "send an invoice");
    assert!(eventually(|| found().1 == "failed"));
    assert_eq!(found().0, ["odds__send_invoice"]);
}

/// The model that `cargo xtask peers` installs.
#[expect(clippy::disallowed_methods, reason = "the run names its peers by the environment")]
fn model() -> Option<String> {
    let folder = std::env::var("TOOLCRIB_MINILM").ok();
    if folder.is_none() {
        let mut output = std::io::stdout();
        writeln!(output, "[skipped] TOOLCRIB_MINILM names no model").unwrap();
    }
    folder
}

#[test]
fn a_model_in_a_folder_puts_what_is_meant_first() {
    let Some(model) = model() else { return };
    let question = "put on some music";
    let by_words = search(&serving(""), question);
    assert_eq!((by_words.0[0].as_str(), by_words.1.as_str()), ("odds__translate_text", ""));
    let serving = serving(&format!("[embedder]\nlocal = {}\n", json!(model)));
    assert!(eventually(|| search(&serving, question).1 == "used"));
    assert_eq!(search(&serving, question).0[0], "odds__play_song");
    // The vectors are kept for the next start, and for the command line.
    let found = serving.folder.run(&["search", "--json", "put", "on", "some", "music"]).json();
    assert_eq!(found["tools"][0]["name"], "odds__play_song");
    assert_eq!(found["meaning"], "used");
}
