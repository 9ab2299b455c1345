//! The tests of clients: a program reads an answer of the suite, and tells what it read.

mod stand_in;

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::matching;
use super::special::ActsVerdict;
use super::suite::ActsTest;
use stand_in::StandIn;

/// Bytes that a program may tell.
const MOST_BYTES: u64 = 4 * 1024 * 1024;
/// A client that stops before it asks is looked at this often.
const LOOK: Duration = Duration::from_millis(20);

/// Asks a client one test. `program`: its name, and the words before those of the test.
pub(super) fn ask(test: &ActsTest, program: &[String], patience: Duration) -> ActsVerdict {
    if !test.is_of_clients() {
        return ActsVerdict::Skipped("it judges agents: name the address of one".to_owned());
    }
    for (index, step) in test.steps.iter().enumerate() {
        let id = step.get("id").and_then(Value::as_str);
        let id = id.map_or_else(|| (index + 1).to_string(), str::to_owned);
        let faults = read_by(step, program, patience).unwrap_or_else(|fault| vec![fault]);
        if !faults.is_empty() {
            let at = |fault| format!("step `{id}`: {fault}");
            return ActsVerdict::Failed(faults.into_iter().map(at).collect());
        }
    }
    ActsVerdict::Passed
}

fn read_by(step: &Value, program: &[String], patience: Duration) -> Result<Vec<String>, String> {
    let golden = step.get("client_response").ok_or("it has no `client_response`")?;
    let operation = golden.get("operation").and_then(Value::as_str).unwrap_or_default();
    let payload = golden.get("wire_payload").cloned().unwrap_or_default();
    let agent = StandIn::start(operation, payload).map_err(|error| error.to_string())?;
    let told = run(program, &[&agent.base(), operation], patience)?;
    let last = told.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let read: Value =
        serde_json::from_str(&told).or_else(|_| serde_json::from_str(last)).map_err(|_| {
            let shown: String = last.chars().take(160).collect();
            format!("the client tells no JSON: {shown}")
        })?;
    let expected = step.get("expect_parsed").cloned().unwrap_or_default();
    Ok(matching::faults(&expected, Some(&read), "what was read"))
}

/// What a program writes; it is ended when its time is over.
#[expect(clippy::disallowed_methods, reason = "the person names a program of their own")]
fn run(program: &[String], more: &[&str], patience: Duration) -> Result<String, String> {
    let (name, words) = program.split_first().ok_or("`--client` names no program")?;
    let mut command = Command::new(name);
    command.args(words).args(more).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("`{name}` does not start: {error}"))?;
    let out = child.stdout.take();
    let reading = thread::spawn(move || {
        let mut told = Vec::new();
        if let Some(out) = out {
            let _ = out.take(MOST_BYTES).read_to_end(&mut told);
        }
        told
    });
    let start = Instant::now();
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Ok(status),
            Ok(None) if start.elapsed() < patience => thread::sleep(LOOK),
            Ok(None) => break Err(format!("the client takes longer than {patience:?}")),
            Err(error) => break Err(error.to_string()),
        }
    };
    if ended.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    let status = ended?;
    let told = reading.join().map_err(|_| "what the client tells cannot be read".to_owned())?;
    let told = String::from_utf8_lossy(&told).into_owned();
    if told.trim().is_empty() {
        return Err(format!("the client tells nothing ({status})"));
    }
    Ok(told)
}
