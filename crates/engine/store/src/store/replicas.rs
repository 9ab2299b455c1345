//! What this process is among those that share the record.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::error::StoreError;
use crate::reads::LiveReplica;
use crate::rows::fleet::Fleet;
use crate::store::Store;

impl Store {
    /// The name of this process among those that share the record, which no other has or had;
    /// `None`: it is alone. One that was taken for dead goes on under another name.
    pub fn replica(&self) -> Option<String> {
        self.0.writer.shared().lease.name()
    }

    /// Whether nothing of the replica with that name goes on any more. One that nobody has heard of
    /// is none.
    pub async fn is_over(&self, replica: &str) -> Result<bool, StoreError> {
        self.0.readers.is_over(replica.to_owned()).await
    }

    /// Has the others told this with each renewal of the lease, beside what was said at the start.
    pub fn tell_others(&self, report: Map<String, Value>) {
        self.0.writer.shared().lease.tell(report);
    }

    /// Those that share the record, and the transactions of its database that have been open for
    /// longer than that; `None`: this process has the record for itself.
    pub async fn fleet(&self, older: Duration) -> Result<Option<Fleet>, StoreError> {
        if self.replica().is_none() {
            return Ok(None);
        }
        self.0.readers.fleet(older).await.map(Some)
    }

    /// Where the replica of that name is reached, while its lease lasts. `None`: it is not, or has
    /// not said where.
    pub async fn live_replica(&self, name: &str) -> Result<Option<LiveReplica>, StoreError> {
        Ok(self.0.readers.live_replicas(Some(name.to_owned())).await?.pop())
    }

    /// The same of all, this one among them.
    pub async fn live_replicas(&self) -> Result<Vec<LiveReplica>, StoreError> {
        self.0.readers.live_replicas(None).await
    }
}
