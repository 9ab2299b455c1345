//! A directory of a test's own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use toolcrib_store::{Store, StoreError, StoreOptions};

/// Removed with all in it when dropped.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("store-{}-{number}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        // Of a process of the same number, long ago.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The store in it, made if it is not there.
    pub(crate) fn open(&self, options: StoreOptions) -> Result<Store, StoreError> {
        Store::open(&self.file(), options)
    }

    /// The number that a question in SQL is answered with.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        let raw = rusqlite::Connection::open(self.file()).unwrap();
        raw.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Changes rows behind the store's back.
    pub(crate) fn change(&self, sql: &str) {
        rusqlite::Connection::open(self.file()).unwrap().execute_batch(sql).unwrap();
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.0.join("crib.db")
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
