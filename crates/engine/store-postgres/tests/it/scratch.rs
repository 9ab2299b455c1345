//! A database of a test's own.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolcrib_store::{Store, StoreError, StoreOptions};

use crate::cluster::Cluster;

/// A database in the server that all tests share.
pub(crate) struct Scratch {
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
        Self { cluster, database, url }
    }

    /// The store in it, made if it is not there.
    pub(crate) fn open(&self, options: StoreOptions) -> Result<Store, StoreError> {
        toolcrib_store_postgres::open(&self.url, options)
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
}
