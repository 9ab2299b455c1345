//! What a durable call costs, by where its record is: in a file, in a database, and in a database
//! that several servers share; each with syncs of the same length.

mod postgres;

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use self::postgres::ScratchPostgres;
use crate::client::load::{LoadSettings, MeasureSettings, run};
use crate::client::session::{ClientEra, LoadCall, LoadTarget};
use crate::figures::round;
use crate::gateway::ways::until_there;
use crate::test_bed::{MeasuredPrograms, STORE, TestBed, over_http};
use crate::{LoadError, LoadFigures, MeasuredProgram};

/// What is added to each sync.
const ADDED: Duration = Duration::from_micros(3_900);

/// Servers that share a database.
const SHARING: usize = 3;

/// Servers with one record between them.
struct DurableWay {
    name: &'static str,
    servers: Vec<(TestBed, MeasuredProgram, LoadTarget)>,
}

/// Measures each in turns. `postgres`: the folder with the programs of a server of Postgres.
pub async fn store(
    programs: &MeasuredPrograms,
    below: &Path,
    postgres: &Path,
    much: &MeasureSettings,
) -> Result<Value, LoadError> {
    let place = TestBed::new(programs, below)?;
    let (_echo, direct) = place.echo(0)?;
    let echo = over_http("far", &direct);
    let database = ScratchPostgres::start(postgres, ADDED).await?;
    let file = TestBed::new(programs, below)?;
    let (program, target) = file.serve_slowly(&format!("{STORE}{echo}"), ADDED)?;
    let mut ways = vec![DurableWay { name: "file", servers: vec![(file, program, target)] }];
    for (name, count, shares) in [
        ("database", 1, false),
        ("database_with_fence", 1, true),
        ("database_with_fence_of_three", SHARING, true),
    ] {
        let url = database.database(name)?;
        let mut servers = Vec::new();
        for _ in 0..count {
            servers.push(over_database(programs, below, (&url, shares), &echo)?);
        }
        ways.push(DurableWay { name, servers });
    }
    for way in &ways {
        for (_, _, target) in &way.servers {
            until_there(target, &LoadCall::echo("far__echo")).await?;
        }
    }
    let mut rows = Vec::new();
    for sessions in &much.sessions {
        rows.push(
            row(&ways, much.load(*sessions, ClientEra::Modern), much.rounds, &database).await?,
        );
    }
    Ok(json!({ "added_ms": ADDED.as_secs_f64() * 1e3, "rows": rows }))
}

/// One server whose record is in a database; `shares`: with others.
fn over_database(
    programs: &MeasuredPrograms,
    below: &Path,
    (url, shares): (&str, bool),
    echo: &str,
) -> Result<(TestBed, MeasuredProgram, LoadTarget), LoadError> {
    let place = TestBed::new(programs, below)?;
    let cluster = "[cluster]\nsecret = \"${file:secret}\"\n";
    if shares {
        std::fs::write(place.folder().join("secret"), "a secret that all of them have, no other")?;
    }
    let cluster = if shares { cluster } else { "" };
    let (program, target) = place.serve(&format!("[store]\nurl = \"{url}\"\n{cluster}{echo}"))?;
    Ok((place, program, target))
}

/// All ways in turns, so that whatever else the machine does meets each.
async fn row(
    ways: &[DurableWay],
    load: LoadSettings,
    rounds: u32,
    database: &ScratchPostgres,
) -> Result<Value, LoadError> {
    let mut found: Vec<_> = ways.iter().map(|_| WayFigures::default()).collect();
    for _ in 0..rounds {
        for (way, figures) in ways.iter().zip(&mut found) {
            let before = database.worked();
            let write = LoadCall::echo("far__put");
            let runs =
                way.servers.iter().map(|(_, program, target)| run(target, &write, load, program));
            for ended in together(runs).await {
                figures.of_each.push(ended?);
            }
            figures.database += database.worked().saturating_sub(before);
        }
    }
    let mut row = json!({ "sessions_of_each": load.sessions });
    for (way, figures) in ways.iter().zip(found) {
        if let Some(fields) = row.as_object_mut() {
            fields.insert(way.name.to_owned(), figures.told(way.servers.len()));
        }
    }
    Ok(row)
}

/// What all of them give, which go on side by side.
async fn together<Run: Future>(runs: impl Iterator<Item = Run>) -> Vec<Run::Output> {
    let mut waiting: Vec<_> = runs.map(|run| (Box::pin(run), None)).collect();
    std::future::poll_fn(|context| {
        let mut is_over = true;
        for (run, ended) in &mut waiting {
            if ended.is_none() {
                match run.as_mut().poll(context) {
                    std::task::Poll::Ready(output) => *ended = Some(output),
                    std::task::Poll::Pending => is_over = false,
                }
            }
        }
        if is_over { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    waiting.into_iter().filter_map(|(_, ended)| ended).collect()
}

/// What is found of one way.
#[derive(Default)]
struct WayFigures {
    of_each: Vec<LoadFigures>,
    /// What the database worked meanwhile.
    database: Duration,
}

impl WayFigures {
    /// `servers`: how many were asked at the same time.
    fn told(self, servers: usize) -> Value {
        let mut all = LoadFigures::default();
        for figures in self.of_each {
            all.add(figures);
        }
        let calls = all.calls();
        // Those of servers side by side lasted together.
        let rate = all.calls_per_second() * crate::figures::count(servers);
        let database = self.database.as_secs_f64() * 1e6 / calls.max(1.0);
        let mut told = all.to_json();
        if let Some(fields) = told.as_object_mut() {
            fields.insert("calls_per_second".to_owned(), json!(round(rate)));
            fields.insert("database_us_per_call".to_owned(), json!(round(database)));
        }
        told
    }
}
