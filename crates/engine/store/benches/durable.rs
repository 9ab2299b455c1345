//! Durable calls a second, through the door, against one `fdatasync` for each call.
//!
//! `cargo bench -p toolcrib-store` prints the figures; the disk and its other load change them,
//! so that both are measured in turns.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use toolcrib_core::{AllowAll, Call, Caller, Effect, PlanRequest, RawArguments, Toolset, raw_tool};
use toolcrib_core::{Content, ToolOutcome, ToolSpec};
use toolcrib_engine::Crib;
use toolcrib_store::{Store, StoreOptions};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const TURNS: u32 = 20;

/// How long each side runs in one turn.
const TURN: Duration = Duration::from_millis(200);

/// What a row takes, about.
const ROW: [u8; 330] = [b'x'; 330];

#[tokio::main]
async fn main() -> Outcome<()> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("durable");
    // What a benchmark before left; none is fine.
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory)?;
    let mut out = std::io::stdout();
    for effect in [Effect::Write, Effect::Read] {
        for concurrency in [1, 16, 64] {
            let name = format!("{}-{concurrency}.db", effect.as_str());
            let crib = crib(&directory.join(name), effect)?;
            let mut log = OpenOptions::new();
            let mut log = log.create(true).append(true).open(directory.join("bare"))?;
            let (mut bare, mut ours) = (0.0, 0.0);
            for _ in 0..TURNS {
                bare += one_sync_each(&mut log)?;
                ours += calls(&crib, concurrency).await?;
            }
            let (bare, ours) = (bare / f64::from(TURNS), ours / f64::from(TURNS));
            let ratio = ours / bare;
            writeln!(
                out,
                "{:5} {concurrency:2} at once: {ours:7.0} calls/s; one fdatasync each: \
                 {bare:7.0}/s; ratio {ratio:.2}",
                effect.as_str()
            )?;
        }
    }
    std::fs::remove_dir_all(&directory)?;
    Ok(())
}

fn crib(path: &Path, effect: Effect) -> Outcome<Crib> {
    let spec = ToolSpec::new("nothing", "Does nothing.", effect)?;
    let tool = raw_tool(spec, |_, _| async { ToolOutcome::Done(Content::text("done")) });
    let store = Store::open(path, StoreOptions::default())?;
    let builder = Crib::builder().ledger(Arc::new(store)).policy(AllowAll);
    Ok(builder.build_fixed(Toolset::of([tool])?))
}

/// Rows a second that one writer appends, each with a sync of its own.
fn one_sync_each(log: &mut File) -> Outcome<f64> {
    let start = Instant::now();
    let mut rows = 0.0;
    while start.elapsed() < TURN {
        log.write_all(&ROW)?;
        log.sync_data()?;
        rows += 1.0;
    }
    Ok(rows / start.elapsed().as_secs_f64())
}

/// Calls a second that so many callers make, each one call after the other.
async fn calls(crib: &Crib, concurrency: u64) -> Outcome<f64> {
    let done = Arc::new(AtomicU64::new(0));
    let start = Instant::now();
    let callers = (0..concurrency).map(|_| {
        let (crib, done) = (crib.clone(), Arc::clone(&done));
        tokio::spawn(async move {
            while start.elapsed() < TURN {
                let Ok(plan) = crib.plan(&Caller::local(), PlanRequest::default()) else { return };
                let n = done.load(Ordering::Relaxed);
                let arguments = RawArguments::Value(json!({ "n": n, "text": "some words" }));
                let report = crib.run(&plan, vec![Call::new("1", "nothing", arguments)]).await;
                if report.responses.iter().all(|response| response.outcome.is_done()) {
                    done.fetch_add(1, Ordering::Relaxed);
                }
            }
        })
    });
    futures_util::future::try_join_all(callers).await?;
    let calls = u32::try_from(done.load(Ordering::Relaxed))?;
    Ok(f64::from(calls) / start.elapsed().as_secs_f64())
}
