//! One test, step by step. The first step that goes wrong ends it.

use std::time::Duration;

use serde_json::{Map, Value};

use super::agent::{ActsCaller, JudgedAgent};
use super::binding::{self, ActsBinding};
use super::suite::ActsTest;
use super::values::{self, Variables};
use super::wire::ActsReply;
use super::{matching, stream};

/// A step is repeated no more often, whatever the suite says.
const MOST_TIMES: u64 = 100;
const MOST_DELAY: u64 = 60_000;

/// What a test has so far.
pub(super) struct ActsPlay<'a> {
    agent: &'a JudgedAgent,
    caller: ActsCaller,
    variables: Variables,
    /// What each step was answered.
    pub(super) replies: Vec<(String, ActsReply)>,
}

impl<'a> ActsPlay<'a> {
    pub(super) fn new(agent: &'a JudgedAgent, caller: ActsCaller, variables: Variables) -> Self {
        Self { agent, caller, variables, replies: Vec::new() }
    }

    /// Does all steps; what went wrong, with the step.
    pub(super) async fn run(&mut self, test: &ActsTest) -> Vec<String> {
        for (index, step) in test.steps.iter().enumerate() {
            let id = step.get("id").and_then(Value::as_str);
            let id = id.map_or_else(|| (index + 1).to_string(), str::to_owned);
            let faults = self.step(&id, step).await.unwrap_or_else(|fault| vec![fault]);
            if !faults.is_empty() {
                return faults.into_iter().map(|fault| format!("step `{id}`: {fault}")).collect();
            }
        }
        Vec::new()
    }

    /// The answer to the last step.
    pub(super) fn last(&self) -> Option<&ActsReply> {
        self.replies.last().map(|(_, reply)| reply)
    }

    async fn step(&mut self, id: &str, step: &Value) -> Result<Vec<String>, String> {
        self.pause(step.get("delay_ms")).await;
        let reply = self.ask_until(step).await?;
        for (name, path) in step.get("capture").and_then(Value::as_object).into_iter().flatten() {
            let found =
                reply.body.as_ref().map(|body| values::dig(body, path.as_str().unwrap_or("")));
            if let Some(value) = found.and_then(|found| found.first().map(|value| (*value).clone()))
            {
                self.variables.insert(format!("{id}.{name}"), value.clone());
                self.variables.insert(name.clone(), value);
            }
        }
        self.replies.push((id.to_owned(), reply.clone()));
        let wanted =
            |name: &str| step.get(name).map(|it| values::fill(it, &self.variables)).transpose();
        let is_raw = step.get("raw").is_some();
        let mut faults = Vec::new();
        if let Some(expected) = wanted("expect")? {
            faults.extend(of_answer(&expected, &reply, is_raw));
        }
        if let Some(expected) = wanted("expect_error")? {
            faults.extend(of_refusal(&expected, &reply));
        }
        if let Some(expected) = wanted("expect_stream")? {
            faults.extend(self.of_stream(&expected, &reply, is_raw));
        }
        if faults.is_empty()
            && let Some(Value::Array(all)) = step.get("assertions")
        {
            for assertion in all {
                faults.extend(self.of_earlier(assertion)?);
            }
        }
        Ok(faults)
    }

    async fn ask_until(&self, step: &Value) -> Result<ActsReply, String> {
        let Some(repeat) = step.get("repeat") else { return self.ask(step).await };
        let until = repeat.get("until").and_then(Value::as_str).unwrap_or_default();
        let times = repeat.get("max_attempts").and_then(Value::as_u64).unwrap_or(10);
        for _ in 0..times.min(MOST_TIMES) {
            let reply = self.ask(step).await?;
            let body = reply.body.clone().unwrap_or_default();
            if reply.error.is_some() || values::holds(until, &body)? {
                return Ok(reply);
            }
            self.pause(repeat.get("delay_ms")).await;
        }
        Err(format!("`{until}` was not so after {times} times"))
    }

    async fn ask(&self, step: &Value) -> Result<ActsReply, String> {
        if let Some(raw) = step.get("raw") {
            return self.agent.raw(&values::fill(raw, &self.variables)?, self.caller).await;
        }
        let operation = step.get("operation").and_then(Value::as_str);
        let operation = operation.ok_or("it has neither `operation` nor `raw`")?;
        let params = step.get("params").cloned().unwrap_or_default();
        self.agent.operate(operation, &values::fill(&params, &self.variables)?, self.caller).await
    }

    async fn pause(&self, delay: Option<&Value>) {
        if let Some(delay) = delay.and_then(Value::as_u64) {
            tokio::time::sleep(Duration::from_millis(delay.min(MOST_DELAY))).await;
        }
    }

    fn of_stream(&self, expected: &Value, reply: &ActsReply, is_raw: bool) -> Vec<String> {
        let Some(events) = &reply.events else {
            return vec![
                refused(reply).unwrap_or_else(|| "it is answered with no stream".to_owned()),
            ];
        };
        if is_raw && self.agent.binding == ActsBinding::JsonRpc {
            let inner: Vec<_> = events.iter().filter_map(|it| it.get("result").cloned()).collect();
            return stream::faults(expected, &inner, Some(events));
        }
        stream::faults(expected, events, None)
    }

