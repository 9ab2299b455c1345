//! What a server takes before anybody asks much of it: time to its first answer, and memory.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::LoadError;
use crate::client::session::{ClientEra, LoadCall, LoadSession, LoadTarget};
use crate::figures::{count, median, mib, precise, round};
use crate::gateway::ways::until_there;
use crate::test_bed::{BASICS, MeasuredPrograms, TestBed, over_http};

/// How long a server is left alone before its memory is read.
const REST: Duration = Duration::from_millis(500);

/// Tools that the server of the SDK has in any case.
const OWN: usize = 2;
/// Tools that one source may have.
const MOST_OF_ONE: usize = 5_000;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub struct StartupSettings {
    pub starts: usize,
    pub sessions: usize,
    /// Tools of the two lists.
    pub tools: [usize; 2],
    pub lists: usize,
}

impl Default for StartupSettings {
    fn default() -> Self {
        Self { starts: 15, sessions: 1_000, tools: [1_000, 10_000], lists: 50 }
    }
}

pub(crate) fn counted() -> LoadCall {
    LoadCall {
        tool: "text_count".to_owned(),
        arguments: r#"{"text":"hello, echo"}"#.to_owned(),
        expected: "characters".to_owned(),
    }
}

pub async fn start(
    programs: &MeasuredPrograms,
    below: &Path,
    much: StartupSettings,
) -> Result<Value, LoadError> {
    let mut bare = Vec::new();
    let mut ours = Vec::new();
    for _ in 0..much.starts {
        let place = TestBed::new(programs, below)?;
        let (echo, target) = place.echo(0)?;
        first_answer(&target, &LoadCall::echo("echo")).await?;
        bare.push(echo.started.elapsed().as_secs_f64() * 1e3);
        ours.push(cold(&place).await?);
    }
    let (idle, session) = idle(programs, below, much.sessions).await?;
    Ok(json!({
        "first_answer_ms": { "direct": round(median(bare)), "ours": round(median(ours)) },
        "rss_idle_mib": idle,
        "kib_per_idle_session": session,
        "list": list(programs, below, much.tools[0], much.lists).await?,
        "list_many": list(programs, below, much.tools[1], much.lists.div_ceil(10)).await?,
    }))
}

/// Milliseconds from the start of the program to its first answered call. The token is there from
/// an earlier start, as it is on every day but the first.
async fn cold(place: &TestBed) -> Result<f64, LoadError> {
    let (program, target) = place.serve(BASICS)?;
    drop(program);
    let (program, again) = place.serve_with(BASICS, target.token)?;
    first_answer(&again, &counted()).await?;
    Ok(program.started.elapsed().as_secs_f64() * 1e3)
}

/// A server that listens may still be putting its tools together.
async fn first_answer(target: &LoadTarget, ask: &LoadCall) -> Result<(), LoadError> {
    let last = Instant::now() + Duration::from_secs(10);
    let mut session = LoadSession::open(target, ClientEra::Modern).await?;
    while let Err(error) = session.call(ask).await {
        if Instant::now() > last {
            return Err(error);
        }
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
    Ok(())
}

/// MiB of a server that does nothing, and KiB of each session that does nothing.
async fn idle(
    programs: &MeasuredPrograms,
    below: &Path,
    sessions: usize,
) -> Result<(f64, f64), LoadError> {
    let place = TestBed::new(programs, below)?;
    let (program, target) = place.serve(BASICS)?;
    until_there(&target, &counted()).await?;
    tokio::time::sleep(REST).await;
    let before = program.rss();
    for _ in 0..sessions {
        // Its connection ends, the session stays.
        LoadSession::open(&target, ClientEra::Legacy).await?;
    }
    tokio::time::sleep(REST).await;
    let more = program.rss().saturating_sub(before);
    Ok((mib(before), round(precise(more) / 1024.0 / count(sessions.max(1)))))
}

/// A list of many tools, direct and through us in turns, and what they take in memory.
async fn list(
    programs: &MeasuredPrograms,
    below: &Path,
    tools: usize,
    lists: usize,
) -> Result<Value, LoadError> {
    let place = TestBed::new(programs, below)?;
    let (echo, direct) = place.echo(tools.saturating_sub(OWN))?;
    let parts = tools.div_ceil(MOST_OF_ONE);
    let (_part, far) = place.echo((tools / parts).saturating_sub(OWN))?;
    let file: String = (0..parts).map(|part| over_http(&format!("far{part}"), &far)).collect();
    let (server, ours) = place.serve(&file)?;
    for part in 0..parts {
        until_there(&ours, &LoadCall::echo(&format!("far{part}__echo"))).await?;
    }
    let mut straight = LoadSession::open(&direct, ClientEra::Modern).await?;
    let mut through = LoadSession::open(&ours, ClientEra::Modern).await?;
    let (mut bare, mut own) = (Vec::new(), Vec::new());
    for _ in 0..lists.max(1) {
        for (session, times) in [(&mut straight, &mut bare), (&mut through, &mut own)] {
            let begun = Instant::now();
            let count = session.list().await?;
            times.push(begun.elapsed().as_secs_f64() * 1e3);
            if count != tools {
                return Err(format!("{count} tools are listed and not {tools}").into());
            }
        }
    }
    tokio::time::sleep(REST).await;
    Ok(json!({
        "tools": tools,
        "direct_ms": round(median(bare) * 10.0) / 10.0,
        "ours_ms": round(median(own) * 10.0) / 10.0,
        "direct_rss_mib": mib(echo.rss()),
        "ours_rss_mib": mib(server.rss()),
    }))
}
