//! A thousand starts and ends: what stays, and what it costs against starting without care.
//!
//! `cargo bench -p toolcrib-child` prints the figures; the machine's other load changes them.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use toolcrib_child::{Child, Program};

const CYCLES: u32 = 1_000;

/// Ends by a signal, as most programs do.
const PLAIN: [&str; 2] = ["-c", "echo; exec sleep 1000"];

/// Ignores signals, floods, forks, and forks twice into sessions of its own.
const WORST: [&str; 2] = [
    "-c",
    "trap '' TERM HUP INT; (while :; do echo noise; done) >&2 & \
     setsid sh -c 'trap \"\" TERM; sleep 1000 & wait' & (setsid sleep 1000 &); \
     echo; while :; do sleep 1; done",
];

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    // What a runtime opens when it is first used stays open.
    bare().await?;
    ours(&PLAIN).await?;
    let files = open_files();
    let (mut without_care, mut with_care) = (Duration::ZERO, Duration::ZERO);
    // One after the other, so that the load of the machine meets both.
    for _ in 0..CYCLES {
        without_care += bare().await?;
        with_care += ours(&PLAIN).await?;
    }
    let mut worst = Duration::ZERO;
    for _ in 0..CYCLES {
        worst += ours(&WORST).await?;
    }
    let left = children()?;
    let zombies = left.iter().filter(|state| **state == 'Z').count();
    let mut out = std::io::stdout();
    writeln!(out, "{CYCLES} cycles of each; open files: {files} before, {} after", open_files())?;
    writeln!(out, "left: {zombies} zombies, {} living descendants", left.len() - zombies)?;
    writeln!(out, "bare spawn, kill and wait: {:.2?} each", without_care / CYCLES)?;
    let ratio = with_care.as_secs_f64() / without_care.as_secs_f64();
    writeln!(out, "ours: {:.2?} each, {ratio:.2} times as long", with_care / CYCLES)?;
    writeln!(out, "ours with four more processes that hide: {:.2?} each", worst / CYCLES)?;
    Ok(())
}

/// From start to end with nothing but Tokio.
#[expect(clippy::disallowed_methods, reason = "what we are compared with")]
async fn bare() -> Outcome<Duration> {
    let start = Instant::now();
    let mut child = tokio::process::Command::from(std::process::Command::new("/bin/sh"))
        .args(PLAIN)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut line = [0];
    child.stdout.take().ok_or("no output")?.read_exact(&mut line).await?;
    child.kill().await?;
    Ok(start.elapsed())
}

/// From start to end with the supervisor.
async fn ours(arguments: &[&str]) -> Outcome<Duration> {
    let program = Program::new("/bin/sh", arguments.iter().copied());
    let start = Instant::now();
    let mut child = Child::spawn(&program).await?;
    let (_stdin, stdout) = child.take_pipes().ok_or("no pipes")?;
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).await?;
    child.kill().await;
    Ok(start.elapsed())
}

fn open_files() -> usize {
    fs::read_dir("/proc/self/fd").into_iter().flatten().count()
}

/// The states of the processes whose ancestor we are.
fn children() -> Outcome<Vec<char>> {
    let mut ancestors = vec![std::process::id().to_string()];
    let mut found = Vec::new();
    // Ids mostly grow from parent to child; a second pass meets the others.
    for _ in 0..2 {
        for entry in fs::read_dir("/proc")?.flatten() {
            let id = entry.file_name().to_string_lossy().into_owned();
            let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let Some((_, rest)) = stat.rsplit_once(") ") else { continue };
            let mut fields = rest.split(' ');
            let (state, parent) = (fields.next().unwrap_or_default(), fields.next());
            let is_ours = parent.is_some_and(|parent| ancestors.iter().any(|id| id == parent));
            if is_ours && !ancestors.contains(&id) {
                ancestors.push(id);
                found.extend(state.chars().next());
            }
        }
    }
    Ok(found)
}
