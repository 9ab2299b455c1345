//! A database of a test's own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolcrib_store::{Store, StoreError, StoreOptions};

use crate::cluster::Cluster;

/// A database in the server that all tests share, and a folder beside it.
pub(crate) struct Scratch {
    folder: PathBuf,
    cluster: &'static Cluster,
    database: String,
    url: String,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        let cluster = SHARED.get_or_init(|| Cluster::start("shared"));
        let database = format!("t{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let url = cluster.database(&database);
        let name = format!("toolcrib-scratch-{}-{database}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self { folder, cluster, database, url }
    }

    /// The store in it, made if it is not there.
    pub(crate) fn open(&self, options: StoreOptions) -> Result<Store, StoreError> {
        toolcrib_store_postgres::open(&self.url, options)
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The number that a question in SQL is answered with.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        let told = self.cluster.sql(&self.database, sql).unwrap();
        told.trim().parse().unwrap()
    }

    /// Changes rows behind the store's back.
    pub(crate) fn change(&self, sql: &str) {
        self.cluster.sql(&self.database, sql).unwrap();
    }

    /// The texts that a question in SQL is answered with, none of which has more than one line.
    pub(crate) fn texts(&self, sql: &str) -> Vec<String> {
        let told = self.cluster.sql(&self.database, sql).unwrap();
        told.lines().map(str::to_owned).collect()
    }

    /// Whether these words of an argument stand in any row.
    pub(crate) fn holds(&self, words: &str) -> bool {
        let count = format!(
            "SELECT count(*) FROM tickets WHERE concat(arguments, claimed_arguments) LIKE '%{words}%'"
        );
        self.number(&count) > 0
    }

    /// Another one with what this one has, while it is open.
    pub(crate) fn copied(&self) -> Self {
        let copy = Self::new();
        self.cluster.pour(&self.database, &copy.database);
        copy
    }

    /// Bytes that its runs take, with their indexes.
    pub(crate) fn bytes(&self) -> u64 {
        let tables = ["runs", "run_contents", "run_items", "run_events"];
        let sizes = tables.map(|table| format!("pg_total_relation_size('{table}')"));
        self.number(&format!("SELECT {}", sizes.join(" + "))).unsigned_abs()
    }

    /// Finds no row that lacks what it names.
    pub(crate) fn is_whole(&self) {
        let lost = "SELECT count(*) FROM results \
                    WHERE NOT EXISTS (SELECT 1 FROM contents WHERE id = content)";
        assert_eq!(self.number(lost), 0);
    }

    /// Where it is, for a process of its own.
    pub(crate) fn place(&self) -> String {
        self.url.clone()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }
}

/// The store at a place.
pub(crate) fn open_at(place: &str) -> Result<Store, StoreError> {
    toolcrib_store_postgres::open(place, StoreOptions::default())
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
