//! The benchmark of a whole server is run as small as it goes, so that it does not rot.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use toolcrib_load::{
    AgentSettings, MeasureSettings, MeasuredPrograms, RolloutSettings, SoakSettings,
    StartupSettings, agents, durable, gateway, rollouts, soak, start, table,
};

use crate::peers::python_clients;
use crate::process::Folder;

/// The server of the SDK, where cargo has built it beside the tests.
fn programs() -> Option<MeasuredPrograms> {
    let own = std::env::current_exe().unwrap();
    let built = own.parent().and_then(Path::parent).unwrap();
    let echo = built.join("examples").join(format!("echo{}", std::env::consts::EXE_SUFFIX));
    let server = PathBuf::from(env!("CARGO_BIN_EXE_toolcrib"));
    echo.exists().then_some(MeasuredPrograms { server, echo, relay: None })
}

/// The places of a JSON document where errors are counted, and what is counted.
fn errors(found: &Value) -> Vec<&Value> {
    match found {
        Value::Object(fields) => {
            let own = fields.get("errors").into_iter();
            own.chain(fields.values().flat_map(errors)).collect()
        }
        Value::Array(items) => items.iter().flat_map(errors).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_benchmark_of_a_whole_server_measures_without_errors() {
    let Some(programs) = programs() else {
        let cure = "[skipped] no server to measure: cargo build -p toolcrib-mcp --examples";
        let _ = writeln!(std::io::stdout(), "{cure}");
        return;
    };
    let folder = Folder::new();
    let below = folder.path();
    let much =
        MeasureSettings { lasts: Duration::from_millis(100), rounds: 1, sessions: vec![1, 3] };
    let little = StartupSettings { starts: 1, sessions: 3, tools: [3, 300], lists: 1 };
    let found = serde_json::json!({
        "gateway": gateway(&programs, below, &much).await.unwrap(),
        "start": start(&programs, below, little).await.unwrap(),
        "durable": durable(&programs, below, &much).await.unwrap(),
    });
    let counted = errors(&found);
    let slow = &found["durable"]["slow"];
    let slow_rows = slow["rows"].as_array().map_or(0, Vec::len);
    let is_away = slow["error"].as_str().is_some_and(|error| error.contains("start strace"));
    assert!(slow_rows == 2 || is_away, "{slow}");
    assert_eq!(counted.len(), 4 * 4 + 2 * 4 + slow_rows, "{found}");
    assert!(counted.iter().all(|count| **count == 0), "{found}");
    let told = table(&found);
    assert!(told.lines().count() > 40 && !told.contains("NaN"), "{told}");
    let lasts = Duration::from_secs(1);
    let soaked = soak(&programs, below, SoakSettings { lasts, rate: 20 }).await.unwrap();
    assert_eq!(soaked["calls"]["errors"], 0, "{soaked}");
    assert_eq!(soaked["files"]["before"], soaked["files"]["after"], "{soaked}");
    // As many as clients can have on their way at once to each of two servers.
    assert!(soaked["sleepers"]["after"].as_u64().unwrap() <= 16, "{soaked}");
    assert_eq!(soaked["children"]["before"], soaked["children"]["after"], "{soaked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_benchmark_of_agents_measures_turns_first_words_bounds_and_waiting_runs() {
    // The server of the SDK has no part in it.
    let server = PathBuf::from(env!("CARGO_BIN_EXE_toolcrib"));
    let programs = MeasuredPrograms { echo: server.clone(), server, relay: None };
    let python = python_clients();
    let is_there = python.is_some();
    let much = AgentSettings { rounds: 1, turns: 2, answers: 2, waiting: 3, python };
    let folder = Folder::new();
    let found = agents(&programs, folder.path(), &much).await.unwrap();
    let others = found["turns"]["others_us"].as_object().map_or(0, serde_json::Map::len);
    assert_eq!(others, if is_there { 2 } else { 0 }, "{found}");
    let named = |part: &str| found[part].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let words = ["direct_ms", "chat_ms", "chat_stored_ms", "responses_ms", "responses_stored_ms"];
    assert_eq!(named("first_word"), words, "{found}");
    assert_eq!(found["waiting"]["runs"], 3, "{found}");
    // The last words of the planner are beside its turns.
    let spent = found["fanout"]["ours"].as_object().unwrap();
    assert!(spent.values().all(|beyond| *beyond == 1), "{found}");
    let fanouts = spent.len() * if is_there { 2 } else { 1 };
    let told = table(&serde_json::json!({ "agents": found }));
    assert_eq!(told.lines().count(), 2 + 2 + others + 4 + fanouts + 3, "{told}");
    assert!(!told.contains("NaN"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_benchmark_of_rollouts_measures_them_beside_their_slowest_and_a_barrier() {
    let server = PathBuf::from(env!("CARGO_BIN_EXE_toolcrib"));
    let programs = MeasuredPrograms { echo: server.clone(), server, relay: None };
    let [model, tool] = [[5, 20], [1, 3]].map(|range| range.map(Duration::from_millis));
    let much = RolloutSettings { trajectories: 20, turns: 3, model, tool };
    let folder = Folder::new();
    let found = rollouts(&programs, folder.path(), much).await.unwrap();
    let seconds = |key: &str| found[key].as_f64().unwrap();
    assert!(seconds("ours_s") >= seconds("slowest_chain_s"), "{found}");
    assert!(seconds("barrier_s") >= seconds("slowest_chain_s"), "{found}");
    assert!(seconds("median_ms") > 0.0 && seconds("median_beside_slow_ms") > 0.0, "{found}");
    let told = table(&serde_json::json!({ "rollouts": found }));
    assert!(told.lines().count() == 2 + 5 && !told.contains("NaN"), "{told}");
}
