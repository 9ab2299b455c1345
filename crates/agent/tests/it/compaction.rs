//! Threads that grow beyond what their model reads at a time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolcrib_agent::model::{ModelApi, ModelFaultKind, ModelSettings};
use toolcrib_agent::{
    AgentRun, Budget, CallText, ResultText, RunEnd, RunEvent, RunOrder, RunPause, StopReason,
    ThreadItem,
};
use toolcrib_core::{
    BoxFuture, Caller, LedgerError, NewRun, RunLedger, RunLedgerError, RunStep, RunSummary,
    StoredRun,
};
use toolcrib_engine::ledger::MemoryRuns;
use toolcrib_testkit::{Oracle, ScriptedModel, ScriptedTurn};

use crate::fixture::{agent, crib, go, new_run, order, run, scripted, settings};
use crate::thread_rules::faults;

/// Tokens that the model reads and writes, and of these writes.
const CONTEXT: (u32, u32) = (4_000, 500);
/// Bytes of a request that it reads: about four a token.
pub(crate) const ROOM: usize = 14_000;

pub(crate) fn narrow(model: &ScriptedModel, api: ModelApi) -> ModelSettings {
    let (context, max_tokens) = CONTEXT;
    ModelSettings { context: Some(context), max_tokens, retries: 0, ..settings(model, api) }
}

pub(crate) fn is_summary(body: &Value) -> bool {
    body.to_string().contains("Sum this conversation up")
}

/// A model that looks so often, each time at something else that is long, and then answers.
fn looks(times: usize) -> ScriptedModel {
    let turns = Mutex::new(0);
    ScriptedModel::by(move |number, body| {
        if is_summary(body) {
            return ScriptedTurn::says(&format!("In short, as of request {number}."));
        }
        let mut turn = turns.lock().unwrap();
        *turn += 1;
        if *turn > times {
            return ScriptedTurn::says("All is seen.");
        }
        let pad = "x".repeat(1_200);
        ScriptedTurn::call("look", json!({ "n": *turn, "pad": pad }))
    })
    .unwrap()
}

pub(crate) fn ended(pause: RunPause) -> RunEnd {
    if let RunPause::Ended(end) = pause { end } else { panic!("it has not ended: {pause:?}") }
}

fn compactions(told: &[RunEvent]) -> Vec<(usize, &str)> {
    let found = told.iter().filter_map(|event| {
        if let RunEvent::Compacted { hides, text } = event {
            Some((*hides, text.as_str()))
        } else {
            None
        }
    });
    found.collect()
}

#[tokio::test]
async fn a_run_that_outgrows_its_model_goes_on_with_a_summary_in_every_api() {
    for (name, api) in ModelApi::WORDS {
        let (oracle, model) = (Oracle::default(), looks(14));
        let agent = agent(narrow(&model, api), crib(&oracle), Budget::default());
        let mut run = run(&agent, "Look fourteen times.");
        let (pause, told) = go(&mut run).await;
        let end = ended(pause);
        assert_eq!((end.stop, end.text.as_str()), (StopReason::Done, "All is seen."), "{name}");
        assert_eq!(oracle.count("look"), 14, "{name}");
        let asked = model.asked();
        let (sums, turns): (Vec<_>, Vec<_>) =
            asked.iter().map(|asked| &asked.body).partition(|body| is_summary(body));
        let told = compactions(&told);
        assert_eq!(told.len(), sums.len(), "{name}");
        assert!((2..=6).contains(&sums.len()), "{name}: {}", sums.len());
        assert_eq!((turns.len(), run.account().totals().0), (15, 15), "{name}");
        assert_eq!(run.usage().total(), 110 * asked.len() as u64, "{name}");
        for body in sums.iter().chain(&turns) {
            assert!(body.to_string().len() <= ROOM, "{name}: {}", body.to_string().len());
            assert_eq!(faults(api, body), Vec::<String>::new(), "{name}: {body}");
        }
        for body in &turns {
            assert!(body.to_string().contains("Look fourteen times."), "{name}: {body}");
        }
        let (_, last) = told.last().unwrap();
        assert!(turns[14].to_string().contains(last), "{name}: {}", turns[14]);
        // Each summary is made of the one before.
        assert!(sums[1].to_string().contains(told[0].1), "{name}: {}", sums[1]);
        // The log has all of it.
        let results = run.items().iter().filter(|item| matches!(item, ThreadItem::Results { .. }));
        assert_eq!(results.count(), 14, "{name}");
    }
}

