//! The server as a program: a message is a line.

use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::thread;
use std::time::{Duration, Instant};

use super::answer::{HostileMemory, HostileRequest, HostileStep, steps};
use super::script::HostileScript;

/// How long the noise may take after the input has ended.
const LAST_NOISE: Duration = Duration::from_secs(1);

/// Serves standard input until it closes.
pub(super) fn run(script: &HostileScript) -> io::Result<()> {
    let noise = script.setting("stderr").map(|count| {
        let noise = vec![b'~'; usize::try_from(count).unwrap_or_default()];
        thread::spawn(move || io::stderr().write_all(&noise))
    });
    let memory = HostileMemory::default();
    for line in io::stdin().lock().split(b'\n') {
        let line = line?;
        record(script, &line)?;
        let Some(request) = HostileRequest::read(&line) else { continue };
        let steps = steps(script, &memory, &request);
        // One that waits must not keep the others from being answered.
        if steps.iter().any(|step| matches!(step, HostileStep::Wait(_) | HostileStep::Endless(_))) {
            thread::spawn(move || steps.into_iter().try_for_each(carry_out));
        } else {
            steps.into_iter().try_for_each(carry_out)?;
        }
    }
    // Input that ends at once must not cost the noise, and nobody may be reading it.
    let until = Instant::now() + LAST_NOISE;
    while noise.as_ref().is_some_and(|noise| !noise.is_finished()) && Instant::now() < until {
        thread::sleep(Duration::from_millis(2));
    }
    if script.has("stays") {
        thread::sleep(Duration::from_hours(24));
    }
    Ok(())
}

/// Appends a line to the record, if one is kept.
pub(super) fn record(script: &HostileScript, line: &[u8]) -> io::Result<()> {
    let Some(path) = script.text("record") else { return Ok(()) };
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(&[line, b"\n"].concat())
}

fn carry_out(step: HostileStep) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match step {
        HostileStep::Message(bytes) => output.write_all(&[bytes.as_slice(), b"\n"].concat())?,
        HostileStep::Bytes(bytes) => output.write_all(&bytes)?,
        HostileStep::Endless(bytes) => loop {
            output.write_all(&bytes)?;
        },
        HostileStep::Wait(pause) => {
            drop(output);
            thread::sleep(pause);
            return Ok(());
        }
        HostileStep::Exit => {
            output.flush()?;
            end();
        }
    }
    output.flush()
}

#[expect(clippy::exit, reason = "it is told to end without a word, from any thread")]
fn end() -> ! {
    std::process::exit(1)
}
