//! The runs themselves, and which of them have to go.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::SystemTime;

use toolcrib_core::{
    Caller, LedgerError, MOST_NOTES, NewRun, RunLedgerError, RunStage, RunStep, RunSummary,
    StoredRun,
};

use super::texts::SharedTexts;

/// How much is kept of runs that have ended.
struct RunBounds {
    runs: usize,
    /// Of items, states, events and requests, of equal items once.
    bytes: usize,
}

impl Default for RunBounds {
    fn default() -> Self {
        Self { runs: 1_000, bytes: 256 * 1024 * 1024 }
    }
}

#[derive(Default)]
pub(super) struct RunRows {
    bounds: RunBounds,
    /// By number: oldest first.
    all: BTreeMap<u64, RunRow>,
    numbers: HashMap<String, u64>,
    /// What stands in them, by tenant.
    texts: HashMap<String, SharedTexts>,
    /// The numbers of those that have ended, in the order in which they did.
    ended: VecDeque<u64>,
    /// Of those.
    bytes: usize,
    issued: u64,
}

struct RunRow {
    summary: RunSummary,
    request: String,
    state: String,
    steps: u64,
    items: Vec<Arc<str>>,
    events: Vec<String>,
    notes: BTreeMap<String, String>,
}

impl RunRow {
    /// The first step is still to be written.
    fn of(run: NewRun, number: u64) -> Self {
        let now = SystemTime::now();
        let summary = RunSummary {
            number,
            id: run.id,
            caller: run.caller,
            thread: run.thread,
            previous: run.previous,
            parent: run.parent,
            agent: run.agent,
            profile: run.profile,
            stage: RunStage::Running,
            tickets: Vec::new(),
            created: now,
            changed: now,
        };
        let (state, items, events) = (String::new(), Vec::new(), Vec::new());
        let (request, notes) = (run.request, BTreeMap::new());
        Self { summary, request, state, steps: 0, items, events, notes }
    }

    fn has_ended(&self) -> bool {
        self.summary.stage == RunStage::Ended
    }

    /// Refuses a step that does not follow the one before.
    fn check(&self, step: &RunStep) -> Result<(), RunLedgerError> {
        if self.has_ended() || self.steps != step.number {
            return Err(RunLedgerError::Moved);
        }
        if step.items_from > self.items.len() {
            return Err(LedgerError::new("items cannot stand behind a gap").into());
        }
        Ok(())
    }

    fn write(&mut self, step: RunStep, texts: &mut SharedTexts) {
        let items: Vec<_> = step.items.into_iter().map(|item| texts.share(item)).collect();
        // After the new ones, among which what is taken out may stand again.
        for gone in self.items.drain(step.items_from..) {
            texts.release(&gone);
        }
        self.items.extend(items);
        self.events.extend(step.events);
        self.state = step.state;
        self.steps += 1;
        self.summary.stage = step.stage;
        self.summary.tickets = step.tickets;
        self.summary.changed = SystemTime::now();
    }

    /// Bytes of what it shares with no other.
    fn own_bytes(&self) -> usize {
        let events: usize = self.events.iter().map(String::len).sum();
        self.request.len() + self.state.len() + events
    }

    /// Bytes of all that it has.
    fn weight(&self) -> usize {
        self.own_bytes() + self.items.iter().map(|item| item.len()).sum::<usize>()
    }

    fn stored(&self) -> StoredRun {
        StoredRun {
            summary: self.summary.clone(),
            request: self.request.clone(),
            state: self.state.clone(),
            steps: self.steps,
            items: self.items.iter().map(ToString::to_string).collect(),
            events: u64::try_from(self.events.len()).unwrap_or(u64::MAX),
        }
    }
}

impl RunRows {
    pub(super) fn create(&mut self, run: NewRun, step: RunStep) -> Result<(), RunLedgerError> {
        let in_the_way = self.all.values().find(|row| {
            !row.has_ended()
                && row.summary.caller.is(&run.caller)
                && row.summary.thread == run.thread
        });
        if let Some(open) = in_the_way {
            return Err(RunLedgerError::Busy { run: open.summary.id.clone() });
        }
        let id = run.id.clone();
        let row = RunRow::of(run, self.issued + 1);
        row.check(&step)?;
        if self.numbers.contains_key(&id) {
            return Err(LedgerError::new(format!("there is a run `{id}` already")).into());
        }
        self.issued += 1;
        self.numbers.insert(id, self.issued);
        self.all.insert(self.issued, row);
        self.write(self.issued, step);
        Ok(())
    }

