//! A process that is killed at any moment: what it accepted has an end, and nothing happens twice.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use toolcrib_core::{
    Arguments, Call, CallContext, Caller, Content, Decision, Effect, Fingerprint, PlanRequest,
    RawArguments, Run, Tool, ToolError, ToolName, ToolOutcome, Toolset, Verdict, raw_tool,
};
use toolcrib_engine::Crib;
use toolcrib_store::{IdempotencyKey, KeyState, Store};
use toolcrib_testkit::{FixedPolicy, SeededRandom, spec};

use crate::killed_child;
use crate::scratch::{self, Scratch};

const KILLS: u64 = 60;

/// How the child test is called, and what it does if nobody wrote it a line: nothing.
const CHILD: &str = "killed::child_of_the_kill_test";

/// Effects that arrived, by name.
type Effects = Arc<Mutex<HashMap<String, u32>>>;

/// Counts every line that comes, and answers it.
fn upstream() -> (u16, Effects) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let effects = Effects::default();
    let counted = Arc::clone(&effects);
    std::thread::spawn(move || {
        for line in listener.incoming() {
            let (counted, stream) = (Arc::clone(&counted), line.unwrap());
            std::thread::spawn(move || count(&counted, stream));
        }
    });
    (port, effects)
}

fn count(effects: &Effects, mut stream: TcpStream) {
    let mut name = String::new();
    let read = BufReader::new(&stream).read_line(&mut name);
    if read.is_ok() && name.ends_with('\n') {
        *effects.lock().unwrap().entry(name.trim().to_owned()).or_default() += 1;
        // The other side may be dead by now.
        let _ = stream.write_all(b"done");
    }
}

/// A tool whose effect is a line to the counter.
fn sends(name: &str, effect: Effect, port: u16) -> Arc<dyn Tool> {
    raw_tool(spec(name, effect), move |arguments: Arguments, _: CallContext| async move {
        let id = arguments.fields()["id"].as_str().unwrap().to_owned();
        let sent = async {
            let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await?;
            stream.write_all(format!("{id}\n").as_bytes()).await?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await
        };
        match sent.await {
            Ok(_) => ToolOutcome::Done(Content::text("done")),
            Err(error) => ToolOutcome::Failed(ToolError::from(error)),
        }
    })
}

fn crib(store: &Store, port: u16) -> Crib {
    let tools = [sends("send", Effect::Write, port), sends("ask", Effect::Destroy, port)];
    let policy = FixedPolicy::default().with("ask", Verdict::Ask("it is a test".into()));
    let ledger = Arc::new(store.clone());
    Crib::builder().ledger(ledger).policy(policy).build_fixed(Toolset::of(tools).unwrap())
}

async fn run(crib: &Crib, name: &str, id: &str) {
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let call = Call::new(id, name, RawArguments::Value(json!({ "id": id })));
    crib.run(&plan, vec![call]).await;
}

/// A keyed call, as a door makes it.
async fn keyed(store: &Store, crib: &Crib, id: &str) {
    let tool = ToolName::new("send").unwrap();
    let key = IdempotencyKey { caller: Caller::local(), tool, source: None, key: id.to_owned() };
    let arguments = Fingerprint::of(&json!({ "id": id }));
    if store.begin(&key, arguments).await.unwrap() == KeyState::New {
        run(crib, "send", id).await;
        store.settle(&key, &json!("done")).await.unwrap();
    }
}

/// Does something only in the process that the kill test starts.
#[test]
fn child_of_the_kill_test() {
    let Some(told) = killed_child::told() else { return };
    let [place, port, round] = &told[..] else { return };
    let (port, round) = (port.parse().unwrap(), round.parse::<u64>().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = scratch::open_at(place).unwrap();
        let crib = crib(&store, port);
        let next = Arc::new(AtomicU64::new(0));
        let workers = (0..8).map(|worker| {
            let (store, crib, next) = (store.clone(), crib.clone(), Arc::clone(&next));
            tokio::spawn(async move { work(&store, &crib, &next, (round, worker)).await })
        });
        futures_util::future::join_all(workers).await;
    });
}

