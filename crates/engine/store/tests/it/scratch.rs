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

    /// The texts that a question in SQL is answered with.
    pub(crate) fn texts(&self, sql: &str) -> Vec<String> {
        let raw = rusqlite::Connection::open(self.file()).unwrap();
        let mut list = raw.prepare(sql).unwrap();
        let rows = list.query_map([], |row| row.get(0)).unwrap();
        rows.map(|row| row.unwrap()).collect()
    }

    /// Whether these words of an argument stand anywhere in it.
    pub(crate) fn holds(&self, words: &str) -> bool {
        let raw = fs::read(self.file()).unwrap();
        raw.windows(words.len()).any(|bytes| bytes == words.as_bytes())
    }

    /// Another one with what this one has, while it is open.
    pub(crate) fn copied(&self) -> Self {
        let copy = Self::new();
        for end in ["", "-wal"] {
            let file = |scratch: &Self| format!("{}{end}", scratch.file().display());
            fs::copy(file(self), file(&copy)).unwrap();
        }
        copy
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        let pages = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
        self.number(pages).unsigned_abs()
    }

    /// Finds no damage.
    pub(crate) fn is_whole(&self) {
        assert_eq!(self.texts("PRAGMA integrity_check"), ["ok"]);
    }

    /// Where it is, for a process of its own.
    pub(crate) fn place(&self) -> String {
        self.file().display().to_string()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.0.join("crib.db")
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

/// The store at a place.
pub(crate) fn open_at(place: &str) -> Result<Store, StoreError> {
    Store::open(Path::new(place), StoreOptions::default())
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
