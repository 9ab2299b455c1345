//! The store as a ledger of tasks of clients. A file keeps none: they end with its only process.

use std::time::Duration;

use toolcrib_core::{BoxFuture, LONGEST_STATE, LedgerError, TaskLedger, TaskRecord};

use super::Store;
use crate::writes::job::Durability;
use crate::writes::requests::client_task_requests::WriteClientTask;

impl TaskLedger for Store {
    fn put_task(&self, task: TaskRecord, life: Duration) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(async move {
            if task.state.len() > LONGEST_STATE {
                let told = format!("the state of a task has at most {LONGEST_STATE} bytes");
                return Err(LedgerError::new(told));
            }
            let asked = WriteClientTask { task, life };
            Ok(self.0.writer.ask(Durability::Commit, asked).await?)
        })
    }

    fn find_task<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<TaskRecord>, LedgerError>> {
        Box::pin(async move { Ok(self.0.readers.client_task(name.to_owned()).await?) })
    }
}
