//! `toolcrib-load gateway|agents|a2a|rollout|soak|usual SERVER ECHO FOLDER [--seconds=N] [--minutes=N] [--rate=N]
//! [--calls=N] [--python=PATH] [--json]`: what `cargo xtask bench` and `dist` run, in a build that is optimised.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_load::{
    A2aSettings, AgentSettings, LoadError, MeasureSettings, MeasuredPrograms, RolloutSettings,
    SoakSettings, StartupSettings, UsualCalls, a2a, agents, durable, gateway, rollouts, soak,
    start, table, usual,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [word, to] = words.as_slice()
        && word == "relay"
    {
        return match toolcrib_load::relay(to).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let told = match measure(&words).await {
        Ok(found) => match table(&found) {
            rows if rows.is_empty() || words.iter().any(|word| word == "--json") => {
                format!("{found:#}")
            }
            rows => format!("{found:#}\n\n{rows}"),
        },
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            return ExitCode::FAILURE;
        }
    };
    // Nobody may be reading any more.
    let _ = writeln!(std::io::stdout(), "{told}");
    ExitCode::SUCCESS
}

async fn measure(words: &[String]) -> Result<Value, LoadError> {
    let mut plain = words.iter().filter(|word| !word.starts_with("--"));
    let mut path = || plain.next().map(PathBuf::from).ok_or("name what is measured");
    let what = path()?;
    let relay = std::env::current_exe().ok();
    let programs = MeasuredPrograms { server: path()?, echo: path()?, relay };
    let below = path()?;
    let much = MeasureSettings::of(Duration::from_secs(number(words, "--seconds=", 9)?));
    if what.as_os_str() == "soak" {
        let lasts = Duration::from_secs(60 * number(words, "--minutes=", 10)?);
        let rate = u32::try_from(number(words, "--rate=", 300)?)?;
        return soak(&programs, &below, SoakSettings { lasts, rate }).await;
    }
    if what.as_os_str() == "usual" {
        let calls = usize::try_from(number(words, "--calls=", 1)?)?;
        let child = !words.iter().any(|word| word == "--no-child");
        return usual(&programs, &below, UsualCalls { calls, child }).await;
    }
    if what.as_os_str() == "rollout" {
        let trajectories = usize::try_from(number(words, "--trajectories=", 2_000)?)?;
        let much = RolloutSettings { trajectories, ..RolloutSettings::default() };
        return Ok(json!({ "rollouts": rollouts(&programs, &below, much).await? }));
    }
    let python = words.iter().find_map(|word| word.strip_prefix("--python=")).map(PathBuf::from);
    if what.as_os_str() == "a2a" {
        let much = A2aSettings { python, ..A2aSettings::default() };
        return Ok(json!({ "a2a": a2a(&programs, &below, &much).await? }));
    }
    if what.as_os_str() == "agents" {
        let much = AgentSettings { python, ..AgentSettings::default() };
        return Ok(json!({ "agents": agents(&programs, &below, &much).await? }));
    }
    Ok(json!({
        "gateway": or_why(gateway(&programs, &below, &much).await),
        "start": or_why(start(&programs, &below, StartupSettings::default()).await),
        "durable": or_why(durable(&programs, &below, &much).await),
    }))
}

/// What one part cannot measure should not cost the others.
fn or_why(found: Result<Value, LoadError>) -> Value {
    found.unwrap_or_else(|error| json!({ "error": error.to_string() }))
}

/// The number behind a word.
fn number(words: &[String], name: &str, otherwise: u64) -> Result<u64, LoadError> {
    let said = words.iter().find_map(|word| word.strip_prefix(name));
    let Some(said) = said else { return Ok(otherwise) };
    let wrong =
        || format!("`{name}{said}`: write a whole number, as in `{name}{otherwise}`").into();
    said.parse().map_err(|_| wrong())
}
