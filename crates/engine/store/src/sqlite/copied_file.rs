//! A file that is read or written as a whole.

use std::path::Path;

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Row, params_from_iter};

use crate::copy::{CopiedRow, CopiedTable, CopiedValue, RecordReader, RecordWriter, RowSink};
use crate::error::StoreError;
use crate::sqlite::file::{self, FileLock};

/// A file that this process has for itself. What was left without an end in it has one, as when it
/// is opened.
pub struct CopiedFile {
    connection: Connection,
    owned: FileLock,
}

impl CopiedFile {
    /// One that is there, to be read.
    pub fn source(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::file(path, std::io::ErrorKind::NotFound.into()));
        }
        Self::open(path, "BEGIN")
    }

    /// One to be written; it is made if it is not there.
    pub fn target(path: &Path) -> Result<Self, StoreError> {
        Self::open(path, "BEGIN IMMEDIATE")
    }

    fn open(path: &Path, begin: &str) -> Result<Self, StoreError> {
        let owned = file::own(path)?;
        let (connection, _) = file::writer(&owned.path, None)?;
        let file = Self { connection, owned };
        file.connection.execute_batch(begin).map_err(|error| file.fault(error))?;
        Ok(file)
    }

    fn fault(&self, error: rusqlite::Error) -> StoreError {
        StoreError::of(&self.owned.path, error)
    }

    fn rows_of(&self, table: &CopiedTable) -> Result<u64, StoreError> {
        let count = format!("SELECT count(*) FROM {}", table.name);
        let count = self.connection.query_row(&count, [], |row| row.get::<_, i64>(0));
        Ok(count.map_err(|error| self.fault(error))?.unsigned_abs())
    }
}

impl RecordReader for CopiedFile {
    fn count(&mut self, table: &CopiedTable) -> Result<u64, StoreError> {
        self.rows_of(table)
    }

    fn read(&mut self, table: &CopiedTable, sink: &mut RowSink<'_>) -> Result<(), StoreError> {
        let find = format!("SELECT {} FROM {} ORDER BY {}", table.names(), table.name, table.order);
        let mut find = self.connection.prepare(&find).map_err(|error| self.fault(error))?;
        let mut found = find.query([]).map_err(|error| self.fault(error))?;
        let mut rows = Vec::new();
        while let Some(row) = found.next().map_err(|error| self.fault(error))? {
            rows.push(read(row, table).map_err(|error| self.fault(error))?);
            if rows.len() == table.at_once {
                sink(std::mem::take(&mut rows))?;
            }
        }
        if rows.is_empty() { Ok(()) } else { sink(rows) }
    }
}

fn read(row: &Row<'_>, table: &CopiedTable) -> rusqlite::Result<CopiedRow> {
    let values = (0..table.columns.len()).map(|column| {
        Ok(match row.get_ref(column)? {
            ValueRef::Null => CopiedValue::Nothing,
            ValueRef::Integer(number) => CopiedValue::Integer(number),
            ValueRef::Text(_) => CopiedValue::Text(row.get(column)?),
            ValueRef::Blob(bytes) => CopiedValue::Bytes(bytes.to_vec()),
            ValueRef::Real(_) => return Err(rusqlite::Error::InvalidQuery),
        })
    });
    values.collect()
}

impl RecordWriter for CopiedFile {
    fn place(&self) -> String {
        self.owned.path.display().to_string()
    }

    fn count(&mut self, table: &CopiedTable) -> Result<u64, StoreError> {
        self.rows_of(table)
    }

    fn write(&mut self, table: &CopiedTable, rows: Vec<CopiedRow>) -> Result<(), StoreError> {
        let places = vec!["?"; table.columns.len()].join(", ");
        let insert = format!("INSERT INTO {} ({}) VALUES ({places})", table.name, table.names());
        let written = (|| {
            let mut insert = self.connection.prepare_cached(&insert)?;
            for row in rows {
                insert.execute(params_from_iter(row.into_iter().map(value)))?;
            }
            Ok(())
        })();
        written.map_err(|error| self.fault(error))
    }

    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        self.connection.execute_batch("COMMIT").map_err(|error| self.fault(error))
    }
}

fn value(value: CopiedValue) -> Value {
    match value {
        CopiedValue::Nothing => Value::Null,
        CopiedValue::Integer(number) => Value::Integer(number),
        CopiedValue::Text(text) => Value::Text(text),
        CopiedValue::Bytes(bytes) => Value::Blob(bytes),
    }
}