    pub(super) fn advance(&mut self, run: &str, step: RunStep) -> Result<(), RunLedgerError> {
        let row = self.find(run).ok_or(RunLedgerError::Moved)?;
        row.check(&step)?;
        self.write(row.summary.number, step);
        Ok(())
    }

    fn write(&mut self, number: u64, step: RunStep) {
        let Some(row) = self.all.get_mut(&number) else { return };
        let texts = self.texts.entry(row.summary.caller.tenant.clone()).or_default();
        row.write(step, texts);
        if row.has_ended() {
            self.bytes += row.own_bytes();
            self.bytes += row.items.iter().map(|item| texts.end(item)).sum::<usize>();
            self.ended.push_back(number);
            self.trim();
        }
    }

    /// Forgets the oldest of too many, of the caller that has most.
    fn trim(&mut self) {
        while self.ended.len() > self.bounds.runs || self.bytes > self.bounds.bytes {
            let Some(number) = self.oldest_of_heaviest() else { return };
            self.remove(number);
        }
    }

    fn oldest_of_heaviest(&self) -> Option<u64> {
        let ended = || self.ended.iter().filter_map(|number| self.all.get(number));
        let caller_of = |row: &RunRow| {
            let Caller { tenant, subject, .. } = &row.summary.caller;
            (tenant.clone(), subject.clone())
        };
        let mut of_callers: HashMap<(String, String), usize> = HashMap::new();
        for row in ended() {
            *of_callers.entry(caller_of(row)).or_default() += row.weight();
        }
        let (heaviest, _) = of_callers.into_iter().max_by_key(|(_, bytes)| *bytes)?;
        ended().find(|row| caller_of(row) == heaviest).map(|row| row.summary.number)
    }

    /// Removes one that has ended.
    fn remove(&mut self, number: u64) {
        let Some(row) = self.all.remove(&number) else { return };
        self.numbers.remove(&row.summary.id);
        self.ended.retain(|ended| *ended != number);
        self.bytes -= row.own_bytes();
        let tenant = &row.summary.caller.tenant;
        if let Some(texts) = self.texts.get_mut(tenant) {
            self.bytes -= row.items.iter().map(|item| texts.release_ended(item)).sum::<usize>();
            if texts.is_empty() {
                self.texts.remove(tenant);
            }
        }
    }

    fn find(&self, run: &str) -> Option<&RunRow> {
        self.all.get(self.numbers.get(run)?)
    }

    pub(super) fn load(&self, run: &str) -> Option<StoredRun> {
        self.find(run).map(RunRow::stored)
    }

    pub(super) fn events(&self, run: &str, from: u64, limit: usize) -> Vec<String> {
        let all = self.find(run).map(|row| row.events.iter()).unwrap_or_default();
        all.skip(usize::try_from(from).unwrap_or(usize::MAX)).take(limit).cloned().collect()
    }

    pub(super) fn list(
        &self,
        caller: &Caller,
        before: Option<u64>,
        limit: usize,
    ) -> Vec<RunSummary> {
        let before = self.all.range(..before.unwrap_or(u64::MAX)).rev();
        let theirs = before.map(|(_, row)| &row.summary).filter(|run| run.caller.is(caller));
        theirs.take(limit).cloned().collect()
    }

    pub(super) fn thread(&self, caller: &Caller, thread: &str) -> Vec<RunSummary> {
        let is_of_it = |run: &&RunSummary| run.caller.is(caller) && run.thread == thread;
        self.summaries().filter(is_of_it).cloned().collect()
    }

    pub(super) fn unfinished(&self) -> Vec<RunSummary> {
        self.summaries().filter(|run| run.stage != RunStage::Ended).cloned().collect()
    }

