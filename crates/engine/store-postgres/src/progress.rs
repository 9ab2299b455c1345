//! How far the record has come, and whether the database still has all of it.
//!
//! Each group adds one to a number in the database. By it this process sees whether a group is there
//! whose confirmation it did not hear, and whether the database went back in time: a copy that was
//! put back, or a standby without the last groups that took over.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::SessionError;
use crate::replica::Incarnation;
use crate::session::Answer;
use crate::statements::schema::RecordState;

/// What the one who writes knows of the database.
pub(crate) struct RecordProgress {
    /// A name of this process, by which it sees that another one was there.
    pub(crate) owner: String,
    /// Its number among those that share the record; `None`: it is alone.
    pub(crate) replica: Option<i64>,
    name: String,
    /// Groups that were written.
    groups: i64,
    /// Of these, those that outlive a loss of power.
    synced: i64,
    note: Option<ProgressNote>,
    /// How far it says that the record has come.
    noted: Option<i64>,
}

/// What a session that was opened anew finds.
pub(crate) struct Found {
    /// How many groups are there.
    pub(crate) groups: i64,
    /// Groups that were confirmed, but not yet on the disk of the server, went with it.
    pub(crate) lost_some: bool,
}

impl RecordProgress {
    /// Of a database that this process has just taken.
    pub(crate) fn of(state: RecordState, note: Option<ProgressNote>) -> Self {
        let RecordState { name, owner, groups } = state;
        Self { owner, replica: None, name, groups, synced: groups, note, noted: None }
    }

    /// The same of a replica that was made just now.
    pub(crate) fn of_replica(
        state: RecordState,
        one: Incarnation,
        note: Option<ProgressNote>,
    ) -> Self {
        let mut progress = Self::of(state, note);
        progress.become_replica(one);
        progress
    }

    /// Goes on as another replica, which has written nothing yet.
    pub(crate) fn become_replica(&mut self, one: Incarnation) {
        (self.owner, self.replica) = (one.name, Some(one.id));
        (self.groups, self.synced, self.noted) = (0, 0, None);
    }

    /// The number of the group that comes next.
    pub(crate) fn next(&self) -> i64 {
        self.groups.saturating_add(1)
    }

    /// The first statements of a group; the last of them changes one row, if the database is where
    /// this process left it. Of a replica the one before it finds one row, as long as nobody took it
    /// for dead, and nobody can until the group ends.
    pub(crate) fn begin(&self, sync: bool) -> String {
        let Self { owner, groups, .. } = self;
        let next = self.next();
        let soft = if sync { "" } else { " SET LOCAL synchronous_commit = off;" };
        if let Some(id) = self.replica {
            return format!(
                "BEGIN;{soft} SELECT 1 FROM replicas WHERE id = {id} AND state = 'live' \
                 FOR KEY SHARE; UPDATE replica_groups SET groups = {next} \
                 WHERE replica = {id} AND groups = {groups}"
            );
        }
        format!(
            "BEGIN;{soft} UPDATE store SET groups = {next} \
             WHERE owner = '{owner}' AND groups = {groups}"
        )
    }

    /// The next group is there.
    pub(crate) fn advance(&mut self, sync: bool) {
        self.groups = self.next();
        if sync {
            self.synced = self.groups;
        }
    }

    /// The last group that is there was one of these.
    pub(crate) fn note_group(&mut self, sync: bool) {
        if sync {
            self.synced = self.groups;
        }
    }

    /// Goes on from what the database says of itself.
    pub(crate) fn find(&mut self, state: &RecordState) -> Answer<Found> {
        if state.name != self.name {
            return Err(went_back(None));
        }
        // Whoever takes a database over adds to the number; a copy of it may not.
        if state.groups < self.synced {
            return Err(went_back(None));
        }
        if state.owner != self.owner {
            return Err(SessionError::unfit(
                "was taken over by another process: start this one anew",
            ));
        }
        let lost_some = state.groups < self.groups;
        self.groups = state.groups;
        Ok(Found { groups: state.groups, lost_some })
    }

    /// Writes down how far it has come, for the next process; what cannot be written now is written
    /// another time.
    pub(crate) fn note(&mut self) -> io::Result<()> {
        let Some(note) = self.note.as_ref().filter(|_| self.noted != Some(self.synced)) else {
            return Ok(());
        };
        note.write(&NotedProgress {
            name: self.name.clone(),
            groups: if self.replica.is_some() { 0 } else { self.synced },
            replica: self.replica.map(|id| NotedReplica {
                id,
                name: self.owner.clone(),
                groups: self.synced,
            }),
        })?;
        self.noted = Some(self.synced);
        Ok(())
    }
}

/// Where a process leaves word of how far a record had come.
#[derive(Clone)]
pub(crate) struct ProgressNote(pub(crate) PathBuf);

#[derive(Serialize, Deserialize)]
pub(crate) struct NotedProgress {
    name: String,
    groups: i64,
    /// Of one that shared the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) replica: Option<NotedReplica>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct NotedReplica {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) groups: i64,
}

impl ProgressNote {
    /// What it says. One that is not there, or cannot be read, says nothing.
    pub(crate) fn read(&self) -> Option<NotedProgress> {
        serde_json::from_str(&fs::read_to_string(&self.0).ok()?).ok()
    }

    /// Whether a database has all that it had when this was written. `has_replica`: also of the
    /// replica that wrote it.
    pub(crate) fn compare(&self, state: Option<&RecordState>, has_replica: bool) -> Answer<()> {
        let Some(noted) = self.read() else { return Ok(()) };
        match state {
            Some(state)
                if state.name == noted.name && state.groups >= noted.groups && has_replica =>
            {
                Ok(())
            }
            Some(_) | None => Err(went_back(Some(&self.0))),
        }
    }

    fn write(&self, noted: &NotedProgress) -> io::Result<()> {
        let text = serde_json::to_string(noted).map_err(io::Error::other)?;
        // Replicas of one machine may write the same one.
        let beside = self.0.with_extension(format!("new{}", std::process::id()));
        fs::write(&beside, text)?;
        fs::rename(&beside, &self.0)
    }
}

/// The note has more than the database.
fn went_back(note: Option<&Path>) -> SessionError {
    let cure = match note {
        Some(path) => format!("remove `{}` to go on without it", path.display()),
        None => "start this process anew".to_owned(),
    };
    SessionError::unfit(format!(
        "lacks a part of what was written to it, and what is forgotten could happen twice (a copy \
         was put back, or a standby took over): bring the newer one back, or {cure}"
    ))
}
