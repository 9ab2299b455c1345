//! Tools that their server runs as tasks alone are called as all others are.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolcrib_core::{
    BatchOptions, BoxFuture, CallKey, Caller, Decision, ErrorKind, Host, HostQuestion, Progress,
    QuestionError, QuestionKind, Run, ToolOutcome,
};

use crate::support::{crib, failed, run, run_with, settings, source, until};

/// Whoever listens to what a call says and asks while it runs.
#[derive(Default)]
struct Heard {
    told: Mutex<Vec<String>>,
    asked: Mutex<Vec<String>>,
}

impl Host for Heard {
    fn progress(&self, _call: CallKey, progress: Progress) {
        self.told.lock().unwrap().extend(progress.message);
    }

    fn answers(&self) -> &[QuestionKind] {
        &[QuestionKind::Form]
    }

    fn ask(
        &self,
        _call: CallKey,
        ask: HostQuestion,
    ) -> BoxFuture<'_, Result<Value, QuestionError>> {
        self.asked.lock().unwrap().extend(ask.params["message"].as_str().map(str::to_owned));
        Box::pin(std::future::ready(Ok(json!({ "action": "accept", "content": {} }))))
    }
}

#[tokio::test]
async fn a_tool_that_runs_as_a_task_alone_is_called_watched_and_answered() {
    let crib = crib(&source(settings(&["legacy", "tasks"]))).await;
    let heard = Arc::new(Heard::default());
    let options =
        BatchOptions { host: Some(Arc::clone(&heard) as Arc<dyn Host>), ..BatchOptions::default() };
    let arguments = json!({ "ends": "completed", "looks": 4 });
    let response = run_with(&crib, "research", arguments, options).await;
    let ToolOutcome::Done(content) = &response.outcome else { panic!("{response:?}") };
    // The task is nobody's beyond us, and its name is not shown.
    let expected = json!({ "parts": [{ "type": "text", "text": "completed after 4 looks" }] });
    assert_eq!(serde_json::to_value(content).unwrap(), expected);
    assert_eq!(*heard.told.lock().unwrap(), ["0 looks", "1 looks"]);
    let at_once = run(&crib, "research", json!({ "at_once": true })).await;
    assert_eq!(at_once.text(), "at once");
}

#[tokio::test]
async fn the_end_of_a_task_is_told_as_that_of_a_call() {
    let crib = crib(&source(settings(&["legacy", "tasks"]))).await;
    for (arguments, kind, said) in [
        (json!({ "ends": "failed" }), ErrorKind::Tool, "failed after 2 looks"),
        // It may go on all the same.
        (json!({ "ends": "cancelled" }), ErrorKind::UnknownOutcome, "cancelled the task"),
        (json!({ "ends": "completed", "refused": -32050 }), ErrorKind::Tool, "it is lost"),
        // What is refused is the question about the task, and nothing of the call.
        (
            json!({ "ends": "completed", "refused": -32602 }),
            ErrorKind::UnknownOutcome,
            "how the task",
        ),
        (json!({ "ends": "dreaming" }), ErrorKind::UnknownOutcome, "nobody knows how its task"),
    ] {
        let (found, message) = failed(&run(&crib, "research", arguments.clone()).await);
        assert_eq!(found, kind, "{arguments}: {message}");
        assert!(message.contains(said), "{arguments}: {message}");
    }
}

#[tokio::test]
async fn what_a_task_asks_is_put_to_a_person() {
    let crib = crib(&source(settings(&["legacy", "tasks"]))).await;
    let asks = run(&crib, "research", json!({ "ends": "input_required" })).await;
    let ToolOutcome::Pending(pending) = &asks.outcome else { panic!("{asks:?}") };
    let ticket = &pending.ticket;
    let done = crib.decide(&Caller::local(), &Run::default(), ticket, Decision::Approve).await;
    let done: Value = serde_json::from_str(&done.unwrap().text()).unwrap();
    assert_eq!(done, json!({ "action": "accept", "content": {} }));
}

