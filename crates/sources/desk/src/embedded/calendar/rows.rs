//! The rows of events and tasks: those of one owner and one kind, within one transaction.

use std::cell::Cell;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use uuid::Uuid;

use crate::backend::{BackendError, BackendErrorKind};
use crate::calendar_object::list::id_of_name;
use crate::calendar_object::{
    CalendarObject, CalendarObjectKind, MAX_OBJECT, ObjectLocation, broken, invalid,
};
use crate::owner::CalendarOwner;

/// Most events of one owner, and most tasks.
const MOST_OBJECTS: i64 = 50_000;
/// Most calendars of one owner, and most lists.
const MOST_COLLECTIONS: usize = 200;

/// A transaction over what one owner has of one kind.
pub(crate) struct AgendaTransaction<'a> {
    turn: Transaction<'a>,
    owner: &'a str,
    kind: CalendarObjectKind,
    /// How many objects there are, once they were counted.
    kept: Cell<Option<i64>>,
}

/// An object as it is kept.
pub(crate) struct AgendaObject {
    pub(crate) collection: String,
    pub(crate) resource: CalendarObject,
}

/// A row with its text unread.
pub(crate) struct AgendaRow {
    pub(crate) id: String,
    pub(crate) collection: String,
    pub(crate) words: String,
    pub(crate) body: String,
}

impl<'a> AgendaTransaction<'a> {
    /// Begins to change something, with the first calendar or list made if there is none. Nothing
    /// is kept that is not committed.
    pub(crate) fn begin(
        connection: &'a mut Connection,
        owner: &'a str,
        kind: CalendarObjectKind,
    ) -> Result<Self, BackendError> {
        // Nobody else may write between what is read and what is written.
        let turn = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let rows = Self { turn, owner, kind, kept: Cell::new(None) };
        if rows.collections()?.is_empty() {
            let (id, name) = match kind {
                CalendarObjectKind::Event => ("personal", "Personal"),
                CalendarObjectKind::Task => ("tasks", "Tasks"),
            };
            rows.insert_collection(id, name)?;
        }
        Ok(rows)
    }

    /// Begins to read alone, which waits for nobody.
    pub(crate) fn look(
        connection: &'a mut Connection,
        owner: &'a str,
        kind: CalendarObjectKind,
    ) -> Result<Self, BackendError> {
        let is_first = {
            let turn = connection.transaction()?;
            AgendaTransaction { turn, owner, kind, kept: Cell::new(None) }.collections()?.is_empty()
        };
        if is_first {
            AgendaTransaction::begin(connection, owner, kind)?.commit()?;
        }
        Ok(Self { turn: connection.transaction()?, owner, kind, kept: Cell::new(None) })
    }

    pub(crate) fn commit(self) -> Result<(), BackendError> {
        Ok(self.turn.commit()?)
    }

    fn kind(&self) -> i64 {
        match self.kind {
            CalendarObjectKind::Event => 0,
            CalendarObjectKind::Task => 1,
        }
    }

