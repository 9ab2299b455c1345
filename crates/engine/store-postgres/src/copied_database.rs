//! A database that is read or written as a whole.

use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio_postgres::types::ToSql;
use toolcrib_core::ResultHandle;
use toolcrib_store::StoreError;
use toolcrib_store::copy::{
    ColumnKind, CopiedRow, CopiedTable, CopiedValue, RecordReader, RecordWriter, RowSink,
};

use crate::address::DatabaseAddress;
use crate::error::SessionError;
use crate::group::{COMMIT, runtime};
use crate::session::{Answer, Session};
use crate::statements::{replicas, schema};

/// A database that this process has for itself. What was left without an end in it has one, as when
/// it is opened.
pub struct CopiedDatabase {
    runtime: Runtime,
    session: Session,
    place: String,
}

impl CopiedDatabase {
    pub(crate) fn open(address: &Arc<DatabaseAddress>, begin: &str) -> Result<Self, StoreError> {
        let runtime = runtime(&address.place)?;
        let owner = ResultHandle::unguessable().0;
        let opened = runtime.block_on(async {
            let session = Session::open(address).await?;
            session.inspect().await?;
            schema::own(&session, &owner).await?;
            schema::migrate(&session).await?;
            replicas::all_over(&session).await?;
            schema::hand_to(&session, &owner).await?;
            schema::recover(&session).await?;
            session.batch(begin).await?;
            Answer::Ok(session)
        });
        let place = address.place.clone();
        let session = opened.map_err(|error| error.at(&place))?;
        Ok(Self { runtime, session, place })
    }

    fn rows_of(&self, table: &CopiedTable) -> Result<u64, StoreError> {
        let count = format!("SELECT count(*) FROM {}", table.name);
        let counted = self.runtime.block_on(async {
            let row = self.session.row(&count, &[]).await?;
            let row = row.ok_or(SessionError::Unreadable("no count"))?;
            Answer::Ok(row.try_get::<_, i64>(0)?.unsigned_abs())
        });
        counted.map_err(|error| error.at(&self.place))
    }
}

impl RecordReader for CopiedDatabase {
    fn count(&mut self, table: &CopiedTable) -> Result<u64, StoreError> {
        self.rows_of(table)
    }

    fn read(&mut self, table: &CopiedTable, sink: &mut RowSink<'_>) -> Result<(), StoreError> {
        let CopiedTable { name, order, at_once, .. } = table;
        let declare = format!(
            "DECLARE copied_{name} NO SCROLL CURSOR FOR SELECT {} FROM {name} ORDER BY {order}",
            table.names()
        );
        let at = |error: SessionError| error.at(&self.place);
        self.runtime.block_on(self.session.batch(&declare)).map_err(at)?;
        let fetch = format!("FETCH {at_once} FROM copied_{name}");
        loop {
            let rows = self.runtime.block_on(async {
                let found = self.session.rows(&fetch, &[]).await?;
                found.iter().map(|row| read(row, table)).collect::<Answer<Vec<_>>>()
            });
            let rows = rows.map_err(at)?;
            if rows.is_empty() {
                let close = format!("CLOSE copied_{name}");
                return self.runtime.block_on(self.session.batch(&close)).map_err(at);
            }
            sink(rows)?;
        }
    }
}

fn read(row: &tokio_postgres::Row, table: &CopiedTable) -> Answer<CopiedRow> {
    let values = table.columns.iter().enumerate().map(|(place, (_, kind))| {
        let value = match kind {
            ColumnKind::Integer => row.try_get::<_, Option<_>>(place)?.map(CopiedValue::Integer),
            ColumnKind::Flag => {
                let flag: Option<bool> = row.try_get(place)?;
                flag.map(|flag| CopiedValue::Integer(flag.into()))
            }
            ColumnKind::Text => row.try_get::<_, Option<_>>(place)?.map(CopiedValue::Text),
            ColumnKind::Bytes => row.try_get::<_, Option<_>>(place)?.map(CopiedValue::Bytes),
        };
        Ok(value.unwrap_or(CopiedValue::Nothing))
    });
    values.collect()
}

impl RecordWriter for CopiedDatabase {
    fn place(&self) -> String {
        self.place.clone()
    }

    fn count(&mut self, table: &CopiedTable) -> Result<u64, StoreError> {
        self.rows_of(table)
    }