/// Goes on until it is killed.
async fn work(store: &Store, crib: &Crib, next: &AtomicU64, (round, worker): (u64, u64)) {
    // What the process before began under a key is sent again by a client that heard nothing.
    for n in 0..24 {
        if n % 8 == worker && round > 0 {
            keyed(store, crib, &format!("key-{}-{n}", round - 1)).await;
        }
    }
    loop {
        let n = next.fetch_add(1, Ordering::Relaxed);
        match n % 4 {
            0 => keyed(store, crib, &format!("key-{round}-{}", n / 4)).await,
            1 => run(crib, "ask", &format!("ask-{round}-{n}")).await,
            2 => {
                // Several workers decide the same tickets, also those of rounds before.
                for parked in crib.tickets(&Caller::local()).await.unwrap().iter().take(3) {
                    let run = Run::default();
                    let approve = Decision::Approve;
                    let _ = crib.decide(&Caller::local(), &run, &parked.ticket, approve).await;
                }
            }
            _ => run(crib, "send", &format!("send-{round}-{n}")).await,
        }
    }
}

fn one_round(place: &str, port: u16, round: u64, effects: &Effects, random: &mut SeededRandom) {
    let before = effects.lock().unwrap().len();
    let lines = [place.to_owned(), port.to_string(), round.to_string()];
    killed_child::kill(CHILD, &lines, || effects.lock().unwrap().len() > before, random);
}

/// What the store says of each call after it was opened again.
fn endings(scratch: &Scratch) -> HashMap<String, String> {
    scratch.is_whole();
    let rows = scratch.texts("SELECT call_id FROM calls ORDER BY seq").into_iter();
    let ends = scratch.texts("SELECT coalesce(ending, '') FROM calls ORDER BY seq");
    let mut all = HashMap::new();
    for (id, ending) in rows.zip(ends) {
        assert_ne!(ending, "", "`{id}` has no end");
        assert_eq!(all.insert(id.clone(), ending), None, "`{id}` was accepted twice");
    }
    all
}

#[test]
fn a_process_killed_at_any_moment_leaves_every_call_with_one_end_and_one_effect() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = u64::from(now.subsec_nanos()) | 1;
    let mut random = SeededRandom::new(seed);
    let scratch = Scratch::new();
    let (port, effects) = upstream();
    let (mut unknown, mut both) = (0, 0);
    for round in 0..KILLS {
        one_round(&scratch.place(), port, round, &effects, &mut random);
        // What a dead process had sent may still be on its way.
        std::thread::sleep(Duration::from_millis(5));
        drop(scratch::open_at(&scratch.place()).unwrap());
        let endings = endings(&scratch);
        let effects = effects.lock().unwrap();
        for (id, times) in effects.iter() {
            assert_eq!(*times, 1, "seed {seed}, round {round}: `{id}`");
            assert!(endings.contains_key(id), "seed {seed}: `{id}` was not accepted");
        }
        for (id, ending) in &endings {
            let happened = effects.contains_key(id);
            let truthful = match ending.as_str() {
                "succeeded" => happened,
                // What was done is never answered as failed.
                "not_executed" | "failed" => !happened,
                "unknown" => true,
                _ => false,
            };
            assert!(truthful, "seed {seed}, round {round}: `{id}` {ending}, {happened}");
        }
        unknown = endings.values().filter(|ending| *ending == "unknown").count();
        both = endings.len();
    }
    let effects = effects.lock().unwrap().len();
    writeln!(
        std::io::stdout(),
        "seed {seed}: {KILLS} kills, {both} calls, {effects} effects, {unknown} unknown"
    )
    .unwrap();
    assert!(effects > 100, "it did something");
}