    /// Ids and names, the first made first.
    pub(crate) fn collections(&self) -> Result<Vec<(String, String)>, BackendError> {
        let mut asked = self.turn.prepare_cached(
            "SELECT id, name FROM calendar_collections WHERE owner = ? AND kind = ? ORDER BY place",
        )?;
        let rows = asked
            .query_map(params![self.owner, self.kind()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The id of a calendar or list, of the first if none is named.
    pub(crate) fn collection(&self, id: Option<&str>) -> Result<String, BackendError> {
        let all = self.collections()?;
        let found = match id {
            Some(id) => all.into_iter().find(|(known, _)| known == id),
            None => all.into_iter().next(),
        };
        let what = match self.kind {
            CalendarObjectKind::Event => "calendar",
            CalendarObjectKind::Task => "list",
        };
        found.map(|(id, _)| id).ok_or_else(|| BackendError::no(what, id.unwrap_or_default()))
    }

    fn insert_collection(&self, id: &str, name: &str) -> Result<(), BackendError> {
        self.turn.execute(
            "INSERT INTO calendar_collections (owner, kind, id, name) VALUES (?, ?, ?, ?)",
            params![self.owner, self.kind(), id, name],
        )?;
        Ok(())
    }

    /// A new list, under an id that is made of its name.
    pub(crate) fn new_collection(&self, name: &str) -> Result<String, BackendError> {
        let all = self.collections()?;
        if all.iter().any(|(_, known)| known.to_lowercase() == name.to_lowercase()) {
            let message = format!("there is a list `{name}` already: use that one");
            return Err(BackendError::new(BackendErrorKind::Conflict, message));
        }
        if all.len() >= MOST_COLLECTIONS {
            return Err(invalid(format!("there are {MOST_COLLECTIONS} lists, and no more can be")));
        }
        let plain = id_of_name(name);
        let numbered = (2..).map(|number: usize| format!("{plain}-{number}"));
        let mut names = std::iter::once(plain.clone()).chain(numbered);
        let id = names.find(|id| !all.iter().any(|(known, _)| known == id)).unwrap_or(plain);
        self.insert_collection(&id, name)?;
        Ok(id)
    }

    /// One object.
    pub(crate) fn object(&self, id: &str) -> Result<AgendaObject, BackendError> {
        let mut asked = self.turn.prepare_cached(
            "SELECT collection, body FROM calendar_objects WHERE owner = ? AND kind = ? AND id = ?",
        )?;
        let found = asked.query_row(params![self.owner, self.kind(), id], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        });
        let found = found.optional()?;
        let what = self.what();
        let (collection, body) = found.ok_or_else(|| BackendError::no(what, id))?;
        let resource = CalendarObject::read(&body)
            .map_err(|error| broken(what, id, &error.to_string()).because(error))?;
        Ok(AgendaObject { collection, resource })
    }

    /// The id and the text of what has a UID.
    pub(super) fn by_uid(&self, uid: &str) -> Result<Option<(String, String)>, BackendError> {
        let mut asked = self.turn.prepare_cached(
            "SELECT id, body FROM calendar_objects WHERE owner = ? AND kind = ? AND uid = ?",
        )?;
        let found = asked
            .query_row(params![self.owner, self.kind(), uid], |row| Ok((row.get(0)?, row.get(1)?)));
        Ok(found.optional()?)
    }

    /// Those that may occur in a stretch of time, one after the other.
    pub(super) fn between(
        &self,
        from: Timestamp,
        until: Timestamp,
        collection: Option<&str>,
        mut take: impl FnMut(AgendaRow) -> Result<(), BackendError>,
    ) -> Result<(), BackendError> {
        let mut asked = self.turn.prepare_cached(
            "SELECT id, collection, words, body FROM calendar_objects
             WHERE owner = ?1 AND kind = ?2 AND last >= ?3 AND first <= ?4
               AND (?5 IS NULL OR collection = ?5)",
        )?;
        let (from, until) = (from.as_second(), until.as_second());
        let values = params![self.owner, self.kind(), from, until, collection];
        let mut rows = asked.query(values)?;
        while let Some(row) = rows.next()? {
            take(read(row)?)?;
        }
        Ok(())
    }

    /// All of a calendar or list, or of all of them; `done` tells open tasks from others.
    pub(crate) fn all(
        &self,
        collection: Option<&str>,
        done: Option<bool>,
        mut take: impl FnMut(AgendaRow) -> Result<(), BackendError>,
    ) -> Result<(), BackendError> {
        let mut asked = self.turn.prepare_cached(
            "SELECT id, collection, words, body FROM calendar_objects
             WHERE owner = ?1 AND kind = ?2 AND (?3 IS NULL OR collection = ?3)
               AND (?4 IS NULL OR done = ?4) ORDER BY id",
        )?;
        let mut rows = asked.query(params![self.owner, self.kind(), collection, done])?;
        while let Some(row) = rows.next()? {
            take(read(row)?)?;
        }
        Ok(())
    }

    /// Keeps a new object, and gives its id.
    pub(crate) fn insert(
        &self,
        collection: &str,
        resource: &CalendarObject,
        home: &CalendarOwner,
    ) -> Result<String, BackendError> {
        let kept = match self.kept.get() {
            Some(kept) => kept,
            None => self.count()?,
        };
        if kept >= MOST_OBJECTS {
            let message = format!("{MOST_OBJECTS} are kept, and no more can be: delete old ones");
            return Err(invalid(message));
        }
        // Short, because models repeat it; and random, so that nobody counts what others have.
        let id: String = Uuid::new_v4().simple().to_string().chars().take(12).collect();
        let body = self.body(resource)?;
        let (first, last) = span(resource, home);
        self.turn.execute(
            "INSERT INTO calendar_objects
             (owner, kind, id, collection, uid, first, last, done, words, body)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                self.owner,
                self.kind(),
                id,
                collection,
                resource.uid(),
                first,
                last,
                is_done(resource, home),
                resource.words(),
                body
            ],
        )?;
        // A file brings thousands, which would each count thousands.
        self.kept.set(Some(kept + 1));
        Ok(id)
    }

    fn count(&self) -> Result<i64, BackendError> {
        Ok(self.turn.query_row(
            "SELECT count(*) FROM calendar_objects WHERE owner = ? AND kind = ?",
            params![self.owner, self.kind()],
            |row| row.get(0),
        )?)
    }

    pub(crate) fn update(
        &self,
        id: &str,
        resource: &CalendarObject,
        home: &CalendarOwner,
    ) -> Result<(), BackendError> {
        let body = self.body(resource)?;
        let (first, last) = span(resource, home);
        self.turn.execute(
            "UPDATE calendar_objects SET first = ?, last = ?, done = ?, words = ?, body = ?
             WHERE owner = ? AND kind = ? AND id = ?",
            params![
                first,
                last,
                is_done(resource, home),
                resource.words(),
                body,
                self.owner,
                self.kind(),
                id
            ],
        )?;
        Ok(())
    }

    pub(crate) fn delete(&self, id: &str) -> Result<(), BackendError> {
        self.kept.set(None);
        let gone = self.turn.execute(
            "DELETE FROM calendar_objects WHERE owner = ? AND kind = ? AND id = ?",
            params![self.owner, self.kind(), id],
        )?;
        if gone == 0 { Err(BackendError::no(self.what(), id)) } else { Ok(()) }
    }

    fn what(&self) -> &'static str {
        match self.kind {
            CalendarObjectKind::Event => "event",
            CalendarObjectKind::Task => "task",
        }
    }

    fn body(&self, resource: &CalendarObject) -> Result<String, BackendError> {
        let body = resource.write()?;
        // What is kept must be readable again, whatever was put in.
        match CalendarObject::read(&body) {
            Ok(_) if body.len() <= MAX_OBJECT => Ok(body),
            Ok(_) | Err(_) => Err(invalid(format!("this {} cannot be kept", self.what()))),
        }
    }
}

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<AgendaRow> {
    Ok(AgendaRow {
        id: row.get(0)?,
        collection: row.get(1)?,
        words: row.get(2)?,
        body: row.get(3)?,
    })
}

fn span(resource: &CalendarObject, home: &CalendarOwner) -> (i64, i64) {
    match resource.kind {
        CalendarObjectKind::Event => resource.span(home),
        CalendarObjectKind::Task => (0, 0),
    }
}

fn is_done(resource: &CalendarObject, home: &CalendarOwner) -> bool {
    let place = ObjectLocation { id: "", collection: "", home };
    resource.kind == CalendarObjectKind::Task
        && resource.task(place).is_ok_and(|task| task.done.is_some())
}
