//! What every dialect can do.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolcrib_core::{Call, Plan, Report, Response};

use crate::hosted::calls::HostedWork;
use crate::rendering::Rendering;
use crate::reply::envelope::{self, NotAReply};

/// One model API, both ways.
pub trait Dialect: Send + Sync {
    /// As in [`NAMES`](crate::NAMES).
    fn name(&self) -> &'static str;

    /// Whether the API can hold definitions back until its model looks for them.
    fn defers(&self) -> bool {
        false
    }

    /// What of the tools stands in the context of the model before it has looked for any.
    fn upfront(&self, rendering: &Rendering) -> Value {
        rendering.tools.clone()
    }

    /// The tools of a plan, made once and kept in the plan.
    fn rendering(&self, plan: &Plan) -> Arc<Rendering>;

    /// The calls of a reply: the whole answer of the API, the message in it, a list of its items,
    /// or one of them.
    ///
    /// What stands where a call should and is none becomes a call that says so, which the executor
    /// answers; nothing is left without an answer.
    ///
    /// # Errors
    /// It is [`not_a_reply`](Self::not_a_reply): sending the request again is no repetition of
    /// calls.
    fn calls(&self, plan: &Plan, reply: &Value) -> Result<Vec<Call>, NotAReply> {
        self.not_a_reply(reply).map_or_else(|| Ok(self.read_calls(plan, reply)), Err)
    }

    /// What [`calls`](Self::calls) finds, in any JSON: nothing in what is no reply.
    fn read_calls(&self, plan: &Plan, reply: &Value) -> Vec<Call>;

    /// The answers as messages (Responses: items; Gemini: contents) for the next request, to be
    /// sent right behind those of [`echo`](Self::echo).
    fn results(&self, report: &Report) -> Vec<Value>;

    /// What the tools of the provider did in a reply; `plan`: which of them are whose.
    fn hosted(&self, plan: Option<&Plan>, reply: &Value) -> HostedWork;

    /// Whether an event of a stream tells that such a tool has ended, so that
    /// [`hosted`](Self::hosted) of the reply so far tells of it.
    fn ends_hosted(&self, event: &Value) -> bool {
        let _ = event;
        false
    }

    /// The model's own turn as it must stand in the next request: it carries ids and signatures
    /// that the API checks. Only what has no id is given the one that [`calls`](Self::calls)
    /// invented, so that call and result meet. Empty where a reply has no turn.
    fn echo(&self, reply: &Value) -> Vec<Value>;

    /// What a call that waited for a person has come to, after its waiting was already told: a
    /// message of the user, since the call's own id is answered.
    fn late(&self, response: &Response) -> Value;

    /// Why a reply holds no turn of a model: an error of the API, a blocked request, a reply of
    /// another API.
    fn not_a_reply(&self, reply: &Value) -> Option<NotAReply> {
        envelope::not_a_reply(self.name(), reply)
    }

    /// Puts a streamed reply together.
    fn stream(&self) -> Box<dyn ReplyStream>;

    /// The value of `tools`.
    fn tools(&self, plan: &Plan) -> Value {
        self.rendering(plan).tools.clone()
    }

    /// The value of `tool_choice` (Gemini: `toolConfig`), if there is something to say.
    fn tool_choice(&self, plan: &Plan) -> Option<Value> {
        self.rendering(plan).tool_choice.clone()
    }

    /// All fields that a request body needs: `body.extend(dialect.request(&plan))`.
    fn request(&self, plan: &Plan) -> Map<String, Value> {
        self.rendering(plan).request()
    }

    /// One `tool_choice` for each forced tool, in the order of the choices.
    fn forced_requests(&self, plan: &Plan) -> Vec<Value> {
        self.rendering(plan).forced.clone()
    }
}

/// A reply that comes in pieces.
pub trait ReplyStream: Send {
    /// Takes one event or chunk in; what is none is passed over.
    fn push(&mut self, chunk: &Value);

    /// The reply so far, in the shape that the API gives without streaming; once the stream has
    /// told of an error, that error.
    fn reply(&self) -> Value;

    /// Why the stream brought no turn of a model to its end: an error of the API, a blocked
    /// request.
    fn not_a_reply(&self) -> Option<NotAReply>;

    /// The calls of the whole reply. One whose arguments were cut off is answered and not run.
    ///
    /// # Errors
    /// It is [`not_a_reply`](Self::not_a_reply), also where calls came whole: whoever sends the
    /// request again is given them again.
    fn finish(&mut self, plan: &Plan) -> Result<Vec<Call>, NotAReply>;
}

/// Whether the API is asked to hold the model to the schemas.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StrictMode {
    /// Schemas are sent nearly whole, as advice.
    #[default]
    Off,
    /// Schemas are sent in the API's strict subset; a tool that it cannot say is sent as advice.
    On,
}
