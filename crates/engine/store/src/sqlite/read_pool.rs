//! Connections that read, beside the one that writes.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::file::{FileLock, reader};
use crate::error::StoreError;

/// Readers at one time; more would wait for the disk anyhow.
const AT_ONCE: usize = 4;

#[derive(Clone)]
pub(crate) struct ReadPool(Arc<ReadPoolInner>);

struct ReadPoolInner {
    owned: Arc<FileLock>,
    idle: Mutex<Vec<Connection>>,
    places: Arc<Semaphore>,
}

impl ReadPool {
    pub(crate) fn new(owned: Arc<FileLock>) -> Self {
        let places = Arc::new(Semaphore::new(AT_ONCE));
        Self(Arc::new(ReadPoolInner { owned, idle: Mutex::default(), places }))
    }

    /// Reads on a thread that may block. What SQLite and `read` say is one.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let room = Arc::clone(&self.0);
        let path = room.owned.path.clone();
        let closed = StoreError::Closed { path: path.clone() };
        let Ok(place) = Arc::clone(&room.places).acquire_owned().await else { return Err(closed) };
        let reading = tokio::task::spawn_blocking(move || {
            let _place = place;
            let idle = room.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = idle.map_or_else(|| reader(&room.owned.path), Ok)?;
            let answer = read(&connection);
            room.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            answer
        });
        match reading.await {
            Ok(answer) => answer.map_err(|error| StoreError::opening(&path, error)),
            Err(_) => Err(closed),
        }
    }
}
