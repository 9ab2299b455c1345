//! What a server tells and asks while a call runs reaches the host of that call and nobody else.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_core::{
    BatchOptions, BoxFuture, CallKey, FormFallback, Host, HostQuestion, LogEntry, LogLevel,
    Progress, QuestionError, QuestionKind,
};
use toolcrib_engine::Crib;

use toolcrib_testkit::hostile::HostileServer;

use crate::over_http;
use crate::support::{crib, run_with, settings, source};

/// Writes down what it hears and answers every question it knows.
#[derive(Default)]
struct Listener {
    answers: Vec<QuestionKind>,
    /// How long an answer takes.
    pause: Duration,
    heard: Mutex<Vec<Value>>,
}

impl Host for Listener {
    fn progress(&self, _: CallKey, progress: Progress) {
        self.hear(json!([progress.done, progress.total, progress.message]));
    }

    fn log(&self, _: CallKey, entry: LogEntry) {
        self.hear(serde_json::to_value(entry).unwrap());
    }

    fn answers(&self) -> &[QuestionKind] {
        &self.answers
    }

    fn ask(&self, _: CallKey, ask: HostQuestion) -> BoxFuture<'_, Result<Value, QuestionError>> {
        self.hear(json!([ask.question, ask.params]));
        Box::pin(async {
            tokio::time::sleep(self.pause).await;
            Ok(json!({"action": "accept", "content": {"yes": true}}))
        })
    }
}

impl Listener {
    fn with(answers: &[QuestionKind]) -> Arc<Self> {
        Self::slow(answers, Duration::ZERO)
    }

    fn slow(answers: &[QuestionKind], pause: Duration) -> Arc<Self> {
        Arc::new(Self { answers: answers.to_vec(), pause, heard: Mutex::default() })
    }

    fn hear(&self, what: Value) {
        self.heard.lock().unwrap().push(what);
    }

    fn heard(&self) -> Vec<Value> {
        self.heard.lock().unwrap().clone()
    }
}

async fn heard_by(crib: &Crib, host: &Arc<Listener>, name: &str, arguments: Value) -> String {
    let host = Some(Arc::clone(host) as Arc<dyn Host>);
    let options = BatchOptions { host, unheard: FormFallback::PutAway, ..BatchOptions::default() };
    run_with(crib, name, arguments, options).await.text()
}

#[tokio::test]
async fn progress_comes_in_order_and_before_the_answer() {
    for era in ["legacy", "modern"] {
        let crib = crib(&source(settings(&[era]))).await;
        let (one, two) = (Listener::with(&[]), Listener::with(&[]));
        tokio::join!(
            heard_by(&crib, &one, "progress", json!({"pause": 0})),
            heard_by(&crib, &two, "progress", json!({"pause": 30})),
        );
        let steps = |n: f64| json!([n, 3.0, format!("step {n}")]);
        assert_eq!(one.heard(), [1.0, 2.0, 3.0].map(steps));
        assert_eq!(two.heard(), one.heard());
    }
}

#[tokio::test]
async fn a_log_line_is_for_the_only_call_there_is_or_for_nobody() {
    let crib = crib(&source(settings(&["legacy"]))).await;
    let host = Listener::with(&[]);
    heard_by(&crib, &host, "log", json!({"nonce": 1})).await;
    let line = json!({"level": "warning", "logger": "scripted", "data": {"nonce": 1}});
    assert_eq!(host.heard(), [line]);
    let (one, two) = (Listener::with(&[]), Listener::with(&[]));
    tokio::join!(
        heard_by(&crib, &one, "slow", json!({"pause": 2_000})),
        heard_by(&crib, &two, "log", json!({"nonce": 2, "pause": 600})),
    );
    assert_eq!((one.heard(), two.heard()), (vec![], vec![]));
}

#[tokio::test]
async fn a_server_is_asked_for_the_lines_that_somebody_reads() {
    struct Hears(Option<LogLevel>);
    impl Host for Hears {
        fn hears(&self) -> Option<LogLevel> {
            self.0
        }
    }
    let crib = crib(&source(settings(&["modern"]))).await;
    for (hears, asked) in
        [(None, "null"), (Some(LogLevel::Debug), "\"debug\""), (Some(LogLevel::Error), "\"error\"")]
    {
        let host = Some(Arc::new(Hears(hears)) as Arc<dyn Host>);
        let options = BatchOptions { host, ..BatchOptions::default() };
        assert_eq!(run_with(&crib, "level", json!({}), options).await.text(), asked);
    }
    let default = Listener::with(&[]);
    assert_eq!(heard_by(&crib, &default, "level", json!({})).await, "\"info\"");
    let nobody = BatchOptions::default();
    assert_eq!(run_with(&crib, "level", json!({}), nobody).await.text(), "null");
}

