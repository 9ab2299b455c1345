//! The benchmark of a whole server is run as small as it goes, so that it does not rot.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use toolcrib_load::{
    MeasureSettings, MeasuredPrograms, SoakSettings, StartupSettings, durable, gateway, soak,
    start, table,
};

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