#[tokio::test]
async fn a_thread_that_goes_on_has_the_summary_of_the_run_before() {
    let (oracle, model) = (Oracle::default(), looks(8));
    let agent = agent(narrow(&model, ModelApi::OpenAiChat), crib(&oracle), Budget::default());
    let mut first = run(&agent, "Look.");
    go(&mut first).await;
    let before = model.asked().len();
    let mut thread = first.items().to_vec();
    thread.push(ThreadItem::user("And?"));
    let mut second = AgentRun::new(RunOrder { thread, ..order(&agent, "") });
    let (pause, _) = go(&mut second).await;
    assert_eq!(ended(pause).text, "All is seen.");
    let asked = model.asked()[before..].to_vec();
    assert_eq!(asked.len(), 1, "nothing is summed up twice");
    assert!(asked[0].body.to_string().contains("In short, as of request"), "{:?}", asked[0]);
}

/// Refuses what has more bytes than these, as models do that nobody asked how much they read.
fn short_sighted(most: usize) -> ScriptedModel {
    ScriptedModel::by(move |_, body| {
        let size = body.to_string().len();
        if size > most {
            let told =
                json!({ "error": { "message": "This model's maximum context length is 9" } });
            ScriptedTurn::Refuses(400, Vec::new(), told.to_string())
        } else if is_summary(body) {
            ScriptedTurn::says("It was about plants.")
        } else {
            ScriptedTurn::says("As I said.")
        }
    })
    .unwrap()
}

fn long_thread() -> Vec<ThreadItem> {
    let mut thread = Vec::new();
    for number in 0..10 {
        thread.push(ThreadItem::user(format!("Question {number} {}", "y".repeat(900))));
        thread.push(ThreadItem::Assistant {
            text: format!("Answer {number} {}", "z".repeat(900)),
            calls: Vec::new(),
            echo: None,
        });
    }
    thread.push(ThreadItem::user("What did you say?"));
    thread
}

#[tokio::test]
async fn a_model_that_finds_a_thread_too_long_is_asked_once_more_with_less() {
    for (name, api) in ModelApi::WORDS {
        let model = short_sighted(16_000);
        let own = ModelSettings { retries: 0, ..settings(&model, api) };
        let agent = agent(own, crib(&Oracle::default()), Budget::default());
        let mut run = AgentRun::new(RunOrder { thread: long_thread(), ..order(&agent, "") });
        let (pause, told) = go(&mut run).await;
        let end = ended(pause);
        assert_eq!((end.stop, end.text.as_str()), (StopReason::Done, "As I said."), "{name}");
        let summary = compactions(&told).last().copied().unwrap();
        assert_eq!(summary.1, "It was about plants.", "{name}");
        let last = model.asked().pop().unwrap().body.to_string();
        assert!(last.contains("It was about plants.") && !last.contains("Question 0"), "{last}");
    }
    // One that reads less than that still is not asked for ever.
    let model = short_sighted(100);
    let own = ModelSettings { retries: 0, ..settings(&model, ModelApi::OpenAiChat) };
    let agent = agent(own, crib(&Oracle::default()), Budget::default());
    let mut run = AgentRun::new(RunOrder { thread: long_thread(), ..order(&agent, "") });
    let end = ended(go(&mut run).await.0);
    assert_eq!(end.fault.unwrap().kind, ModelFaultKind::TooLong);
    assert!(model.asked().len() <= 6, "{}", model.asked().len());
}