#[tokio::test]
async fn what_a_task_asks_between_two_looks_is_put_to_its_own_caller_and_to_no_other() {
    let crib = crib(&source(settings(&["legacy", "tasks"]))).await;
    let asks = |nonce: &str| {
        let arguments = json!({
            "ends": "completed", "looks": 4, "asks": true, "nonce": nonce, "pause": 600,
        });
        (arguments, Arc::new(Heard::default()))
    };
    let options = |heard: &Arc<Heard>| BatchOptions {
        host: Some(Arc::clone(heard) as Arc<dyn Host>),
        ..BatchOptions::default()
    };
    let (first, second, other) = (asks("first"), asks("second"), asks("other"));
    let calls = tokio::join!(
        run_with(&crib, "research", first.0.clone(), options(&first.1)),
        run_with(&crib, "research", second.0.clone(), options(&second.1)),
        // Which is the only request under way for most of the time.
        run_with(&crib, "late", other.0.clone(), options(&other.1)),
    );
    assert!(calls.0.outcome.is_done() && calls.1.outcome.is_done() && calls.2.outcome.is_done());
    let asked = |(_, heard): &(Value, Arc<Heard>)| heard.asked.lock().unwrap().clone();
    assert_eq!(asked(&first), [r#"Is it "first"?"#]);
    assert_eq!(asked(&second), [r#"Is it "second"?"#]);
    assert_eq!(asked(&other), [""; 0]);
}

#[tokio::test]
async fn a_task_that_nobody_waits_for_any_more_is_cancelled_at_its_server() {
    let mut settings = settings(&["legacy", "tasks"]);
    settings.timeouts.longest_call = Duration::from_secs(2);
    let source = source(settings);
    let crib = crib(&source).await;
    let endless = || json!({ "ends": "completed", "looks": 1_000_000 });
    let cancel = CancellationToken::new();
    let options = BatchOptions { cancel: cancel.clone(), ..BatchOptions::default() };
    let (given_up, ()) = tokio::join!(run_with(&crib, "research", endless(), options), async {
        // The task has begun by then, of which its server tells nobody but the call.
        tokio::time::sleep(Duration::from_millis(300)).await;
        cancel.cancel();
    });
    assert_eq!(failed(&given_up).0, ErrorKind::UnknownOutcome);
    let told = |line: &str| source.status().stderr.iter().any(|told| told == line);
    until("the first is cancelled there", || told("task 0 cancelled")).await;
    let arguments = json!({ "ends": "completed", "looks": 1_000_001 });
    let (kind, message) = failed(&run(&crib, "research", arguments).await);
    assert_eq!(kind, ErrorKind::UnknownOutcome);
    assert!(message.contains("`longest_call`"), "{message}");
    until("the second is cancelled there", || told("task 1 cancelled")).await;
    // One that ended is not.
    let done = run(&crib, "research", json!({ "ends": "completed" })).await;
    assert_eq!(done.text(), "completed after 2 looks");
    assert!(!told("task 2 cancelled"), "{:?}", source.status());
}

#[tokio::test]
async fn a_task_whose_server_ends_between_two_looks_is_not_begun_again() {
    let path = std::env::temp_dir().join(format!("toolcrib-begun-{}", std::process::id()));
    std::fs::write(&path, "").unwrap();
    let source = source(settings(&["legacy", "tasks"]));
    let crib = crib(&source).await;
    let arguments = json!({ "ends": "completed", "dies": true, "file": path });
    let (kind, message) = failed(&run(&crib, "research", arguments).await);
    assert_eq!(kind, ErrorKind::UnknownOutcome, "{message}");
    let begun = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(begun, "begun\n");
    // The next call finds a new one.
    let done = run(&crib, "research", json!({ "ends": "completed" })).await;
    assert_eq!(done.text(), "completed after 2 looks");
}

#[tokio::test]
async fn a_server_without_tasks_is_called_plainly_whatever_its_tools_say() {
    for era in ["legacy", "modern"] {
        let crib = crib(&source(settings(&[era]))).await;
        assert_eq!(run(&crib, "research", json!({})).await.text(), "no task", "{era}");
    }
}

#[tokio::test]
async fn no_client_is_told_that_a_tool_runs_as_a_task_alone() {
    let crib = crib(&source(settings(&["legacy", "tasks"]))).await;
    let catalog = crib.catalog();
    let spec = catalog.get("far__research").or_else(|| catalog.get("research")).unwrap();
    assert!(!spec.spec.to_json().to_string().contains("taskSupport"), "{:?}", spec.spec);
}
