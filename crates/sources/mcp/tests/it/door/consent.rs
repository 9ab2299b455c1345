//! Prompts and resources that a rule asks about: a person is asked over MCP before they are read.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolcrib_core::{
    BatchOptions, BoxFuture, CallKey, Caller, ClientSession, CodeResources, DoorHints, Host,
    HostQuestion, JsonFields, QuestionError, QuestionKind, ResourceOperation, ResourceRequest,
    Toolset, WithResources,
};
use toolcrib_engine::Crib;
use toolcrib_engine::rules::Rules;
use toolcrib_mcp::{McpEra, McpServerSettings};

use super::own_client::in_front_of;
use super::support::open;
use super::wire::{begin, modern, old};
use crate::support::{crib, source};

/// How often something was read.
type Reads = Arc<AtomicUsize>;

fn fields(value: Value) -> JsonFields {
    let Value::Object(fields) = value else { panic!("`{value}` is no object") };
    fields
}

/// A prompt that says its arguments, a resource that says its address, and a template.
fn library(reads: &Reads) -> CodeResources {
    let prompt = Arc::clone(reads);
    let resource = move || {
        let reads = Arc::clone(reads);
        move |params: JsonFields, _| {
            reads.fetch_add(1, Ordering::Relaxed);
            let uri = params["uri"].clone();
            let contents = json!({ "contents": [{ "uri": uri, "text": uri }] });
            std::future::ready(Ok(fields(contents)))
        }
    };
    CodeResources::default()
        .prompt(fields(json!({ "name": "letter" })), move |params, _| {
            prompt.fetch_add(1, Ordering::Relaxed);
            let said = params.get("arguments").cloned().unwrap_or_default().to_string();
            let content = json!({ "type": "text", "text": said });
            let messages = json!({ "messages": [{ "role": "user", "content": content }] });
            std::future::ready(Ok(fields(messages)))
        })
        .resource(fields(json!({ "uri": "note://one", "name": "one" })), resource())
        .template(fields(json!({ "uriTemplate": "file://{+path}", "name": "any" })), resource())
        .completion(|_, _| async {
            Ok(fields(json!({ "completion": { "values": ["never", "told"] } })))
        })
}

async fn door(settings: McpServerSettings) -> (String, Reads) {
    let reads = Reads::default();
    let shelf = WithResources::new(Toolset::default(), Arc::new(library(&reads)));
    let rules = Rules::parse("ask = [\"category:prompt\", \"category:resource\"]").unwrap();
    let hints = DoorHints { takes_forms: Some("elicitation"), ..DoorHints::default() };
    let builder = Crib::builder().policy(rules).hints(hints);
    let crib = builder.source("shelf", shelf).build().await;
    (open(crib, &[], settings).await, reads)
}

fn form() -> Value {
    json!({ "elicitation": { "form": {} } })
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "approve": true } })
}

const LETTER: &str = "prompts/get";
const NOTE: &str = "resources/read";

fn letter(to: &str) -> Value {
    json!({ "name": "letter", "arguments": { "to": to } })
}

fn note(uri: &str) -> Value {
    json!({ "uri": uri })
}

fn back(mut params: Value, state: &Value, answer: &Value) -> Value {
    params["requestState"] = state.clone();
    params["inputResponses"] = json!({ "approve": answer });
    params
}

/// Inquires, and gives what a person is asked with the state under which it may go on.
async fn asked(url: &str, method: &str, params: Value) -> (String, Value) {
    let answer = modern(url, "ann", method, params, form()).await.answer();
    let result = &answer["result"];
    assert_eq!(result["resultType"], "input_required", "{answer}");
    let question = &result["inputRequests"]["approve"];
    assert_eq!(question["method"], "elicitation/create", "{answer}");
    let message = question["params"]["message"].as_str().unwrap().to_owned();
    (message, result["requestState"].clone())
}

