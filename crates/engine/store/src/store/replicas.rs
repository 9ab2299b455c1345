//! What this process is among those that share the record.

use crate::error::StoreError;
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
}
