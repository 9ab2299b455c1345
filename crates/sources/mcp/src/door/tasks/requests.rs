//! `tasks/get`, `tasks/update` and `tasks/cancel`.

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::model::ErrorData;
use serde_json::Value;
use toolcrib_core::Caller;

use super::{TaskRegistry, unknown};

impl TaskRegistry {
    pub(crate) fn state(
        &self,
        id: &str,
        (caller, profile): (&Caller, Option<&str>),
    ) -> Result<Value, ErrorData> {
        let task = self.find(id, caller, profile).ok_or_else(unknown)?;
        task.is_asked_for();
        Ok(task.state())
    }

    pub(crate) fn answer(
        &self,
        id: &str,
        (caller, profile): (&Arc<Caller>, Option<&str>),
        answers: BTreeMap<String, Value>,
    ) -> Result<(), ErrorData> {
        let task = self.find(id, caller, profile).ok_or_else(unknown)?;
        task.is_asked_for();
        task.answer(caller, answers);
        Ok(())
    }

    pub(crate) fn cancel(
        &self,
        id: &str,
        (caller, profile): (&Caller, Option<&str>),
    ) -> Result<(), ErrorData> {
        let task = self.find(id, caller, profile).ok_or_else(unknown)?;
        task.is_asked_for();
        task.cancel();
        Ok(())
    }
}