    /// What is said of an answer that came before.
    fn of_earlier(&self, assertion: &Value) -> Result<Vec<String>, String> {
        let assertion = assertion.as_object().cloned().unwrap_or_default();
        let source = assertion.get("source").and_then(Value::as_str).unwrap_or_default();
        let step = source.trim_start_matches("{{").trim_end_matches("}}");
        let step = step.strip_suffix(".response").unwrap_or(step);
        let reply = self.replies.iter().rev().find(|(id, _)| id == step);
        let body = reply.and_then(|(_, reply)| reply.body.as_ref());
        let body = body.ok_or_else(|| format!("`{source}` was answered with nothing"))?;
        let mut faults = Vec::new();
        for word in ["any", "all", "none"] {
            let Some(wanted) = assertion.get(word) else { continue };
            let path = wanted.get("path").and_then(Value::as_str).unwrap_or_default();
            let rule = values::fill(wanted.get("match").unwrap_or(&Value::Null), &self.variables)?;
            let found = values::dig(body, path);
            let is_like = |value: &&Value| matching::faults(&rule, Some(value), "").is_empty();
            let holds = match word {
                "any" => found.iter().any(is_like),
                "all" => found.iter().all(is_like),
                _ => !found.iter().any(is_like),
            };
            if !holds {
                let shown = matching::shown(Some(&rule));
                faults.push(format!(
                    "`{path}` of `{step}`: not {word} of {} is like {shown}",
                    found.len()
                ));
            }
        }
        Ok(faults)
    }
}

/// What is expected of an answer: its status and body, or the body alone.
fn of_answer(expected: &Value, reply: &ActsReply, is_raw: bool) -> Vec<String> {
    let members = expected.as_object().cloned().unwrap_or_default();
    let status = members.get("status");
    let error = members.get("error");
    let wants_error = status.and_then(Value::as_str) == Some("error") || error.is_some();
    if wants_error {
        let rule = error.cloned().unwrap_or_default();
        let told = "it is not refused".to_owned();
        return match &reply.error {
            None => vec![format!("{told}: {}", matching::shown(reply.body.as_ref()))],
            found => matching::faults(&rule, found.as_ref(), "the error"),
        };
    }
    if !is_raw && let Some(refused) = refused(reply) {
        return vec![refused];
    }
    let mut faults = Vec::new();
    let is_of_http =
        status.is_some_and(|status| status.is_number() || status.get("one_of").is_some());
    if is_of_http && let Some(status) = status {
        faults.extend(matching::faults(status, Some(&reply.status.into()), "the status"));
    }
    let body = members.get("body").cloned().unwrap_or_else(|| own_body(&members, is_of_http));
    faults.extend(matching::faults(&body, reply.body.as_ref(), "body"));
    if is_raw && !faults.is_empty() {
        faults.extend(refused(reply));
    }
    faults
}

/// Where a test writes no `body`, its fields stand beside the status.
fn own_body(members: &Map<String, Value>, is_of_http: bool) -> Value {
    matching::without(members, if is_of_http { &["status"] } else { &[] })
}

fn of_refusal(expected: &Value, reply: &ActsReply) -> Vec<String> {
    let Some(error) = &reply.error else {
        let came = reply.body.as_ref().map_or_else(
            || reply.text.chars().take(160).collect(),
            |body| matching::shown(Some(body)),
        );
        return vec![format!("it is not refused: {came}")];
    };
    let mut faults = Vec::new();
    for name in ["code", "error_type"] {
        let Some(wanted) = expected.get(name) else { continue };
        let own = std::slice::from_ref(wanted);
        let all = wanted.get("one_of").and_then(Value::as_array).map_or(own, Vec::as_slice);
        let found = error.get("code").and_then(Value::as_i64);
        if !all.iter().any(|one| binding::code(one) == found && found.is_some()) {
            let told = refused(reply).unwrap_or_default();
            faults.push(format!("{told}, not with {}", matching::shown(Some(wanted))));
        }
    }
    for (name, own) in [("message", "message"), ("data", "data"), ("details", "data")] {
        if let Some(wanted) = expected.get(name) {
            faults.extend(matching::faults(wanted, error.get(own), own));
        }
    }
    faults
}

/// How an answer refuses, in words.
fn refused(reply: &ActsReply) -> Option<String> {
    let error = reply.error.as_ref()?;
    let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
    let message: String = message.chars().take(160).collect();
    Some(format!("it is refused with {} ({message})", matching::shown(error.get("code"))))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ActsReply, of_answer, of_refusal};

    fn answered(body: Value) -> ActsReply {
        ActsReply { status: 200, body: Some(body), ..Default::default() }
    }

    #[test]
    fn an_answer_is_judged_by_its_status_its_body_and_whether_it_refuses() {
        let good = answered(json!({ "task": { "id": "t" } }));
        let both = json!({ "status": 200, "body": { "task": { "id": { "type": "string" } } } });
        let bare = json!({ "task": { "id": "t" } });
        for expected in [&both, &bare] {
            assert!(of_answer(expected, &good, false).is_empty(), "{expected}");
            assert_eq!(of_answer(expected, &answered(json!({})), false).len(), 1, "{expected}");
        }
        let late = ActsReply { status: 201, ..good.clone() };
        assert_eq!(of_answer(&both, &late, false).len(), 1);
        let error = json!({ "code": -32001, "message": "no task" });
        let bad = ActsReply { error: Some(error), ..Default::default() };
        assert_eq!(of_answer(&both, &bad, false), ["it is refused with -32001 (no task)"]);
        let wants = json!({ "status": "error", "error": { "exists": true } });
        assert!(of_answer(&wants, &bad, false).is_empty());
        assert_eq!(of_answer(&wants, &good, false).len(), 1);
        let named = json!({ "code": { "one_of": ["TaskNotFoundError"] }, "message": "no task" });
        assert!(of_refusal(&named, &bad).is_empty());
        assert_eq!(of_refusal(&json!({ "code": "InternalError" }), &bad).len(), 1);
        assert_eq!(of_refusal(&named, &good).len(), 1);
    }
}