#[tokio::test]
async fn a_question_goes_to_the_host_of_the_only_call_there_is() {
    let crib = crib(&source(settings(&["legacy"]))).await;
    let host = Listener::with(&[QuestionKind::Form]);
    let answer = heard_by(&crib, &host, "ask", json!({})).await;
    assert_eq!(answer, r#"{"action":"accept","content":{"yes":true}}"#);
    let params = json!({
        "message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}, "x-unknown": 7,
    });
    assert_eq!(host.heard(), [json!(["form", params])]);
    let nobody = Listener::with(&[]);
    assert_eq!(heard_by(&crib, &nobody, "ask", json!({})).await, r#"{"action":"cancel"}"#);
    let refused = heard_by(&crib, &nobody, "ask_model", json!({})).await;
    assert!(refused.contains("nobody can be asked"), "{refused}");
    assert_eq!(nobody.heard(), Vec::<Value>::new());
}

#[tokio::test]
async fn a_question_hides_nothing_from_who_answers_it() {
    let form = |message: &str, text: &str, titles: [&str; 4]| {
        let [first, second, low, name] = titles;
        let mut form = json!({
            "message": message,
            "requestedSchema": { "type": "object", "title": text, "properties": {
                "which": { "type": "string", "title": text, "description": text,
                    "enum": ["a\u{200b}", "b"], "enumNames": [first, second] },
                "level": { "type": "string", "oneOf": [
                    { "const": "l\u{202e}", "title": text }, { "const": "\u{3164}h" }, { "const": "i" },
                ] },
                "bare": { "type": "array", "items": { "type": "string", "enum": ["\u{2800}", "c"] } },
                "na\u{ad}me": { "type": "string", "default": "x\u{e0041}" },
            } },
        });
        if !low.is_empty() {
            let fields = &mut form["requestedSchema"]["properties"];
            fields["level"]["oneOf"][1]["title"] = json!(low);
            fields["bare"]["items"]["enumNames"] = json!(["\\u{2800}", "c"]);
            fields["na\u{ad}me"] = json!({ "type": "string", "title": name });
        }
        form
    };
    let asked =
        form("Su\u{202e}re?\u{1b}[2J", "T\u{200b}o\u{feff}", ["A\u{2066}", "B\u{e0041}", "", ""]);
    let shown = form(
        "Su\\u{202e}re?\\u{1b}[2J",
        "T\\u{200b}o\\u{feff}",
        ["A\\u{2066}", "B\\u{e0041}", "\\u{3164}h", "na\\u{ad}me"],
    );
    let address = json!({ "mode": "url", "message": "Open it.", "elicitationId": "1",
        "url": "https://a.example/\u{202e}moc.b" });
    for (era, tool) in [("legacy", "ask"), ("modern", "ask_modern")] {
        let crib = crib(&source(settings(&[era]))).await;
        let host = Listener::with(&[QuestionKind::Form, QuestionKind::Address]);
        heard_by(&crib, &host, tool, json!({ "question": asked })).await;
        assert_eq!(host.heard(), [json!(["form", shown])], "{era}");
        let answer = heard_by(&crib, &host, tool, json!({ "question": address })).await;
        assert!(answer.contains(r#"{"action":"cancel"}"#), "{era}: {answer}");
        assert_eq!(host.heard().len(), 1, "{era}");
    }
}

#[tokio::test]
async fn a_server_of_the_new_era_asks_by_its_answer_and_is_told_what_each_call_can() {
    let crib = crib(&source(settings(&["modern"]))).await;
    let host = Listener::with(&[QuestionKind::Form]);
    let answer = heard_by(&crib, &host, "ask_modern", json!({})).await;
    let accepted = json!({"sure": {"action": "accept", "content": {"yes": true}}});
    let expected = json!([accepted, {"elicitation": {"form": {}}}]);
    assert_eq!(serde_json::from_str::<Value>(&answer).unwrap(), expected);
    assert_eq!(host.heard(), [json!(["form", {"message": "Sure?"}])]);
    let nobody = Listener::with(&[]);
    let answer = heard_by(&crib, &nobody, "ask_modern", json!({})).await;
    assert_eq!(answer, r#"[{"sure":{"action":"cancel"}},{}]"#);
}

#[tokio::test]
async fn a_person_may_take_longer_than_a_silent_server() {
    for era in ["legacy", "modern"] {
        let mut settings = settings(&[era]);
        settings.timeouts.call = Duration::from_millis(500);
        let crib = crib(&source(settings)).await;
        let host = Listener::slow(&[QuestionKind::Form], Duration::from_millis(1_200));
        let name = if era == "legacy" { "ask" } else { "ask_modern" };
        let answer = heard_by(&crib, &host, name, json!({})).await;
        assert!(answer.contains(r#""action":"accept""#), "{era}: {answer}");
    }
}

#[tokio::test]
async fn a_question_over_http_reaches_the_call_on_whose_stream_it_came() {
    // The answer of the call comes a moment after the question: a call that is over asks nobody.
    const WORDS: &[&str] =
        &["era=legacy", "session", "asks@call=elicitation", "sse", "slow@call=500"];
    let server = HostileServer::start(WORDS).unwrap();
    let crib = crib(&source(over_http::settings(&server.url()))).await;
    let (one, two) = (Listener::with(&[QuestionKind::Form]), Listener::with(&[]));
    tokio::join!(
        heard_by(&crib, &one, "echo", json!({"text": "a"})),
        heard_by(&crib, &two, "echo", json!({"text": "b"})),
    );
    assert_eq!(one.heard().len(), 1, "{:?}", one.heard());
    assert_eq!(two.heard(), Vec::<Value>::new());
}

#[tokio::test]
async fn a_server_is_not_idle_while_a_person_thinks_about_its_question() {
    let mut settings = settings(&["modern"]);
    settings.idle_stop = Some(Duration::from_millis(200));
    let source = source(settings);
    let crib = crib(&source).await;
    let before = source.status().restarts;
    let host = Listener::slow(&[QuestionKind::Form], Duration::from_millis(1_500));
    let answer = heard_by(&crib, &host, "ask_modern", json!({})).await;
    assert!(answer.contains(r#""action":"accept""#), "{answer}");
    // Asked of a server that was started anew, the person would be asked once more.
    assert_eq!(host.heard().len(), 1, "{:?}", host.heard());
    assert!(source.status().restarts <= before + 1, "{:?}", source.status());
}
