//! Three processes that share a database press the same few keys, and are killed and stopped: each
//! key runs once, and each end is the truth.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use toolcrib_core::{
    Arguments, Call, CallContext, Caller, Content, Effect, PlanRequest, RawArguments, ToolError,
    ToolOutcome, Toolset, raw_tool,
};
use toolcrib_engine::Crib;
use toolcrib_store::{Store, StoreOptions};
use toolcrib_store_postgres::{Database, ReplicaSettings};
use toolcrib_testkit::{SeededRandom, spec};

use crate::cluster::{Cluster, command};
use crate::killed_child;
use crate::replicas::settings;

/// How the child test is called, and what it does if nobody wrote it a line: nothing.
const CHILD: &str = "pressed::child_of_the_pressing_test";

const REPLICAS: usize = 3;
const WORKERS: u64 = 6;
/// Keys that are pressed at a time, and for how long, in milliseconds.
const AT_ONCE: u64 = 3;
const TURN: u64 = 250;
/// How long all of it takes.
const PRESSING: Duration = Duration::from_secs(20);

/// Effects that arrived, by name.
type Effects = Arc<Mutex<HashMap<String, u32>>>;

/// Counts every line that comes, and answers it a moment later.
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
        // A call that takes a while is met by whoever dies, or presses the same key.
        std::thread::sleep(Duration::from_millis(30));
        let _ = stream.write_all(b"done");
    }
}

fn share(url: &str) -> Store {
    // Soon over, so that many are.
    let settings = ReplicaSettings { lease: Duration::from_secs(2), ..settings() };
    let database = Database::at(url).unwrap().shared(settings);
    database.open(StoreOptions::default()).unwrap()
}

/// A crib whose tool has an effect: a line to the counter.
fn crib(store: &Store, port: u16) -> Crib {
    let send = move |arguments: Arguments, _: CallContext| async move {
        let key = arguments.fields()["key"].as_str().unwrap().to_owned();
        let sent = async {
            let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await?;
            stream.write_all(format!("{key}\n").as_bytes()).await?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await
        };
        match sent.await {
            Ok(_) => ToolOutcome::Done(Content::text("done")),
            Err(error) => ToolOutcome::Failed(ToolError::from(error)),
        }
    };
    let tools = [raw_tool(spec("send", Effect::Write), send)];
    Crib::builder().ledger(Arc::new(store.clone())).build_fixed(Toolset::of(tools).unwrap())
}

/// The key that is pressed now.
fn key_of_now(worker: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let turn = u64::try_from(now.as_millis()).unwrap() / TURN;
    format!("{turn}-{}", worker % AT_ONCE)
}

/// Does something only in the processes that the pressing test starts.
#[test]
fn child_of_the_pressing_test() {
    let Some(told) = killed_child::told() else { return };
    let [url, port, name] = &told[..] else { return };
    let port = port.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = share(url);
        let crib = crib(&store, port);
        let workers = (0..WORKERS).map(|worker| {
            let (crib, name) = (crib.clone(), name.clone());
            tokio::spawn(async move {
                for number in 0_u64.. {
                    let key = key_of_now(worker);
                    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
                    let arguments = RawArguments::Value(json!({ "key": key }));
                    let mut call =
                        Call::new(format!("{name}-{worker}-{number} {key}"), "send", arguments);
                    call.key = Some(key);
                    crib.run(&plan, vec![call]).await;
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            })
        });
        futures_util::future::join_all(workers).await;
    });
}

