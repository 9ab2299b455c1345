//! The parameters of a request. Those of a call share its arguments, which may be large, with
//! whoever keeps them for another try.

use serde_json::{Map, Value};
use toolcrib_core::Arguments;

use crate::protocol::json::object_writer::ObjectWriter;

#[derive(Debug, Clone, Default)]
pub(crate) struct RequestParams {
    /// The tool that is called, and with what.
    call: Option<(String, Arguments)>,
    others: Map<String, Value>,
}

impl RequestParams {
    pub(crate) fn call(tool: &str, arguments: Arguments) -> Self {
        Self { call: Some((tool.to_owned(), arguments)), others: Map::new() }
    }

    pub(crate) fn extend(&mut self, more: Map<String, Value>) {
        self.others.extend(more);
    }

    /// What they name, if it has a name.
    pub(crate) fn name(&self) -> Option<&str> {
        match &self.call {
            Some((tool, _)) => Some(tool),
            None => self.others.get("name")?.as_str(),
        }
    }

    /// The arguments of a call.
    pub(crate) fn arguments(&self) -> Option<&Map<String, Value>> {
        self.call.as_ref().map(|(_, arguments)| arguments.fields())
    }

    /// As fields of an object; what a request says of itself (`_meta`) is written by who sends it.
    pub(crate) fn write(&self, object: &mut ObjectWriter) {
        if let Some((tool, arguments)) = &self.call {
            object.field("name", tool);
            object.field("arguments", arguments.fields());
        }
        for (key, value) in self.others.iter().filter(|(key, _)| *key != "_meta") {
            object.field(key, value);
        }
    }

    /// As the SDK has them.
    pub(crate) fn whole(&self) -> Value {
        let mut whole = Map::new();
        if let Some((tool, arguments)) = &self.call {
            whole.insert("name".to_owned(), Value::from(tool.as_str()));
            whole.insert("arguments".to_owned(), Value::Object(arguments.fields().clone()));
        }
        whole.extend(self.others.clone());
        Value::Object(whole)
    }
}

impl From<Map<String, Value>> for RequestParams {
    fn from(others: Map<String, Value>) -> Self {
        Self { call: None, others }
    }
}