#[tokio::test]
async fn a_result_that_fits_nowhere_is_shown_shortened_and_kept_whole() {
    for (name, api) in ModelApi::WORDS {
        let pad = "é\"".repeat(20_000);
        let model = scripted([
            ScriptedTurn::call("look", json!({ "pad": pad })),
            ScriptedTurn::says("It is long."),
        ]);
        let oracle = Oracle::default();
        let agent = agent(narrow(&model, api), crib(&oracle), Budget::default());
        let mut run = run(&agent, "Look.");
        let end = ended(go(&mut run).await.0);
        // What the model itself wrote is as long, and is not cut.
        assert_eq!(end.fault.unwrap().kind, ModelFaultKind::TooLong, "{name}");
        assert_eq!(model.asked().len(), 1, "{name}");
    }
    for (name, api) in ModelApi::WORDS {
        let model = scripted([ScriptedTurn::says("It is long.")]);
        let agent = agent(narrow(&model, api), crib(&Oracle::default()), Budget::default());
        let call = CallText { id: "c".into(), name: "look".into(), arguments: "{}".into() };
        let text = "é\"".repeat(20_000);
        let result = ResultText { call_id: "c".into(), name: "look".into(), text, is_error: false };
        let calls = ThreadItem::Assistant { text: String::new(), calls: vec![call], echo: None };
        let results = ThreadItem::Results { results: vec![result], echo: None };
        let thread = vec![ThreadItem::user("Look."), calls, results];
        let mut run = AgentRun::new(RunOrder { thread: thread.clone(), ..order(&agent, "") });
        let end = ended(go(&mut run).await.0);
        assert_eq!((end.stop, end.text.as_str()), (StopReason::Done, "It is long."), "{name}");
        let body = model.asked().remove(0).body.to_string();
        assert!(body.len() <= ROOM, "{name}: {}", body.len());
        assert!(body.contains("bytes are left out here"), "{name}: {body}");
        assert_eq!(run.items()[..3], thread, "{name}");
    }
}

#[tokio::test]
async fn what_does_not_fit_at_all_is_told_before_the_model_is_asked() {
    let model = scripted([]);
    let agent =
        agent(narrow(&model, ModelApi::OpenAiChat), crib(&Oracle::default()), Budget::default());
    let mut run = run(&agent, &"word ".repeat(4_000));
    let fault = ended(go(&mut run).await.0).fault.unwrap();
    assert_eq!((fault.kind, model.asked().len()), (ModelFaultKind::TooLong, 0));
    assert!(fault.message.contains("of 3500"), "{}", fault.message);
}

#[tokio::test]
async fn a_summary_that_nobody_may_pay_for_ends_the_run_at_its_limit_with_what_fits() {
    let (oracle, model) = (Oracle::default(), looks(14));
    let budget = Budget { tokens: Some(7_000), ..Budget::default() };
    let agent = agent(narrow(&model, ModelApi::OpenAiChat), crib(&oracle), budget);
    let mut run = run(&agent, "Look fourteen times.");
    let (pause, _) = go(&mut run).await;
    let end = ended(pause);
    assert_eq!(end.stop, StopReason::Tokens, "{end:?}");
    assert!(run.account().totals().2 <= 7_000, "{:?}", run.account().totals());
    for asked in model.asked() {
        assert_eq!(faults(ModelApi::OpenAiChat, &asked.body), Vec::<String>::new());
    }
}

/// A ledger that remembers how a run stood after each of its steps.
#[derive(Default)]
struct Snapshots(MemoryRuns, Mutex<Vec<StoredRun>>);

