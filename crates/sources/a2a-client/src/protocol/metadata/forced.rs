//! Which tools an agent has to call first, as one crib tells another. The protocol has no field for
//! it, so agents of others pass over it.

use serde_json::{Map, Value};

use crate::protocol::message::AgentMessage;

/// Where a message has the names, in its metadata: a list of tools of the agent.
pub const FORCE: &str = "toolcrib/force";

/// Names in one message at the most.
pub const MOST_FORCED: usize = 16;

impl AgentMessage {
    /// The tools that the agent has to call, by their names there.
    ///
    /// # Errors
    /// What stands there is no list of one to [`MOST_FORCED`] names; the text tells the cure.
    pub fn forced(&self) -> Result<Vec<String>, String> {
        let said = self.metadata.as_ref().and_then(|metadata| metadata.get(FORCE));
        let names = match said {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(names)) if (1..=MOST_FORCED).contains(&names.len()) => names,
            Some(_) => return Err(malformed()),
        };
        let names = names.iter().map(|name| name.as_str().map(str::to_owned));
        names.collect::<Option<Vec<_>>>().ok_or_else(malformed)
    }

    /// The same message with tools that the agent has to call.
    #[must_use]
    pub fn forcing(mut self, names: &[String]) -> Self {
        if names.is_empty() {
            return self;
        }
        let mut metadata = match self.metadata.take() {
            Some(Value::Object(metadata)) => metadata,
            Some(_) | None => Map::new(),
        };
        metadata.insert(FORCE.to_owned(), names.into());
        self.metadata = Some(Value::Object(metadata));
        self
    }
}

fn malformed() -> String {
    format!("`message.metadata.{FORCE}` must be a list of 1 to {MOST_FORCED} names of tools")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocol::part::MessagePart;

    fn with(metadata: Value) -> AgentMessage {
        let message = AgentMessage::of_user("1", vec![MessagePart::text("Hello.")]);
        AgentMessage { metadata: Some(metadata), ..message }
    }

    #[test]
    fn names_that_are_written_are_read() {
        let message = with(json!({ "skillId": "s" }));
        assert_eq!(message.forced(), Ok(Vec::new()));
        let message = message.forcing(&[]).forcing(&["a".to_owned(), "b".to_owned()]);
        assert_eq!(message.metadata, Some(json!({ "skillId": "s", FORCE: ["a", "b"] })));
        assert_eq!(message.forced(), Ok(vec!["a".to_owned(), "b".to_owned()]));
    }

    #[test]
    fn what_is_no_list_of_names_is_refused_with_its_place() {
        let many = vec!["a"; MOST_FORCED + 1];
        for said in [json!("a"), json!([]), json!([1]), json!({}), json!(many)] {
            let error = with(json!({ FORCE: said })).forced().unwrap_err();
            let told = "`message.metadata.toolcrib/force` must be a list of 1 to 16 names of tools";
            assert_eq!(error, told);
        }
        assert_eq!(with(json!({ FORCE: null })).forced(), Ok(Vec::new()));
    }
}