    fn summaries(&self) -> impl Iterator<Item = &RunSummary> {
        self.all.values().map(|row| &row.summary)
    }

    pub(super) fn forget(&mut self, caller: &Caller, run: &str) -> bool {
        let row = self.find(run).filter(|row| row.has_ended() && row.summary.caller.is(caller));
        let Some(number) = row.map(|row| row.summary.number) else { return false };
        let children = self.all.values().filter(|row| row.summary.parent.as_deref() == Some(run));
        let children: Vec<_> = children.map(|row| row.summary.id.clone()).collect();
        for child in children {
            self.forget(caller, &child);
        }
        self.remove(number);
        true
    }

    /// Notes are few and short: they are not among the bytes that are counted.
    pub(super) fn note(&mut self, run: &str, name: &str, text: Option<String>) -> bool {
        let row = self.numbers.get(run).and_then(|number| self.all.get_mut(number));
        let Some(RunRow { notes, .. }) = row else { return false };
        let Some(text) = text else { return notes.remove(name).is_some() };
        if notes.len() >= MOST_NOTES && !notes.contains_key(name) {
            return false;
        }
        notes.insert(name.to_owned(), text);
        true
    }

    pub(super) fn notes(&self, run: &str) -> Vec<(String, String)> {
        let notes = self.find(run).map(|row| row.notes.clone()).unwrap_or_default();
        notes.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(runs: usize, bytes: usize) -> RunRows {
        RunRows { bounds: RunBounds { runs, bytes }, ..RunRows::default() }
    }

    /// A run with one item, each a thread of its own.
    fn begin(rows: &mut RunRows, subject: &str, id: &str, item: &str, stage: RunStage) {
        let run = NewRun {
            id: id.to_owned(),
            caller: Caller::new("acme", subject),
            thread: id.to_owned(),
            previous: None,
            parent: None,
            agent: "helper".to_owned(),
            profile: None,
            request: String::new(),
        };
        let step = RunStep {
            number: 0,
            stage,
            tickets: Vec::new(),
            state: String::new(),
            items_from: 0,
            items: vec![item.to_owned()],
            events: Vec::new(),
        };
        rows.create(run, step).unwrap();
    }

    fn ids(rows: &RunRows) -> Vec<&str> {
        rows.summaries().map(|run| &*run.id).collect()
    }

    #[test]
    fn of_too_many_that_have_ended_the_oldest_of_the_heaviest_caller_goes() {
        let mut rows = within(3, 1_000);
        begin(&mut rows, "ann", "open", "1", RunStage::Waiting);
        for (subject, id, item) in
            [("ben", "b1", "2"), ("ann", "a1", "345"), ("ann", "a2", "678"), ("ben", "b2", "9")]
        {
            begin(&mut rows, subject, id, item, RunStage::Ended);
        }
        assert_eq!(ids(&rows), ["open", "b1", "a2", "b2"]);
        assert_eq!(rows.bytes, 5);
    }

    #[test]
    fn of_too_many_bytes_those_of_runs_that_have_not_ended_do_not_count() {
        let mut rows = within(10, 10);
        begin(&mut rows, "ann", "open", &"x".repeat(50), RunStage::Running);
        begin(&mut rows, "ann", "first", "123456", RunStage::Ended);
        begin(&mut rows, "ann", "second", "1234567", RunStage::Ended);
        assert_eq!(ids(&rows), ["open", "second"]);
    }

    #[test]
    fn equal_items_of_a_tenant_are_kept_and_weighed_once() {
        let mut rows = within(200, 100);
        for number in 0..100 {
            begin(&mut rows, "ann", &number.to_string(), "the same", RunStage::Ended);
        }
        assert_eq!((rows.all.len(), rows.bytes), (100, 8));
        let items: Vec<_> = rows.all.values().flat_map(|row| &row.items).collect();
        assert!(items.windows(2).all(|two| Arc::ptr_eq(two[0], two[1])));
        for number in 0..100 {
            assert!(!rows.texts.is_empty());
            assert!(rows.forget(&Caller::new("acme", "ann"), &number.to_string()));
        }
        assert!(rows.texts.is_empty() && rows.bytes == 0 && rows.ended.is_empty());
    }
}
