//! Calls of all kinds at a steady rate for a long time: what should stay as it was, does it?

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::client::session::{ClientEra, LoadCall, LoadSession, LoadTarget};
use crate::figures::{count, mib, precise, round};
use crate::gateway::ways::until_there;
use crate::program::OpenResources;
use crate::test_bed::{BASICS, MeasuredPrograms, TestBed, as_child, over_http};
use crate::{LoadError, LoadFigures, MeasuredProgram};

/// How long, and how many calls a second.
#[derive(Debug, Clone, Copy)]
pub struct SoakSettings {
    /// The same calls go on for as long before that, until all that happens now and then has
    /// happened once: code that has not run yet is not in memory.
    pub lasts: Duration,
    pub rate: u32,
}

const CLIENTS: u32 = 8;
/// How long what was used may take to be given back.
const REST: Duration = Duration::from_secs(5);

/// The kinds of calls: those that read and those that write, of every kind of source.
fn asks() -> Vec<LoadCall> {
    let counted = LoadCall {
        tool: "text_count".to_owned(),
        arguments: r#"{"text":"hello, echo"}"#.to_owned(),
        expected: "characters".to_owned(),
    };
    let listed = LoadCall {
        tool: "other__list_tools".to_owned(),
        arguments: r#"{"q":"uuid"}"#.to_owned(),
        expected: "uuid_new".to_owned(),
    };
    let echoes = ["far__echo", "far__put", "near__echo", "near__put"].map(LoadCall::echo);
    echoes.into_iter().chain([counted, listed]).collect()
}

pub async fn soak(
    programs: &MeasuredPrograms,
    below: &Path,
    much: SoakSettings,
) -> Result<Value, LoadError> {
    let (place, elsewhere) = (TestBed::new(programs, below)?, TestBed::new(programs, below)?);
    let (_echo, direct) = place.echo(0)?;
    let (_other, other) = elsewhere.serve(BASICS)?;
    let file = [
        "[store]\nurl = \"sqlite://crib.db\"\n\n".to_owned(),
        over_http("far", &direct),
        as_child("near", programs),
        over_rest("other", &other),
        BASICS.to_owned(),
    ];
    let (server, target) = place.serve(&file.concat())?;
    for ask in asks() {
        until_there(&target, &ask).await?;
    }
    tokio::time::sleep(REST).await;
    let before = server.holds();
    let mut clients = JoinSet::new();
    let until = Instant::now() + 2 * much.lasts;
    for number in 0..CLIENTS {
        let era = if number % 2 == 0 { ClientEra::Modern } else { ClientEra::Legacy };
        clients.spawn(client(target.clone(), era, (number, much.rate), until));
    }
    tokio::time::sleep(much.lasts).await;
    let samples = samples(&server, until).await;
    let mut figures = LoadFigures::default();
    while let Some(ended) = clients.join_next().await {
        figures.add(ended?);
    }
    figures
        .add(LoadFigures::new(Vec::new(), 2 * much.lasts).with_cost(Duration::ZERO, server.rss()));
    let after = settled(&server, before).await;
    Ok(json!({
        "minutes": round(much.lasts.as_secs_f64() / 60.0),
        "calls": figures.to_json(),
        "rss_mib": { "first": first(&samples), "last": mib(server.rss()) },
        "rss_slope_mib_per_hour": round(slope(&samples)),
        "files": { "before": before.files, "after": after.files },
        "sleepers": { "before": before.sleepers, "after": after.sleepers },
        "children": { "before": before.children, "after": after.children },
    }))
}

/// Files and children once they are as before, or when there was time enough.
async fn settled(server: &MeasuredProgram, before: OpenResources) -> OpenResources {
    let last = Instant::now() + 4 * REST;
    loop {
        let now = server.holds();
        if (now.files, now.children) == (before.files, before.children) || Instant::now() > last {
            return now;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// One client that keeps to its part of the rate. A call that fails is counted, and its client
/// begins anew.
async fn client(
    target: LoadTarget,
    era: ClientEra,
    (number, rate): (u32, u32),
    until: Instant,
) -> LoadFigures {
    let asks = asks();
    let mut beat = tokio::time::interval(Duration::from_secs(1) * CLIENTS / rate.max(1));
    let mut session = None;
    let mut times = Vec::new();
    let mut failed = LoadFigures::default();
    for ask in asks.iter().cycle().skip(number as usize) {
        beat.tick().await;
        let begun = Instant::now();
        if begun > until {
            break;
        }
        let mut own = match session.take() {
            Some(own) => own,
            None => match LoadSession::open(&target, era).await {
                Ok(own) => own,
                Err(error) => {
                    failed.fail(&error);
                    continue;
                }
            },
        };
        match own.call(ask).await {
            Ok(()) => {
                times.push(begun.elapsed());
                session = Some(own);
            }
            Err(error) => failed.fail(&error),
        }
    }
    if let Some(session) = session {
        let _ = session.end().await;
    }
    failed.add(LoadFigures::new(times, Duration::ZERO));
    failed
}

/// Seconds since the start, and the memory then.
async fn samples(server: &MeasuredProgram, until: Instant) -> Vec<(f64, f64)> {
    let begun = Instant::now();
    let mut samples = Vec::new();
    while Instant::now() < until {
        tokio::time::sleep(Duration::from_secs(1)).await;
        samples.push((begun.elapsed().as_secs_f64(), precise(server.rss()) / 1024.0 / 1024.0));
    }
    samples
}

fn first(samples: &[(f64, f64)]) -> f64 {
    samples.first().map_or(0.0, |(_, rss)| round(*rss))
}

/// MiB an hour of the straight line nearest to the samples.
fn slope(samples: &[(f64, f64)]) -> f64 {
    let number = count(samples.len()).max(1.0);
    let mean = |of: fn(&(f64, f64)) -> f64| samples.iter().map(of).sum::<f64>() / number;
    let (time, rss) = (mean(|(time, _)| *time), mean(|(_, rss)| *rss));
    let together: f64 = samples.iter().map(|(t, r)| (t - time) * (r - rss)).sum();
    let alone: f64 = samples.iter().map(|(t, _)| (t - time).powi(2)).sum();
    if alone > 0.0 { together / alone * 3_600.0 } else { 0.0 }
}

/// A source that is another crib by its REST door.
fn over_rest(id: &str, target: &LoadTarget) -> String {
    let (address, token) = (&target.address, target.token.as_deref().unwrap_or_default());
    format!(
        "[[source]]\nid = \"{id}\"\nopenapi = {{ document = \"http://{address}/v1/openapi.json\", \
         base_url = \"http://{address}\", auth = {{ bearer = \"{token}\" }} }}\n\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_that_of_the_line_through_the_samples() {
        let grows = |at: u32| (f64::from(at), 50.0 + f64::from(at) / 360.0);
        let samples: Vec<_> = (0..90).map(grows).collect();
        assert!((slope(&samples) - 10.0).abs() < 1e-6, "{}", slope(&samples));
        assert!(slope(&[]).abs() < 1e-9);
    }
}
