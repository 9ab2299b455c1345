//! What a way through us costs: the same calls direct and through us, in turns.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::load::{LoadSettings, MeasureSettings, run};
use crate::client::session::{ClientEra, LoadCall, LoadSession, LoadTarget};
use crate::test_bed::{BASICS, MeasuredPrograms, TestBed, as_child, over_http};
use crate::{LoadError, LoadFigures, MeasuredProgram};

/// How long sources may take to start.
const START: Duration = Duration::from_secs(30);

/// One way of a call, with what is found of it.
struct MeasuredWay<'a> {
    name: &'static str,
    target: &'a LoadTarget,
    program: &'a MeasuredProgram,
    ask: LoadCall,
}

/// Measures each way at each number of sessions and in each era.
pub async fn gateway(
    programs: &MeasuredPrograms,
    below: &Path,
    much: &MeasureSettings,
) -> Result<Value, LoadError> {
    let place = TestBed::new(programs, below)?;
    let (echo, direct) = place.echo(0)?;
    let file = [over_http("far", &direct), as_child("near", programs), BASICS.to_owned()];
    let (server, ours) = place.serve(&file.concat())?;
    let in_process = LoadCall {
        tool: "text_count".to_owned(),
        arguments: r#"{"text":"hello, echo"}"#.to_owned(),
        expected: "characters".to_owned(),
    };
    for tool in ["far__echo", "near__echo"] {
        until_there(&ours, &LoadCall::echo(tool)).await?;
    }
    let through = |name, ask| MeasuredWay { name, target: &ours, program: &server, ask };
    let relay = place.relay(&direct)?;
    let mut ways = vec![
        MeasuredWay {
            name: "direct",
            target: &direct,
            program: &echo,
            ask: LoadCall::echo("echo"),
        },
        through("http", LoadCall::echo("far__echo")),
        through("stdio", LoadCall::echo("near__echo")),
        through("in_process", in_process),
    ];
    if let Some((program, target)) = &relay {
        ways.push(MeasuredWay { name: "relay", target, program, ask: LoadCall::echo("echo") });
    }
    let mut rows = Vec::new();
    for era in [ClientEra::Modern, ClientEra::Legacy] {
        for sessions in &much.sessions {
            rows.push(row(&ways, much.load(*sessions, era), much.rounds).await?);
        }
    }
    Ok(Value::Array(rows))
}

/// All ways in turns, so that whatever else the machine does meets each.
async fn row(
    ways: &[MeasuredWay<'_>],
    load: LoadSettings,
    rounds: u32,
) -> Result<Value, LoadError> {
    let mut found: Vec<(LoadFigures, Vec<f64>)> = ways.iter().map(|_| Default::default()).collect();
    for _ in 0..rounds {
        for (way, (figures, rates)) in ways.iter().zip(&mut found) {
            let turn = run(way.target, &way.ask, load, way.program).await?;
            rates.push(turn.calls_per_second());
            figures.add(turn);
        }
    }
    let direct = found.first().map(|(_, rates)| rates.clone()).unwrap_or_default();
    let mut row = json!({ "revision": load.era.revision(), "sessions": load.sessions });
    for (way, (figures, rates)) in ways.iter().zip(&found) {
        let mut told = figures.to_json();
        put(&mut told, "of_direct", spread(rates, &direct));
        put(&mut row, way.name, told);
    }
    Ok(row)
}

fn put(row: &mut Value, name: &str, told: Value) {
    if let Some(fields) = row.as_object_mut() {
        fields.insert(name.to_owned(), told);
    }
}

/// How many calls a second there were for one of the server asked directly, turn by turn.
fn spread(rates: &[f64], direct: &[f64]) -> Value {
    let mut ratios: Vec<_> = rates.iter().zip(direct).map(|(own, of)| own / of.max(1e-9)).collect();
    ratios.sort_by(f64::total_cmp);
    let at = |place: usize| ratios.get(place).copied().unwrap_or_default();
    let last = ratios.len().saturating_sub(1);
    json!({ "least": at(0), "median": at(last / 2), "most": at(last) })
}

/// Waits until a tool is there.
pub(crate) async fn until_there(target: &LoadTarget, ask: &LoadCall) -> Result<(), LoadError> {
    there_within(START, target, ask).await
}

pub(crate) async fn there_within(
    patience: Duration,
    target: &LoadTarget,
    ask: &LoadCall,
) -> Result<(), LoadError> {
    let last = Instant::now() + patience;
    loop {
        let mut session = LoadSession::open(target, ClientEra::Modern).await?;
        match session.call(ask).await {
            Ok(()) => return Ok(()),
            Err(error) if Instant::now() > last => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}