fn signal(child: &Child, name: &str) {
    let sent = command("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// The processes, and what was done to them.
struct Pressed {
    url: String,
    port: u16,
    children: Vec<Child>,
    /// Until when one of them is stopped.
    stopped: Option<(usize, Instant)>,
    done: BTreeMap<&'static str, u32>,
}

impl Pressed {
    fn start(&self) -> Child {
        let number = self.done.values().sum::<u32>() as usize + self.children.len();
        let lines = [self.url.clone(), self.port.to_string(), format!("p{number}")];
        killed_child::spawn(CHILD, &lines)
    }

    /// Kills one and starts another, or stops one for longer than its lease lasts.
    fn disturb(&mut self, random: &mut SeededRandom) {
        let place = usize::try_from(random.below(REPLICAS as u64)).unwrap();
        if let Some((stopped, until)) = self.stopped {
            if Instant::now() >= until {
                signal(&self.children[stopped], "CONT");
                self.stopped = None;
            }
            if stopped == place {
                return;
            }
        } else if random.below(3) > 0 {
            signal(&self.children[place], "STOP");
            let pause = Duration::from_millis(2_500 + random.below(3_000));
            self.stopped = Some((place, Instant::now() + pause));
            *self.done.entry("pauses").or_default() += 1;
            return;
        }
        if random.below(3) == 0 {
            self.children[place].kill().unwrap();
            self.children[place].wait().unwrap();
            *self.done.entry("kills").or_default() += 1;
            self.children[place] = self.start();
        }
    }
}

impl Drop for Pressed {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn replicas_that_are_killed_and_stopped_run_each_key_once_and_tell_the_truth() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = u64::from(now.subsec_nanos()) | 1;
    let mut random = SeededRandom::new(seed);
    let cluster = Cluster::start("pressed");
    let url = cluster.database("record");
    let (port, effects) = upstream();
    let witness = share(&url);
    let mut pressed =
        Pressed { url, port, children: Vec::new(), stopped: None, done: BTreeMap::new() };
    for _ in 0..REPLICAS {
        let child = pressed.start();
        pressed.children.push(child);
    }
    let end = Instant::now() + PRESSING;
    while Instant::now() < end {
        std::thread::sleep(Duration::from_millis(100 + random.below(300)));
        pressed.disturb(&mut random);
    }
    // Those that were stopped say what they have to say late.
    if let Some((stopped, _)) = pressed.stopped {
        signal(&pressed.children[stopped], "CONT");
    }
    std::thread::sleep(Duration::from_millis(random.below(500)));
    let done = pressed.done.clone();
    drop(pressed);
    let live = "SELECT count(*) FROM replicas WHERE state <> 'over'";
    let patience = Instant::now() + Duration::from_mins(1);
    while cluster.sql("record", live).unwrap() != "1\n" {
        assert!(Instant::now() < patience, "seed {seed}: dead replicas are not put in order");
        std::thread::sleep(Duration::from_millis(50));
    }
    let held = "SELECT count(*) FROM keys WHERE state = 'running'";
    assert_eq!(cluster.sql("record", held).unwrap(), "0\n", "seed {seed}: keys are held for ever");
    drop(witness);
    let rows = cluster
        .sql("record", "SELECT split_part(call_id, ' ', 2), coalesce(ending, 'none') FROM calls")
        .unwrap();
    let effects = effects.lock().unwrap();
    let endings = judge(seed, &rows, &effects);
    writeln!(std::io::stdout(), "seed {seed}: {done:?}, {} keys ran, {endings:?}", effects.len())
        .unwrap();
    assert!(effects.len() > 50, "seed {seed}: too little was done: {}", effects.len());
}

/// Compares what is told of each key with what was done. Gives how often each end was told.
fn judge<'r>(seed: u64, rows: &'r str, effects: &HashMap<String, u32>) -> BTreeMap<&'r str, u32> {
    let mut by_key: HashMap<&str, Vec<&str>> = HashMap::new();
    for row in rows.lines() {
        let (key, ending) = row.split_once('|').unwrap();
        by_key.entry(key).or_default().push(ending);
    }
    for (key, times) in effects {
        assert_eq!(*times, 1, "seed {seed}: `{key}` ran {times} times: {:?}", by_key.get(&**key));
    }
    let mut endings: BTreeMap<&str, u32> = BTreeMap::new();
    for (key, ends) in &by_key {
        for ending in ends {
            *endings.entry(ending).or_default() += 1;
        }
        let count = |word: &str| ends.iter().filter(|ending| **ending == word).count();
        let ran = effects.contains_key(*key);
        assert_eq!(count("none"), 0, "seed {seed}: `{key}` has a call without an end");
        assert!(count("succeeded") <= 1, "seed {seed}: `{key}` {ends:?}");
        assert!(ran || count("succeeded") == 0, "seed {seed}: `{key}` did not run: {ends:?}");
        let is_told = count("succeeded") + count("unknown") > 0;
        assert!(!ran || is_told, "seed {seed}: `{key}` ran, and that is not told: {ends:?}");
    }
    endings
}
