//! A question binds nobody but its own call, also where its server does not say of which call it
//! is.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use toolcrib_core::{
    BatchOptions, BoxFuture, CallKey, Caller, Decision, ErrorKind, Host, HostQuestion, LogEntry,
    PlanRequest, QuestionError, QuestionKind, Response, Run, ToolOutcome,
};
use toolcrib_engine::Crib;
use toolcrib_mcp::ConnectionScope;

use crate::support::{call, crib, failed, only, run, settings, source, until};

/// Somebody who can be asked, and answers with a name after a while.
struct Person {
    name: String,
    pause: Duration,
    heard: Mutex<Vec<Value>>,
}

impl Host for Person {
    fn answers(&self) -> &[QuestionKind] {
        &[QuestionKind::Form]
    }

    fn log(&self, _: CallKey, entry: LogEntry) {
        self.heard.lock().unwrap().push(entry.data);
    }

    fn ask(&self, _: CallKey, ask: HostQuestion) -> BoxFuture<'_, Result<Value, QuestionError>> {
        self.heard.lock().unwrap().push(ask.params["message"].clone());
        Box::pin(async {
            tokio::time::sleep(self.pause).await;
            Ok(json!({ "action": "accept", "content": { "name": self.name } }))
        })
    }
}

fn person(name: &str) -> Arc<Person> {
    patient(name, Duration::ZERO)
}

fn patient(name: &str, pause: Duration) -> Arc<Person> {
    Arc::new(Person { name: name.to_owned(), pause, heard: Mutex::default() })
}

impl Person {
    fn heard(&self) -> Vec<Value> {
        self.heard.lock().unwrap().clone()
    }

    async fn calls(self: &Arc<Self>, crib: &Crib, tool: &str, arguments: Value) -> Response {
        let request =
            PlanRequest { session: Some(self.name.as_str().into()), ..PlanRequest::default() };
        let plan = crib.plan(&Caller::local(), request).unwrap();
        let host = Some(Arc::clone(self) as Arc<dyn Host>);
        let options = BatchOptions { host, ..BatchOptions::default() };
        only(crib.run_with(&plan, vec![call(tool, arguments)], options).await)
    }

    /// Calls what asks for a name, and holds the answer against the own one.
    async fn is_asked(self: &Arc<Self>, crib: &Crib, pause: u64) {
        let message = format!("Is it {}?", self.name);
        let question = json!({ "message": message, "requestedSchema": {} });
        let before = self.heard().len();
        let told = self.calls(crib, "ask", json!({ "question": question, "pause": pause })).await;
        let own = json!({ "action": "accept", "content": { "name": self.name } });
        assert_eq!(told.text(), own.to_string());
        assert_eq!(self.heard().get(before..), Some(&[json!(message)][..]));
    }
}

/// The program that a call runs on.
fn program(counted: &Response) -> String {
    counted.text().split(' ').next_back().unwrap().to_owned()
}

#[tokio::test]
async fn a_ticket_that_waits_keeps_nobody_from_the_server() {
    let source = source(settings(&["legacy"]));
    let crib = crib(&source).await;
    let main = program(&run(&crib, "count", json!({})).await);
    let waits = run(&crib, "ask", json!({})).await;
    let ToolOutcome::Pending(pending) = &waits.outcome else { panic!("{waits:?}") };
    let (bob, began) = (person("bob"), Instant::now());
    bob.is_asked(&crib, 0).await;
    let beside = program(&bob.calls(&crib, "count", json!({})).await);
    assert_ne!(beside, main);
    // Another who cannot be asked takes nobody's questions away either.
    let more = run(&crib, "ask", json!({})).await;
    assert!(matches!(more.outcome, ToolOutcome::Pending(_)), "{more:?}");
    bob.is_asked(&crib, 0).await;
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let answer = Decision::Answer { content: json!({}) };
    let decided = crib.decide(&Caller::local(), &Run::default(), &pending.ticket, answer).await;
    assert!(decided.unwrap().text().contains("accept"));
    assert_eq!(program(&run(&crib, "count", json!({})).await), main);
}

