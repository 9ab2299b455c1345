//! A program that is measured: started, watched in `/proc`, ended.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::LoadError;

/// A tick of the times in `/proc`: the same on every Linux there is.
const TICK: Duration = Duration::from_millis(10);

/// What a program has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenResources {
    /// Files, pipes and sockets, those of `sleepers` not among them.
    pub files: usize,
    /// Connections that it made: kept for the next call, as many as calls were on their way at
    /// once.
    pub sleepers: usize,
    pub children: usize,
}

/// Ends when it is dropped.
pub struct MeasuredProgram {
    child: Child,
    out: BufReader<ChildStdout>,
    pub(crate) started: Instant,
}

impl MeasuredProgram {
    /// Starts it in a folder, which is also where it keeps its state.
    pub fn start(program: &Path, words: &[&str], folder: &Path) -> Result<Self, LoadError> {
        Self::run(command(program, words, folder).env("XDG_STATE_HOME", folder), program)
    }

    /// The same without a place for its state.
    pub(crate) fn start_homeless(
        program: &Path,
        words: &[&str],
        folder: &Path,
    ) -> Result<Self, LoadError> {
        let mut command = command(program, words, folder);
        Self::run(command.env_remove("XDG_STATE_HOME").env_remove("HOME"), program)
    }

    fn run(command: &mut Command, program: &Path) -> Result<Self, LoadError> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let started = Instant::now();
        let spawned = command.spawn();
        let mut child =
            spawned.map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let out = child.stdout.take().ok_or("it has no output")?;
        Ok(Self { child, out: BufReader::new(out), started })
    }

    /// Ends it the way an operator does, so that it has time to put things away.
    pub(crate) fn stop(mut self) -> Result<(), LoadError> {
        rustix::process::kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        self.child.wait()?;
        Ok(())
    }

    /// Whether it has ended by itself.
    pub(crate) fn is_over(&mut self) -> Result<bool, LoadError> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// The next line that it prints.
    pub fn line(&mut self) -> Result<String, LoadError> {
        let mut line = String::new();
        match self.out.read_line(&mut line)? {
            0 => Err("a program ended before it said where it listens".into()),
            _ => Ok(line.trim().to_owned()),
        }
    }

    /// Where it listens, as `host:port`.
    pub fn address(&mut self) -> Result<String, LoadError> {
        let line = self.line()?;
        let (_, address) = line.split_once("http://").ok_or("it names no address")?;
        Ok(address.to_owned())
    }

    /// Processor time of it and of its children, those included that have ended.
    pub fn worked(&self) -> Duration {
        let ticks: u64 = self.family().iter().map(|one| one.ticks).sum();
        TICK * u32::try_from(ticks).unwrap_or(u32::MAX)
    }

    /// Memory of it and of its children, in bytes.
    pub fn rss(&self) -> u64 {
        self.family().iter().map(|one| kib(one.id, "VmRSS:") * 1024).sum()
    }

    /// What it has open now.
    pub fn holds(&self) -> OpenResources {
        let connections = connections_out();
        let files = fs::read_dir(format!("/proc/{}/fd", self.child.id()));
        let links: Vec<_> = files
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|file| fs::read_link(file.path()).ok()?.into_os_string().into_string().ok())
            .collect();
        let sleepers = links.iter().filter(|link| connections.contains(*link)).count();
        OpenResources {
            files: links.len() - sleepers,
            sleepers,
            children: self.family().len().saturating_sub(1),
        }
    }

    /// It and all below it.
    fn family(&self) -> Vec<ProcessTicks> {
        let mut all: HashMap<u32, Vec<ProcessTicks>> = HashMap::new();
        let mut family = Vec::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let id = entry.file_name().to_str().and_then(|name| name.parse().ok());
            let Some(process) = id.and_then(ProcessTicks::read) else { continue };
            if process.id == self.child.id() {
                family.push(process);
            } else {
                all.entry(process.parent).or_default().push(process);
            }
        }
        let mut next = 0;
        while let Some(id) = family.get(next).map(|process| process.id) {
            family.extend(all.remove(&id).into_iter().flatten());
            next += 1;
        }
        family
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark runs the developer's own programs")]
fn command(program: &Path, words: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(words).current_dir(folder);
    command
}

impl Drop for MeasuredProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct ProcessTicks {
    id: u32,
    parent: u32,
    ticks: u64,
}

impl ProcessTicks {
    fn read(id: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name in parentheses may hold anything.
        let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let field = |at: usize| fields.get(at)?.parse::<u64>().ok();
        // Of itself in user and system mode, then of its children that were waited for.
        let ticks = field(11)? + field(12)? + field(13)? + field(14)?;
        Some(Self { id, parent: u32::try_from(field(1)?).ok()?, ticks })
    }
}

/// The connections of this machine that were made from its side, as descriptors name them: those
/// at a port where nobody listens.
fn connections_out() -> HashSet<String> {
    const LISTENS: &str = "0A";
    let table = fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    // Number, own address and port, the other's, state, …, and the tenth is the socket.
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split_whitespace().collect()).collect();
    let port = |row: &[&str]| Some(row.get(1)?.rsplit_once(':')?.1.to_owned());
    let listens = |row: &&Vec<&str>| row.get(3).is_some_and(|state| *state == LISTENS);
    let doors: HashSet<_> = rows.iter().filter(listens).filter_map(|row| port(row)).collect();
    let outward = rows.iter().filter(|row| port(row).is_some_and(|port| !doors.contains(&port)));
    outward.filter_map(|row| Some(format!("socket:[{}]", row.get(9)?))).collect()
}

fn kib(id: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}
