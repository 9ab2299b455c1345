//! A whole record on its way from one store to another: all of it, or nothing.

use crate::error::StoreError;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    Integer,
    /// An integer in SQLite.
    Flag,
    Text,
    Bytes,
}

/// A table that every store has.
#[derive(Debug)]
pub struct CopiedTable {
    pub name: &'static str,
    pub columns: &'static [(&'static str, ColumnKind)],
    /// By what its rows are read one after the other.
    pub order: &'static str,
    /// The column whose numbers the store gives.
    pub numbered: Option<&'static str>,
    /// Rows that go at once: those of some are large.
    pub at_once: usize,
}

impl CopiedTable {
    /// The names of its columns, with commas between them.
    pub fn names(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }
}

/// What stands in one place.
#[derive(Debug, Clone, PartialEq)]
pub enum CopiedValue {
    Nothing,
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
}

pub type CopiedRow = Vec<CopiedValue>;

/// Takes rows as they are read.
pub type RowSink<'a> = dyn FnMut(Vec<CopiedRow>) -> Result<(), StoreError> + 'a;

/// A store that is read, and that nobody writes meanwhile.
pub trait RecordReader {
    fn count(&mut self, table: &CopiedTable) -> Result<u64, StoreError>;

    fn read(&mut self, table: &CopiedTable, sink: &mut RowSink<'_>) -> Result<(), StoreError>;
}

/// A store that is written. What it is given is there once it has finished, and else nothing of it,
/// but for [`StoreError::Unconfirmed`], after which nobody knows.
pub trait RecordWriter {
    /// The address, without a password.
    fn place(&self) -> String;

    fn count(&mut self, table: &CopiedTable) -> Result<u64, StoreError>;

    fn write(&mut self, table: &CopiedTable, rows: Vec<CopiedRow>) -> Result<(), StoreError>;

    fn finish(self: Box<Self>) -> Result<(), StoreError>;
}

/// How far a copy has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyProgress {
    pub table: &'static str,
    pub copied: u64,
    pub of: u64,
}

/// Copies all rows, compares how many there are, and tells how many of each table came over.
pub fn copy(
    from: &mut dyn RecordReader,
    mut to: Box<dyn RecordWriter + '_>,
    told: &mut dyn FnMut(CopyProgress),
) -> Result<Vec<CopyProgress>, StoreError> {
    for table in TABLES {
        if to.count(table)? > 0 {
            return Err(StoreError::Occupied { place: to.place() });
        }
    }
    let mut all = Vec::new();
    for table in TABLES {
        let of = from.count(table)?;
        let mut progress = CopyProgress { table: table.name, copied: 0, of };
        from.read(table, &mut |rows| {
            progress.copied = progress.copied.saturating_add(rows.len().try_into().unwrap_or(0));
            to.write(table, rows)?;
            told(progress);
            Ok(())
        })?;
        progress.copied = to.count(table)?;
        if progress.copied != of {
            let CopyProgress { table, copied, of } = progress;
            return Err(StoreError::Miscopied { place: to.place(), table, copied, of });
        }
        all.push(progress);
    }
    to.finish()?;
    Ok(all)
}

use ColumnKind::{Bytes, Flag, Integer, Text};

/// All that a record is.
pub const TABLES: &[CopiedTable] = &[
    CopiedTable {
        name: "calls",
        columns: &[
            ("seq", Integer),
            ("key", Text),
            ("call_id", Text),
            ("tenant", Text),
            ("subject", Text),
            ("tool", Text),
            ("source", Text),
            ("effect", Text),
            ("fingerprint", Text),
            ("arguments", Text),
            ("planned", Integer),
            ("ended", Integer),
            ("ending", Text),
            ("kind", Text),
            ("interrupted", Flag),
            ("attempts", Text),
            ("resolved", Integer),
            ("dispatched", Flag),
            ("decided_by_tenant", Text),
            ("decided_by_subject", Text),
            ("resolved_by_tenant", Text),
            ("resolved_by_subject", Text),
        ],
        order: "seq",
        numbered: Some("seq"),
        at_once: 500,
    },
    CopiedTable {
        name: "tickets",
        columns: &[
            ("seq", Integer),
            ("ticket", Text),
            ("tenant", Text),
            ("subject", Text),
            ("expires", Integer),
            ("parked", Text),
            ("arguments", Text),
            ("claimed", Text),
            ("claimed_arguments", Text),
        ],
        order: "seq",
        numbered: Some("seq"),
        at_once: 32,
    },
    CopiedTable {
        name: "contents",
        columns: &[
            ("id", Integer),
            ("tenant", Text),
            ("hash", Bytes),
            ("size", Integer),
            ("expires", Integer),
            ("bytes", Bytes),
        ],
        order: "id",
        numbered: Some("id"),
        at_once: 4,
    },
    CopiedTable {
        name: "results",
        columns: &[
            ("handle", Text),
            ("content", Integer),
            ("tenant", Text),
            ("subject", Text),
            ("expires", Integer),
        ],
        order: "handle",
        numbered: None,
        at_once: 500,
    },
    CopiedTable {
        name: "keys",
        columns: &[
            ("seq", Integer),
            ("tenant", Text),
            ("subject", Text),
            ("tool", Text),
            ("key", Text),
            ("arguments", Text),
            ("state", Text),
            ("response", Text),
            ("expires", Integer),
            ("bound", Flag),
            ("checkpoint", Text),
        ],
        order: "seq",
        numbered: Some("seq"),
        at_once: 32,
    },
    CopiedTable {
        name: "runs",
        columns: &[
            ("number", Integer),
            ("id", Text),
            ("tenant", Text),
            ("subject", Text),
            ("thread", Text),
            ("previous", Text),
            ("agent", Text),
            ("profile", Text),
            ("stage", Text),
            ("created", Integer),
            ("changed", Integer),
            ("steps", Integer),
            ("items", Integer),
            ("events", Integer),
            ("caller", Text),
            ("tickets", Text),
            ("request", Text),
            ("state", Text),
            ("parent", Text),
        ],
        order: "number",
        numbered: Some("number"),
        at_once: 32,
    },
    CopiedTable {
        name: "run_contents",
        columns: &[("id", Integer), ("tenant", Text), ("hash", Bytes), ("text", Text)],
        order: "id",
        numbered: Some("id"),
        at_once: 32,
    },
    CopiedTable {
        name: "run_items",
        columns: &[("run", Integer), ("place", Integer), ("content", Integer)],
        order: "run, place",
        numbered: None,
        at_once: 500,
    },
    CopiedTable {
        name: "run_events",
        columns: &[("run", Integer), ("number", Integer), ("event", Text)],
        order: "run, number",
        numbered: None,
        at_once: 64,
    },
    CopiedTable {
        name: "run_notes",
        columns: &[("run", Integer), ("name", Text), ("text", Text)],
        order: "run, name",
        numbered: None,
        at_once: 64,
    },
];
