//! The usual calls, for whoever watches what a server executes in them.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::gateway::startup::counted;
use crate::gateway::ways::there_within;
use crate::test_bed::{BASICS, as_child, over_http};
use crate::{
    ClientEra, LoadCall, LoadError, LoadSession, LoadTarget, MeasuredProgram, MeasuredPrograms,
    TestBed,
};

/// How long sources may take to start where the server runs below valgrind.
const PATIENCE: Duration = Duration::from_mins(3);
/// Clients at once.
const SESSIONS: usize = 4;

/// How much is asked.
#[derive(Debug, Clone, Copy)]
pub struct UsualCalls {
    /// Calls of each tool by each client of each era.
    pub calls: usize,
    /// Whether a server is started as a child too.
    pub child: bool,
}

/// Serves what comes embedded and what a file names, asks each in both eras, and ends them as an
/// operator does.
pub async fn usual(
    programs: &MeasuredPrograms,
    below: &Path,
    much: UsualCalls,
) -> Result<Value, LoadError> {
    let place = TestBed::new(programs, below)?;
    let of_embedded = ask(place.embedded()?, &[counted(), calendars()], much.calls).await?;
    let place = TestBed::new(programs, below)?;
    let (_echo, far) = place.echo(0)?;
    let mut file = [BASICS, &over_http("far", &far)].concat();
    let mut asks = vec![counted(), LoadCall::echo("far__echo")];
    if much.child {
        file += &as_child("near", programs);
        asks.extend([LoadCall::echo("near__echo"), LoadCall::echo("far__put")]);
    }
    let of_file = ask(place.serve(&file)?, &asks, much.calls).await?;
    Ok(json!({ "answers": of_embedded + of_file }))
}

/// Of a source that starts later than the harmless tools do.
fn calendars() -> LoadCall {
    LoadCall {
        tool: "list_calendars".to_owned(),
        arguments: "{}".to_owned(),
        expected: "personal".to_owned(),
    }
}

/// How many answers came, all of them right.
async fn ask(
    (program, target): (MeasuredProgram, LoadTarget),
    asks: &[LoadCall],
    calls: usize,
) -> Result<usize, LoadError> {
    let mut answers = 0;
    for ask in asks {
        there_within(PATIENCE, &target, ask).await?;
    }
    for era in [ClientEra::Modern, ClientEra::Legacy] {
        let mut clients = JoinSet::new();
        for _ in 0..SESSIONS.min(calls) {
            clients.spawn(client(target.clone(), era, asks.to_vec(), calls));
        }
        while let Some(answered) = clients.join_next().await {
            answers += answered??;
        }
    }
    program.stop()?;
    Ok(answers)
}

async fn client(
    target: LoadTarget,
    era: ClientEra,
    asks: Vec<LoadCall>,
    calls: usize,
) -> Result<usize, LoadError> {
    let mut session = LoadSession::open(&target, era).await?;
    session.list().await?;
    for _ in 0..calls {
        for ask in &asks {
            session.call(ask).await?;
        }
    }
    Ok(calls * asks.len())
}
