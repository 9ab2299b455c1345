//! Agents of the SDK in Python, where the run of the tests installed it: each version over each
//! way.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_a2a_client::A2aSettings;
use toolcrib_core::{
    BatchOptions, Caller, Decision, Part, PendingTicket, PlanRequest, Response, Run, ToolOutcome,
};

use crate::crib::{Agency, Listener, heard_by, settings, source};
use crate::other_agent::{OtherAgent, WAYS, peer};

struct PythonAgent(OtherAgent);

impl PythonAgent {
    async fn start() -> Option<Self> {
        let python = peer("TOOLCRIB_PYTHON_A2A")?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/agent.py");
        let words = ["-W", "ignore", script.to_str().unwrap()];
        Some(Self(OtherAgent::start(&python, &words).await))
    }

    fn settings(&self, way: &str) -> A2aSettings {
        settings(&format!("{}/{way}", self.0.base))
    }

    async fn open(&self, way: &str) -> Agency {
        Agency::open(self.settings(way)).await
    }

    /// How many tasks the agent was told to cancel.
    async fn cancelled(&self) -> usize {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let place = self.0.base.trim_start_matches("http://");
        let mut line = tokio::net::TcpStream::connect(place).await.unwrap();
        let asked = "GET /cancelled HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        line.write_all(asked.as_bytes()).await.unwrap();
        let mut said = String::new();
        line.read_to_string(&mut said).await.unwrap();
        let list: Vec<Value> = serde_json::from_str(said.rsplit("\r\n").next().unwrap()).unwrap();
        list.len()
    }
}

fn waits(response: &Response) -> PendingTicket {
    let ToolOutcome::Pending(pending) = &response.outcome else { panic!("{response:?}") };
    pending.clone()
}

#[tokio::test]
async fn the_card_at_the_well_known_place_tells_where_the_agent_is_and_what_it_can() {
    let Some(agent) = PythonAgent::start().await else { return };
    let source = source(settings(&agent.0.base));
    let tools = toolcrib_core::Source::load(&source).await.unwrap();
    let spec = &tools.get("ask").unwrap().spec;
    assert_eq!(spec.title.as_deref(), Some("Scripted Agent"));
    let told = "Does as it is told.\n\nIt can:\n- Tell: Tells a tale.\n- Draw: Draws.";
    assert_eq!(spec.description, told);
    let report = source.report().unwrap();
    assert_eq!(
        (report.agent.as_str(), report.speaks.as_str(), report.skills, report.streaming),
        ("Scripted Agent", "JSONRPC 1.0", 2, true)
    );
}

#[tokio::test]
async fn a_task_is_told_of_while_it_runs_and_its_artifact_is_put_together_of_its_pieces() {
    let Some(agent) = PythonAgent::start().await else { return };
    for way in WAYS {
        let host = Arc::new(Listener::default());
        let agency = agent.open(way).await;
        let said = agency.call("ask", &json!({ "message": "say" }), heard_by(&host)).await;
        assert!(said.outcome.is_done(), "{way}: {said:?}");
        assert_eq!(said.text(), "Once upon a time.", "{way}");
        let heard = host.heard.lock().unwrap().clone();
        assert_eq!(heard.get(..2), Some(&[json!("thinking"), json!("writing")][..]), "{way}");
    }
}

#[tokio::test]
async fn a_message_may_be_answered_at_once() {
    let Some(agent) = PythonAgent::start().await else { return };
    for way in WAYS {
        let said = agent.open(way).await.say("hello").await;
        assert!(said.outcome.is_done(), "{way}: {said:?}");
        assert_eq!(said.text(), "Hello yourself.", "{way}");
    }
}

#[tokio::test]
async fn data_with_arrays_files_and_addresses_come_through() {
    let Some(agent) = PythonAgent::start().await else { return };
    for way in WAYS {
        let said = agent.open(way).await.say("parts").await;
        let ToolOutcome::Done(content) = &said.outcome else { panic!("{way}: {said:?}") };
        // Version 0.3 has objects alone as data, and the SDK puts others into one.
        let data = content.structured.clone().unwrap();
        let data = data.get("value").cloned().unwrap_or(data);
        assert_eq!(data, json!([1.0, { "two": [2.0] }, "three"]), "{way}");
        let [Part::Text { .. }, Part::Image { data, mime, .. }, Part::Link { uri, .. }] =
            content.parts.as_slice()
        else {
            panic!("{way}: {content:?}")
        };
        assert_eq!((data.as_str(), mime.as_str()), ("iVBORw==", "image/png"), "{way}");
        assert_eq!(uri, "https://example.com/a.pdf", "{way}");
    }
}

#[tokio::test]
async fn a_task_that_fails_or_is_refused_is_an_error_with_the_words_of_the_agent() {
    let Some(agent) = PythonAgent::start().await else { return };
    for way in WAYS {
        let agency = agent.open(way).await;
        let failed = agency.say("fail").await;
        assert!(failed.text().contains("the agent failed: The oven is broken."), "{failed:?}");
        let refused = agency.say("reject").await;
        let told = "the agent refused the task: Not on a Friday.";
        assert!(refused.text().contains(told), "{way}: {refused:?}");
    }
}

#[tokio::test]
async fn what_a_task_asks_waits_under_a_ticket_and_the_answer_goes_to_the_same_task() {
    let Some(agent) = PythonAgent::start().await else { return };
    for way in WAYS {
        for (asked, question) in
            [("ask", "Which colour?"), ("enter", "Sign in first. Open https://login.example/x")]
        {
            let agency = agent.open(way).await;
            let pending = waits(&agency.say(asked).await);
            let shown = pending.question.as_deref().unwrap()["message"].as_str().unwrap();
            assert!(shown.starts_with(question), "{way}: {shown}");
            let answer = Decision::Answer { content: json!({ "answer": "red" }) };
            let caller = Caller::local();
            let decided =
                agency.0.decide(&caller, &Run::default(), &pending.ticket, answer).await.unwrap();
            assert!(decided.outcome.is_done(), "{way}: {decided:?}");
            assert_eq!(decided.text(), "It is red.", "{way}");
        }
    }
}

#[tokio::test]
async fn a_task_whose_time_is_over_is_cancelled() {
    let Some(agent) = PythonAgent::start().await else { return };
    for (count, way) in WAYS.into_iter().enumerate() {
        let mut settings = agent.settings(way);
        settings.timeout = Duration::from_millis(700);
        let late = Agency::open(settings).await.say("slow").await;
        assert!(late.text().contains("and its task was cancelled"), "{way}: {late:?}");
        assert_eq!(agent.cancelled().await, count + 1, "{way}");
    }
}

#[tokio::test]
async fn calls_of_one_session_are_one_conversation() {
    let Some(agent) = PythonAgent::start().await else { return };
    for way in WAYS {
        let mut settings = agent.settings(way);
        settings.conversation = toolcrib_a2a_client::ConversationScope::Session;
        let agency = Agency::open(settings).await;
        let ask = async |session: &str| {
            let plan = PlanRequest { session: Some(session.into()), ..PlanRequest::default() };
            let arguments = json!({ "message": "count" });
            let said = agency.call_in(plan, "ask", &arguments, BatchOptions::default()).await;
            assert!(said.outcome.is_done(), "{way}: {said:?}");
            said.text()
        };
        let (first, second, other) = (ask("one").await, ask("one").await, ask("two").await);
        assert_eq!(first, second, "{way}");
        assert_ne!(first, other, "{way}");
    }
}