#[tokio::test]
async fn a_modern_client_approves_one_reading_once() {
    let (url, reads) = door(McpServerSettings::default()).await;
    for (method, params, question, read) in [
        (
            LETTER,
            letter("bob"),
            "May the prompt `letter` be read? the rules ask for consent. Arguments: {\"to\":\"bob\"}",
            "/messages/0/content/text",
        ),
        (
            NOTE,
            note("note://one"),
            "May the resource `note://one` be read? the rules ask for consent",
            "/contents/0/text",
        ),
        (
            NOTE,
            note("file://a/b?c"),
            "May the resource `file://a/b?c` be read? the rules ask for consent",
            "/contents/0/text",
        ),
    ] {
        let (message, state) = asked(&url, method, params.clone()).await;
        assert_eq!((message.as_str(), reads.load(Ordering::Relaxed)), (question, 0));
        let params = back(params, &state, &yes());
        let done = modern(&url, "ann", method, params.clone(), form()).await.answer();
        assert_eq!(done["result"]["resultType"], "complete", "{done}");
        let wanted =
            if method == LETTER { json!(r#"{"to":"bob"}"#) } else { params["uri"].clone() };
        assert_eq!(done["result"].pointer(read), Some(&wanted), "{done}");
        let replayed = modern(&url, "ann", method, params, form()).await.answer();
        assert_eq!(replayed["error"]["code"], -32602, "{replayed}");
        assert_eq!(reads.swap(0, Ordering::Relaxed), 1, "{question}");
    }
}

#[tokio::test]
async fn no_other_reading_caller_or_answer_redeems_an_approval() {
    let (url, reads) = door(McpServerSettings::default()).await;
    let (_, first) = asked(&url, LETTER, letter("bob")).await;
    let (_, second) = asked(&url, NOTE, note("note://one")).await;
    let bent = Value::from(format!("{}x", first.as_str().unwrap()));
    for (caller, method, params, state) in [
        ("bob", LETTER, letter("bob"), &first),
        ("ann", LETTER, letter("eve"), &first),
        ("ann", LETTER, json!({ "name": "letter" }), &first),
        ("ann", LETTER, letter("bob"), &second),
        ("ann", LETTER, letter("bob"), &bent),
        ("ann", LETTER, letter("bob"), &json!("t_0000.x")),
        ("ann", NOTE, note("note://one"), &first),
        ("ann", NOTE, note("file://note"), &second),
        ("bob", NOTE, note("note://one"), &second),
    ] {
        let params = back(params, state, &yes());
        let reply = modern(&url, caller, method, params.clone(), form()).await.answer();
        assert_eq!(reply["error"]["code"], -32602, "{caller} {params}: {reply}");
        assert_eq!(reads.load(Ordering::Relaxed), 0, "{caller} {params}");
    }
    // A tool of the same name and the same arguments is another thing.
    let called = modern(&url, "ann", "tools/call", back(letter("bob"), &first, &yes()), form());
    assert!(called.await.answer().get("error").is_some());
    // A state without an answer asks again.
    let mut params = letter("bob");
    params["requestState"] = first;
    let again = modern(&url, "ann", LETTER, params, form()).await.answer();
    let state = again["result"]["requestState"].clone();
    let done = modern(&url, "ann", LETTER, back(letter("bob"), &state, &yes()), form()).await;
    assert_eq!(done.answer()["result"]["resultType"], "complete", "{again}");
    assert_eq!(reads.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn whatever_is_no_plain_yes_refuses() {
    let (url, reads) = door(McpServerSettings::default()).await;
    for (answer, told) in [
        (json!({ "action": "decline" }), "refused: the user refused it"),
        (json!({ "action": "accept", "content": { "approve": false } }), "the user refused it"),
        (json!({ "action": "cancel" }), "nobody decided"),
        (json!({ "action": "accept" }), "nobody decided"),
        (json!({ "action": "accept", "content": { "approve": "true" } }), "nobody decided"),
        (json!({ "action": "yes" }), "nobody decided"),
    ] {
        let (_, state) = asked(&url, NOTE, note("note://one")).await;
        for (params, told) in [
            (back(note("note://one"), &state, &answer), told),
            // It was answered, and that is the end of it.
            (back(note("note://one"), &state, &yes()), "`requestState`"),
        ] {
            let reply = modern(&url, "ann", NOTE, params, form()).await.answer();
            assert_eq!(reply["error"]["code"], -32602, "{reply}");
            assert!(reply["error"]["message"].as_str().unwrap().contains(told), "{reply}");
        }
    }
    assert_eq!(reads.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_client_that_can_ask_nobody_is_refused_and_told_why() {
    let (url, reads) = door(McpServerSettings::default()).await;
    let told = "refused: the rules ask for consent; a person would have to be asked, and this \
                client can ask nobody: read it through one that takes forms (`elicitation`), or \
                permit it by a rule";
    for can in [json!({}), json!({ "elicitation": { "url": {} } })] {
        for (method, params) in [(LETTER, letter("bob")), (NOTE, note("note://one"))] {
            let wanted = json!({
                "code": -32021, "message": told,
                "data": { "requiredCapabilities": { "elicitation": { "form": {} } } },
            });
            let reply = modern(&url, "ann", method, params.clone(), can.clone()).await.answer();
            assert_eq!(reply["error"], wanted, "{reply}");
            let session = begin(&url, "ann", "2025-11-25", can.clone()).await;
            let message = json!({ "jsonrpc": "2.0", "id": 2, "method": method, "params": params });
            let reply = old(&url, "ann", Some(&session), message).await.answer();
            assert_eq!(reply["error"], wanted, "{reply}");
        }
    }
    assert_eq!(reads.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn where_too_many_wait_nothing_is_read_unasked() {
    let settings = McpServerSettings { most_waiting: 4, ..McpServerSettings::default() };
    let (url, reads) = door(settings).await;
    let (_, state) = asked(&url, NOTE, note("note://one")).await;
    let second = modern(&url, "ann", NOTE, note("note://one"), form()).await.answer();
    let told = second["error"]["message"].as_str().unwrap();
    assert!(told.contains("nobody could be asked"), "{second}");
    assert_eq!(reads.load(Ordering::Relaxed), 0);
    let done = modern(&url, "ann", NOTE, back(note("note://one"), &state, &yes()), form()).await;
    assert_eq!(done.answer()["result"]["resultType"], "complete");
}

#[tokio::test]
async fn completing_and_following_stay_refused() {
    let (url, reads) = door(McpServerSettings::default()).await;
    let told = |reply: &Value| {
        let told = reply["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert!(told.contains("not asked about: permit it by a rule"), "{reply}");
    };
    let complete = json!({
        "ref": { "type": "ref/prompt", "name": "letter" },
        "argument": { "name": "to", "value": "n" },
    });
    told(&modern(&url, "ann", "completion/complete", complete, form()).await.answer());
    let session = begin(&url, "ann", "2025-11-25", form()).await;
    let follow = json!({
        "jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": note("note://one"),
    });
    told(&old(&url, "ann", Some(&session), follow).await.answer());
    assert_eq!(reads.load(Ordering::Relaxed), 0);
}

/// Says the same to every form, and writes down what it is asked.
struct Person {
    answer: Value,
    asked: Mutex<Vec<Value>>,
}

impl Host for Person {
    fn answers(&self) -> &[QuestionKind] {
        &[QuestionKind::Form]
    }

    fn ask(&self, _: CallKey, ask: HostQuestion) -> BoxFuture<'_, Result<Value, QuestionError>> {
        self.asked.lock().unwrap().push(ask.params["message"].clone());
        Box::pin(std::future::ready(Ok(self.answer.clone())))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_person_at_a_client_of_each_era_is_asked_and_heard() {
    for era in [McpEra::Legacy, McpEra::Modern] {
        let (url, reads) = door(McpServerSettings::default()).await;
        let outer = crib(&source(in_front_of(&url, era))).await;
        for (answer, permitted) in [(yes(), true), (json!({ "action": "decline" }), false)] {
            let person = Person { answer, asked: Mutex::default() };
            let person = Arc::new(person);
            for (about, params) in [
                (ResourceOperation::Prompt, letter("bob")),
                (ResourceOperation::Resource, note("file://x/y")),
            ] {
                let visitor = ClientSession { caller: Arc::new(Caller::local()), session: None };
                let host = Some(Arc::clone(&person) as Arc<dyn Host>);
                let options = BatchOptions { host, ..BatchOptions::default() };
                let inquiry = ResourceRequest { about: about.clone(), params: fields(params) };
                let read = outer.inquire(&visitor, inquiry, options).await;
                assert_eq!(read.is_ok(), permitted, "{era:?} {about:?}: {read:?}");
                assert_eq!(reads.swap(0, Ordering::Relaxed), usize::from(permitted), "{era:?}");
            }
            let asked = person.asked.lock().unwrap().clone();
            let ask = "be read? the rules ask for consent";
            let questions = [
                json!(format!("May the prompt `letter` {ask}. Arguments: {{\"to\":\"bob\"}}")),
                json!(format!("May the resource `file://x/y` {ask}")),
            ];
            assert_eq!(asked, questions, "{era:?}");
        }
    }
}