    fn write(&mut self, table: &CopiedTable, rows: Vec<CopiedRow>) -> Result<(), StoreError> {
        let mut columns: Vec<_> =
            table.columns.iter().map(|(_, kind)| CopiedColumn::of(*kind)).collect();
        for row in rows {
            for ((column, value), (name, _)) in columns.iter_mut().zip(row).zip(table.columns) {
                // It comes from a model, and a text of Postgres has no zero in it.
                let value = if let CopiedValue::Text(text) = value {
                    let holds_zero = *name == "call_id" && text.contains('\0');
                    let plain = if holds_zero { text.replace('\0', "\u{fffd}") } else { text };
                    CopiedValue::Text(plain)
                } else {
                    value
                };
                column.push(value).map_err(|error| error.at(&self.place))?;
            }
        }
        let kinds: Vec<_> =
            (1..).zip(&columns).map(|(n, of)| format!("${n}::{}", of.name())).collect();
        let insert = format!(
            "INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE SELECT * FROM unnest({})",
            table.name,
            table.names(),
            kinds.join(", ")
        );
        let values: Vec<_> = columns.iter().map(CopiedColumn::values).collect();
        let written = self.runtime.block_on(self.session.change(&insert, &values));
        written.map(|_| ()).map_err(|error| error.at(&self.place))
    }

    /// New rows have numbers behind those that came over.
    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        let at = |error: SessionError| error.at(&self.place);
        let numbered = self.runtime.block_on(async {
            for table in toolcrib_store::copy::TABLES {
                let CopiedTable { name, numbered, .. } = table;
                let Some(column) = numbered else { continue };
                let go_on = format!(
                    "SELECT setval(pg_get_serial_sequence('toolcrib.{name}', '{column}'), \
                     (SELECT max({column}) FROM {name}))"
                );
                self.session.row(&go_on, &[]).await?;
            }
            Answer::Ok(())
        });
        numbered.map_err(at)?;
        match self.runtime.block_on(self.session.batch(COMMIT)) {
            Ok(()) => Ok(()),
            Err(error) if error.is_of_the_statement() => Err(at(error)),
            // It was sent: the server may have it, or a standby may lack it still.
            Err(error) => {
                let source = Arc::new(at(error));
                Err(StoreError::Unconfirmed { place: self.place.clone(), source })
            }
        }
    }
}

/// The values of one column.
enum CopiedColumn {
    Integers(Vec<Option<i64>>),
    Flags(Vec<Option<bool>>),
    Texts(Vec<Option<String>>),
    Bytes(Vec<Option<Vec<u8>>>),
}

impl CopiedColumn {
    fn of(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Integer => Self::Integers(Vec::new()),
            ColumnKind::Flag => Self::Flags(Vec::new()),
            ColumnKind::Text => Self::Texts(Vec::new()),
            ColumnKind::Bytes => Self::Bytes(Vec::new()),
        }
    }

    fn push(&mut self, value: CopiedValue) -> Answer<()> {
        match (self, value) {
            (Self::Integers(all), CopiedValue::Integer(number)) => all.push(Some(number)),
            (Self::Flags(all), CopiedValue::Integer(number)) => all.push(Some(number != 0)),
            (Self::Texts(all), CopiedValue::Text(text)) => all.push(Some(text)),
            (Self::Bytes(all), CopiedValue::Bytes(bytes)) => all.push(Some(bytes)),
            (Self::Integers(all), CopiedValue::Nothing) => all.push(None),
            (Self::Flags(all), CopiedValue::Nothing) => all.push(None),
            (Self::Texts(all), CopiedValue::Nothing) => all.push(None),
            (Self::Bytes(all), CopiedValue::Nothing) => all.push(None),
            _ => return Err(SessionError::Unreadable("a value of another kind")),
        }
        Ok(())
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Integers(_) => "bigint[]",
            Self::Flags(_) => "boolean[]",
            Self::Texts(_) => "text[]",
            Self::Bytes(_) => "bytea[]",
        }
    }

    fn values(&self) -> &(dyn ToSql + Sync) {
        match self {
            Self::Integers(all) => all,
            Self::Flags(all) => all,
            Self::Texts(all) => all,
            Self::Bytes(all) => all,
        }
    }
}