impl RunLedger for Snapshots {
    fn create(&self, run: NewRun, step: RunStep) -> BoxFuture<'_, Result<(), RunLedgerError>> {
        self.0.create(run, step)
    }

    fn advance<'a>(
        &'a self,
        run: &'a str,
        step: RunStep,
    ) -> BoxFuture<'a, Result<(), RunLedgerError>> {
        Box::pin(async move {
            self.0.advance(run, step).await?;
            let stored = self.0.load(run).await?.unwrap();
            self.1.lock().unwrap().push(stored);
            Ok(())
        })
    }

    fn load<'a>(&'a self, run: &'a str) -> BoxFuture<'a, Result<Option<StoredRun>, LedgerError>> {
        self.0.load(run)
    }

    fn events<'a>(
        &'a self,
        run: &'a str,
        from: u64,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<String>, LedgerError>> {
        self.0.events(run, from, limit)
    }

    fn list<'a>(
        &'a self,
        caller: &'a Caller,
        before: Option<u64>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<RunSummary>, LedgerError>> {
        self.0.list(caller, before, limit)
    }

    fn thread<'a>(
        &'a self,
        caller: &'a Caller,
        thread: &'a str,
    ) -> BoxFuture<'a, Result<Vec<RunSummary>, LedgerError>> {
        self.0.thread(caller, thread)
    }

    fn unfinished(&self) -> BoxFuture<'_, Result<Vec<RunSummary>, LedgerError>> {
        self.0.unfinished()
    }

    fn forget<'a>(
        &'a self,
        caller: &'a Caller,
        run: &'a str,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        self.0.forget(caller, run)
    }
}

#[tokio::test]
async fn a_run_that_is_taken_up_at_any_step_goes_on_with_the_summary_that_was_written() {
    let (oracle, model) = (Oracle::default(), looks(9));
    let first = agent(narrow(&model, ModelApi::Anthropic), crib(&oracle), Budget::default());
    let ledger = Arc::new(Snapshots::default());
    let new = new_run();
    let shared: Arc<dyn RunLedger> = Arc::clone(&ledger) as _;
    let mut run = AgentRun::recorded(order(&first, "Look nine times."), shared, new).await.unwrap();
    let (_, told) = go(&mut run).await;
    let whole = run.items().len();
    let steps = ledger.1.lock().unwrap().clone();
    assert!(!compactions(&told).is_empty() && steps.len() > 18, "{}", steps.len());
    // What is written only grows.
    for two in steps.windows(2) {
        assert_eq!(two[1].items[..two[0].items.len()], two[0].items);
    }
    for stored in steps {
        let model = looks(2);
        let again = agent(narrow(&model, ModelApi::Anthropic), crib(&oracle), Budget::default());
        let before = stored.items.len();
        // Nobody wants it written.
        let nowhere: Arc<dyn RunLedger> = Arc::new(MemoryRuns::default());
        let summary = stored.items.iter().rfind(|item| item.contains("\"kind\":\"summary\""));
        let text = summary.map(|item| serde_json::from_str::<Value>(item).unwrap()["text"].clone());
        let keys_for = Duration::from_hours(24);
        let mut run = AgentRun::resumed(again, nowhere, stored, keys_for).unwrap();
        let mut saved = run.saved();
        saved = serde_json::from_str(&serde_json::to_string(&saved).unwrap()).unwrap();
        let again = agent(narrow(&model, ModelApi::Anthropic), crib(&oracle), Budget::default());
        run = AgentRun::restored(again, Arc::new(Caller::local()), saved).unwrap();
        let pause = run.go(&mut |_| {}, &CancellationToken::new()).await;
        assert_eq!(ended(pause).stop, StopReason::Done);
        for asked in model.asked() {
            assert_eq!(faults(ModelApi::Anthropic, &asked.body), Vec::<String>::new());
        }
        if let (Some(Value::String(text)), Some(first)) = (&text, model.asked().first()) {
            assert!(first.body.to_string().contains(text.as_str()), "{:?}", first.body);
        }
        assert!(run.items().len() >= before && whole >= before);
    }
}
