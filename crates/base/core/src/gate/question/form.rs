//! A question as a form: what is asked, and which answers fit.

use serde_json::{Map, Value, json};
use toolcrib_json::schema::Schema;

use crate::ledger::ticket::TicketError;
use crate::policy::approval::shown;

/// Largest question in bytes of JSON: a person has to read it.
const LARGEST: usize = 16 * 1024;

pub(crate) struct QuestionForm {
    message: String,
    schema: Schema,
}

impl QuestionForm {
    /// `None`: it is none that a person could fill in.
    pub(crate) fn read(params: &Value) -> Option<Self> {
        let message = params.get("message")?.as_str()?.to_owned();
        let nothing = || json!({ "type": "object", "properties": {} });
        let schema = params.get("requestedSchema").cloned().unwrap_or_else(nothing);
        if message.len() + schema.to_string().len() > LARGEST {
            return None;
        }
        Some(Self { message, schema: Schema::compile(&schema).ok()? })
    }

    /// In one line.
    pub(crate) fn words(&self) -> String {
        shown(&self.message)
    }

    /// As it was asked.
    pub(crate) fn question(&self) -> Value {
        json!({ "message": self.message, "requestedSchema": self.schema.source() })
    }

    /// What the fields are filled with, as the form has it.
    pub(crate) fn filled(&self, content: Value) -> Result<Value, TicketError> {
        let unfit = |why: String| {
            TicketError::Unfit(format!("{why}. It takes {}", self.schema.signature("content")))
        };
        let Value::Object(fields) = &content else {
            return Err(unfit("the answer must be a JSON object".to_owned()));
        };
        if let Some(name) = fields.keys().find(|name| !self.has(name)) {
            return Err(unfit(format!("there is no field `{}`", shown(name))));
        }
        let (content, _) = self.schema.coerce(content);
        match self.schema.check(&content) {
            Ok(()) => Ok(content),
            Err(violations) => Err(unfit(violations.to_string())),
        }
    }

    fn has(&self, name: &str) -> bool {
        let fields = self.schema.source().get("properties").and_then(Value::as_object);
        fields.is_some_and(|fields: &Map<_, _>| fields.contains_key(name))
    }
}
