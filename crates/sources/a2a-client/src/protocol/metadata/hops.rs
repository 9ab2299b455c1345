//! How many agents have handed a request on: agents that have each other as tools would else call
//! each other for ever.

use serde_json::{Map, Value};

use crate::protocol::message::AgentMessage;

/// Where a message has the count, in its metadata.
pub const HOPS: &str = "toolcrib/hops";

/// How often a request may be handed on from one agent to the next.
pub const MOST_HOPS: u32 = 8;

impl AgentMessage {
    /// How often the request was handed on, as far as those say who did it; never more than
    /// `MOST_HOPS + 1`.
    pub fn hops(&self) -> u32 {
        let said = self.metadata.as_ref().and_then(|metadata| metadata.get(HOPS));
        // The JSON of protocol buffers has `1.0` for 1.
        let said = said.and_then(Value::as_f64).unwrap_or_default();
        (0..=MOST_HOPS).find(|hops| f64::from(*hops) >= said).unwrap_or(MOST_HOPS + 1)
    }

    /// The same message as one that was handed on so often.
    #[must_use]
    pub fn with_hops(mut self, hops: u32) -> Self {
        let mut metadata = match self.metadata.take() {
            Some(Value::Object(metadata)) => metadata,
            Some(_) | None => Map::new(),
        };
        metadata.insert(HOPS.to_owned(), hops.into());
        self.metadata = Some(Value::Object(metadata));
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocol::part::MessagePart;

    fn with(metadata: Value) -> u32 {
        let message = AgentMessage::of_user("1", vec![MessagePart::text("Hello.")]);
        AgentMessage { metadata: Some(metadata), ..message }.hops()
    }

    #[test]
    fn a_count_is_read_as_those_write_it_who_hand_it_on() {
        let read = [
            json!({ HOPS: 3 }),
            json!({ HOPS: 3.0 }),
            json!({ HOPS: 2.5 }),
            json!({ HOPS: MOST_HOPS }),
            json!({ HOPS: MOST_HOPS + 1 }),
            json!({ HOPS: u64::MAX }),
            json!({ HOPS: 1e300 }),
            json!({ HOPS: -1 }),
            json!({ HOPS: "3" }),
            json!({}),
            json!([]),
        ];
        let most = MOST_HOPS;
        let read: Vec<_> = read.into_iter().map(with).collect();
        assert_eq!(read, [3, 3, 3, most, most + 1, most + 1, most + 1, 0, 0, 0, 0]);
    }

    #[test]
    fn a_count_stands_beside_what_else_a_message_says() {
        let message = AgentMessage::of_user("1", vec![MessagePart::text("Hello.")]);
        let message = AgentMessage { metadata: Some(json!({ "skillId": "s" })), ..message };
        let message = message.with_hops(1).with_hops(2);
        assert_eq!(message.metadata, Some(json!({ "skillId": "s", HOPS: 2 })));
    }
}
