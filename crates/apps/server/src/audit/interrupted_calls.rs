//! Calls that a process before decided on and whose end it did not live to record.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolcrib_core::{Caller, Effect, Ending, ErrorKind, TicketId, TicketLedger as _};
use toolcrib_store::Store;

use super::chain::{ChainLink, LONGEST_LINE};
use super::open_decisions::LinePosition;
use super::rotation;

/// As much of the record is read again when it is opened, from its end, where nobody has named how
/// far to look back: many times what is written while one call runs.
const WINDOW: u64 = if cfg!(test) { 8 * 1024 } else { 64 * 1024 * 1024 };

/// A decision without an end.
pub(super) struct InterruptedCall {
    pub(super) call: String,
    pub(super) place: LinePosition,
    caller: Caller,
    ruling: String,
    reads: bool,
    ticket: Option<TicketId>,
}

/// Those of the record, in the order of their calls. `from`: in front of it there are none. `last`:
/// the number of the last line.
pub(super) fn of(
    path: &Path,
    from: Option<LinePosition>,
    last: u64,
) -> io::Result<Vec<InterruptedCall>> {
    let pieces = match from {
        Some(from) => after(path, from, last)?,
        None => end(path)?,
    };
    let mut open = BTreeMap::new();
    for piece in pieces {
        piece.follow(&mut open)?;
    }
    Ok(open
        .into_values()
        .filter_map(|(line, offset)| InterruptedCall::read(&line, offset))
        .collect())
}

/// What is read of a file.
struct AuditSegment {
    path: PathBuf,
    from: u64,
    /// Whether it begins with a whole line.
    is_whole: bool,
}

/// A decision and where in its file it begins.
type DecisionLine = (String, u64);

impl AuditSegment {
    fn follow(self, open: &mut BTreeMap<String, DecisionLine>) -> io::Result<()> {
        let length = std::fs::metadata(&self.path)?.len();
        let mut file = File::open(self.path)?;
        file.seek(SeekFrom::Start(self.from))?;
        // Not all that can be opened has an end.
        let mut lines = BufReader::new(file.take(length.saturating_sub(self.from)));
        let (mut line, mut place) = (Vec::new(), self.from);
        if !self.is_whole {
            place += size(read_line(&mut lines, &mut line)?);
            line.clear();
        }
        loop {
            let read = read_line(&mut lines, &mut line)?;
            if read == 0 {
                return Ok(());
            }
            follow(open, &String::from_utf8_lossy(&line), place);
            place += size(read);
            line.clear();
        }
    }
}

fn size(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// The files from this place on, the oldest first.
fn after(path: &Path, from: LinePosition, last: u64) -> io::Result<Vec<AuditSegment>> {
    if from.n > last {
        return Ok(Vec::new());
    }
    let closed = rotation::closed(path)?.into_iter().filter(|(last, _)| *last >= from.n);
    let paths = closed.map(|(_, path)| path).chain([path.to_owned()]);
    let mut pieces: Vec<_> =
        paths.map(|path| AuditSegment { path, from: 0, is_whole: true }).collect();
    if let Some(first) = pieces.first_mut()
        && is_at(&first.path, from)?
    {
        // Of another file, as one that was begun just then, all is read.
        first.from = from.offset;
    }
    Ok(pieces)
}

/// Whether the line of that number stands at the place.
fn is_at(path: &Path, place: LinePosition) -> io::Result<bool> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(place.offset))?;
    let mut line = Vec::new();
    read_line(&mut BufReader::new(file.take(size(LONGEST_LINE))), &mut line)?;
    let line = line.strip_suffix(b"\n").and_then(|line| std::str::from_utf8(line).ok());
    Ok(line.and_then(ChainLink::read).is_some_and(|link| link.n == place.n))
}

/// The files that hold the end of the record, the oldest first.
fn end(path: &Path) -> io::Result<Vec<AuditSegment>> {
    let closed = rotation::closed(path)?.into_iter().map(|(_, path)| path);
    let (mut window, mut last) = (WINDOW, Vec::new());
    for path in [path.to_owned()].into_iter().chain(closed.rev()) {
        let length = std::fs::metadata(&path)?.len();
        let from = length.saturating_sub(window);
        last.push(AuditSegment { path, from, is_whole: from == 0 });
        window = window.saturating_sub(length);
        if window == 0 {
            break;
        }
    }
    last.reverse();
    Ok(last)
}

fn read_line(lines: &mut BufReader<io::Take<File>>, line: &mut Vec<u8>) -> io::Result<usize> {
    lines.by_ref().take(size(LONGEST_LINE)).read_until(b'\n', line)
}

/// No string of JSON holds a bare quote, so that what stands in quotes here is a field of ours.
fn follow(open: &mut BTreeMap<String, DecisionLine>, line: &str, offset: u64) {
    if !line.ends_with('\n') {
        // A piece, of which nobody was told that it is written.
        return;
    }
    let is = |kind: &str| line.contains(&format!("\"record\":\"{kind}\""));
    let call = line.split_once("\"call\":\"").and_then(|(_, rest)| rest.split_once('"'));
    match call {
        Some((call, _)) if is("decision") => {
            open.insert(call.to_owned(), (line.to_owned(), offset));
        }
        Some((call, _)) if is("outcome") => {
            open.remove(call);
        }
        Some(_) | None => {}
    }
}

impl InterruptedCall {
    fn read(line: &str, offset: u64) -> Option<Self> {
        let line: Value = serde_json::from_str(line).ok()?;
        let word = |name: &str| line.get(name).and_then(Value::as_str);
        Some(Self {
            call: word("call")?.to_owned(),
            place: LinePosition { n: line.get("n")?.as_u64()?, offset },
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
