//! Calls that a process before decided on and whose end it did not live to record.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolcrib::store::Store;
use toolcrib::{Caller, Effect, Ending, ErrorKind, Ledger as _, TicketId};

use super::chain::LONGEST_LINE;
use super::files;

/// As much of the record is read again when it is opened, from its end: many times what is written
/// while one call runs.
const WINDOW: u64 = 64 * 1024 * 1024;

/// A decision without an end.
pub(super) struct Left {
    pub(super) call: String,
    caller: Caller,
    ruling: String,
    reads: bool,
    ticket: Option<TicketId>,
}

/// Those of the record, in the order of their calls.
pub(super) fn of(path: &Path) -> io::Result<Vec<Left>> {
    let mut open = BTreeMap::new();
    for (path, from, length) in last(path)? {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(from))?;
        // Not all that can be opened has an end.
        let mut lines = BufReader::new(file.take(length - from));
        if from > 0 {
            read_line(&mut lines, &mut Vec::new())?;
        }
        let mut line = Vec::new();
        while read_line(&mut lines, &mut line)? > 0 {
            follow(&mut open, &String::from_utf8_lossy(&line));
            line.clear();
        }
    }
    Ok(open.into_values().filter_map(|line| Left::read(&line)).collect())
}

/// The files that hold the end of the record, the oldest first: from where to where each is read.
fn last(path: &Path) -> io::Result<Vec<(PathBuf, u64, u64)>> {
    let closed = files::closed(path)?.into_iter().map(|(_, path)| path);
    let (mut window, mut last) = (WINDOW, Vec::new());
    for path in [path.to_owned()].into_iter().chain(closed.rev()) {
        let length = std::fs::metadata(&path)?.len();
        last.push((path, length.saturating_sub(window), length));
        window = window.saturating_sub(length);
        if window == 0 {
            break;
        }
    }
    last.reverse();
    Ok(last)
}

fn read_line(lines: &mut BufReader<io::Take<File>>, line: &mut Vec<u8>) -> io::Result<usize> {
    let most = u64::try_from(LONGEST_LINE).unwrap_or(u64::MAX);
    lines.by_ref().take(most).read_until(b'\n', line)
}

/// No string of JSON holds a bare quote, so that what stands in quotes here is a field of ours.
fn follow(open: &mut BTreeMap<String, String>, line: &str) {
    if !line.ends_with('\n') {
        // A piece, of which nobody was told that it is written.
        return;
    }
    let is = |kind: &str| line.contains(&format!("\"record\":\"{kind}\""));
    let call = line.split_once("\"call\":\"").and_then(|(_, rest)| rest.split_once('"'));
    match call {
        Some((call, _)) if is("decision") => {
            open.insert(call.to_owned(), line.to_owned());
        }
        Some((call, _)) if is("outcome") => {
            open.remove(call);
        }
        Some(_) | None => {}
    }
}

impl Left {
    fn read(line: &str) -> Option<Self> {
        let line: Value = serde_json::from_str(line).ok()?;
        let word = |name: &str| line.get(name).and_then(Value::as_str);
        Some(Self {
            call: word("call")?.to_owned(),
            caller: Caller::new(word("tenant")?, word("subject")?),
            ruling: word("ruling")?.to_owned(),
            reads: word("effect") == Some(Effect::Read.as_str()),
            ticket: word("ticket").map(TicketId::claimed),
        })
    }

    /// What is to be recorded of its end. `ending`: what the ledger says, where there is one that
    /// outlives a process.
    pub(super) async fn outcome(&self, store: Option<&Store>, ending: Option<Ending>) -> Value {
        let cancelled = Ending::NotExecuted;
        let (outcome, kind) = match (self.ruling.as_str(), ending) {
            ("deny", _) => ("denied", None),
            ("ask", _) if self.waits(store).await => ("pending", None),
            ("allow", Some(ending)) => words(ending),
            // It comes to the ledger before it is sent; reading waits for no row.
            ("allow", None) if store.is_none() || self.reads => words(Ending::Unknown),
            _ => words(cancelled),
        };
        let (call, reason) = (&self.call, "cut off by a restart");
        json!({
            "record": "outcome",
            "call": call,
            "outcome": outcome,
            "kind": kind,
            "reason": reason,
        })
    }

    async fn waits(&self, store: Option<&Store>) -> bool {
        let (Some(store), Some(ticket)) = (store, &self.ticket) else { return false };
        store.ticket(ticket, &self.caller).await.is_ok_and(|parked| parked.is_some())
    }
}

/// An ending in the words of an outcome.
fn words(ending: Ending) -> (&'static str, Option<&'static str>) {
    match ending {
        Ending::Succeeded => ("done", None),
        Ending::Failed(kind) => ("failed", Some(kind.as_str())),
        Ending::NotExecuted => ("failed", Some(ErrorKind::Cancelled.as_str())),
        Ending::Unknown => ("failed", Some(ErrorKind::UnknownOutcome.as_str())),
    }
}