#[tokio::test]
async fn all_who_are_asked_at_once_answer_their_own_question() {
    for options in [&["legacy"][..], &["legacy", "reads"]] {
        let source = source(settings(options));
        let crib = crib(&source).await;
        let people: Vec<_> = (0..6).map(|number| person(&format!("person {number}"))).collect();
        join_all(people.iter().map(|one| one.is_asked(&crib, 0))).await;
        join_all(people.iter().map(|one| one.is_asked(&crib, 20))).await;
    }
}

#[tokio::test]
async fn a_long_call_delays_nobodys_question_and_is_asked_nothing() {
    let source = source(settings(&["legacy", "reads"]));
    let crib = crib(&source).await;
    let (ann, bob) = (person("ann"), person("bob"));
    for _ in 0..2 {
        let (told, took) =
            tokio::join!(ann.calls(&crib, "slow", json!({ "pause": 3_000, "nonce": 1 })), async {
                until("the long one runs", || source.status().in_flight == 1).await;
                let began = Instant::now();
                bob.is_asked(&crib, 0).await;
                began.elapsed()
            },);
        assert_eq!((told.text().as_str(), ann.heard()), ("answer to 1", vec![]));
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
}

#[tokio::test]
async fn a_question_whose_call_is_not_certain_is_put_when_it_is() {
    let crib = crib(&source(settings(&["legacy"]))).await;
    let (ann, bob) = (person("ann"), person("bob"));
    // Neither may be made again: the question is held until the one that asks nothing is over.
    tokio::join!(ann.calls(&crib, "slow", json!({ "pause": 2_000 })), bob.is_asked(&crib, 300));
    assert_eq!(ann.heard(), Vec::<Value>::new());
    // From then on it is known which one asks.
    let began = Instant::now();
    tokio::join!(ann.calls(&crib, "slow", json!({ "pause": 3_000 })), async {
        bob.is_asked(&crib, 300).await;
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    });
}

#[tokio::test]
async fn what_a_call_asks_that_was_given_up_is_put_to_nobody_else() {
    for options in [&["legacy"][..], &["legacy", "reads"]] {
        let crib = crib(&source(settings(options))).await;
        let (ann, bob) = (person("ann"), person("bob"));
        let question = json!({ "message": "Is it ann?", "requestedSchema": {} });
        let asks = ann.calls(&crib, "ask", json!({ "question": question, "pause": 600 }));
        let given_up = tokio::time::timeout(Duration::from_millis(200), asks).await;
        assert!(given_up.is_err(), "{given_up:?}");
        // Its question comes while this one runs.
        let told = bob.calls(&crib, "slow", json!({ "pause": 1_500, "nonce": 1 })).await;
        assert_eq!((told.text().as_str(), bob.heard()), ("answer to 1", vec![]));
        let began = Instant::now();
        bob.is_asked(&crib, 0).await;
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        assert_eq!(ann.heard(), Vec::<Value>::new());
    }
}

#[tokio::test]
async fn of_two_that_ask_where_nobody_knows_which_one_is_told_so_and_nobody_put_it_away() {
    let crib = crib(&source(settings(&["legacy"]))).await;
    let (ann, bob) = (person("ann"), person("bob"));
    let ask = |who: &str| {
        let question = json!({ "message": who, "requestedSchema": {} });
        json!({ "question": question, "pause": 1_000 })
    };
    let (one, two) =
        tokio::join!(ann.calls(&crib, "ask", ask("ann")), bob.calls(&crib, "ask", ask("bob")));
    let told = [(ann.heard(), one.text()), (bob.heard(), two.text())];
    let refused = told.iter().filter(|(heard, told)| {
        heard.is_empty() && told.contains("several calls ran") && !told.contains("cancel")
    });
    let answered = told.iter().filter(|(heard, told)| heard.len() == 1 && told.contains("accept"));
    assert_eq!((refused.count(), answered.count()), (1, 1), "{told:?}");
    for (who, (heard, told)) in ["ann", "bob"].into_iter().zip(&told) {
        assert!(heard.iter().all(|asked| asked == who), "{told}");
        assert!(heard.is_empty() || told.contains(who), "{told}");
    }
    tokio::join!(ann.is_asked(&crib, 300), bob.is_asked(&crib, 300));
}

#[tokio::test]
async fn programs_that_wait_for_people_are_bounded_and_who_finds_none_is_told_the_cure() {
    let mut settings = settings(&["legacy"]);
    settings.timeouts.call = Duration::from_secs(3);
    settings.idle_stop = Some(Duration::from_secs(1));
    let source = source(settings);
    let crib = crib(&source).await;
    person("first").is_asked(&crib, 0).await;
    run(&crib, "count", json!({})).await;
    let thinking: Vec<_> =
        (0..17).map(|number| patient(&number.to_string(), Duration::from_secs(8))).collect();
    let late = person("late");
    let (_, ()) =
        tokio::join!(join_all(thinking.iter().map(|one| one.is_asked(&crib, 0))), async {
            until("all are asked", || thinking.iter().all(|one| !one.heard().is_empty())).await;
            let (kind, message) = failed(&late.calls(&crib, "ask", json!({})).await);
            assert_eq!(kind, ErrorKind::Unavailable);
            assert!(message.contains("`share = \"session\"`"), "{message}");
            let said = late.heard();
            assert!(said[0].as_str().unwrap().contains("this call waits"), "{said:?}");
            let last = source.status().last_error.unwrap_or_default();
            assert!(last.is_empty() || last.contains("`share = \"session\"`"), "{last}");
            // What asks nothing has a place all the same.
            assert!(run(&crib, "count", json!({})).await.text().contains(" of "));
        });
    until("they are ended", || source.status().connections == 0).await;
}

#[tokio::test]
async fn calls_that_belong_to_no_conversation_have_a_program_each_where_conversations_do() {
    let mut settings = settings(&["legacy"]);
    settings.share = ConnectionScope::Session;
    let source = source(settings);
    let crib = crib(&source).await;
    let alone = async || {
        let slow = run(&crib, "slow", json!({ "pause": 1_500 }));
        let counts = async {
            until("the slow one runs", || source.status().in_flight == 1).await;
            program(&run(&crib, "count", json!({})).await)
        };
        tokio::join!(slow, counts).1
    };
    let main = program(&run(&crib, "count", json!({})).await);
    let programs: HashSet<_> = [main.clone(), alone().await].into();
    assert_eq!(programs.len(), 2);
    assert_eq!(program(&run(&crib, "count", json!({})).await), main);
}

#[tokio::test]
async fn what_nobody_can_be_asked_is_an_error_and_no_word_of_a_person() {
    let crib = crib(&source(settings(&["legacy"]))).await;
    let address = json!({ "mode": "url", "message": "Open it.", "elicitationId": "1",
        "url": "https://a.example/" });
    let told = run(&crib, "ask", json!({ "question": address })).await.text();
    assert!(told.contains("nobody can be asked") && !told.contains("cancel"), "{told}");
}

#[tokio::test]
async fn who_can_be_asked_nothing_leaves_room_for_those_who_can() {
    let mut settings = settings(&["legacy"]);
    settings.timeouts.call = Duration::from_secs(2);
    let crib = crib(&source(settings)).await;
    person("first").is_asked(&crib, 0).await;
    let asked = join_all((0..12).map(|_| run(&crib, "ask", json!({})))).await;
    let waits = asked.iter().filter(|one| matches!(one.outcome, ToolOutcome::Pending(_))).count();
    let told = asked.iter().filter(|one| matches!(one.outcome, ToolOutcome::Failed(_)));
    assert_eq!(waits, 8, "{asked:?}");
    assert!(told.map(failed).all(|(kind, _)| kind == ErrorKind::Unavailable), "{asked:?}");
    person("bob").is_asked(&crib, 0).await;
}
