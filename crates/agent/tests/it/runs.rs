//! Whole runs: a scripted model, real tools.

use std::sync::Arc;

use serde_json::json;
use toolcrib_agent::model::{CallerTool, ModelApi};
use toolcrib_agent::{AgentRun, Budget, RunEvent, RunOrder, RunPause, StopReason, ThreadItem};
use toolcrib_core::{Caller, Decision};
use toolcrib_testkit::{Oracle, ScriptedTurn};

use crate::fixture::{agent, crib, go, order, run, scripted, settings, text};

fn ended(pause: RunPause) -> toolcrib_agent::RunEnd {
    match pause {
        RunPause::Ended(end) => end,
        pause @ (RunPause::Waiting(_) | RunPause::Held | RunPause::Deferred { .. }) => {
            panic!("it has not ended: {pause:?}")
        }
    }
}

#[tokio::test]
async fn a_model_calls_reads_the_results_and_answers_in_every_api() {
    for (name, api) in ModelApi::WORDS {
        let oracle = Oracle::default();
        let model = scripted([
            ScriptedTurn::Calls(
                "I look.".to_owned(),
                vec![
                    ("look".to_owned(), json!({ "n": 1 })),
                    ("look".to_owned(), json!({ "n": 2 })),
                ],
            ),
            ScriptedTurn::says("Both are there."),
        ]);
        let agent = agent(settings(&model, api), crib(&oracle), Budget::default());
        let mut run = run(&agent, "Look twice.");
        let (pause, told) = go(&mut run).await;
        let end = ended(pause);
        assert_eq!((end.stop, end.text.as_str()), (StopReason::Done, "Both are there."), "{name}");
        assert_eq!(text(&told), "I look.Both are there.", "{name}");
        assert_eq!(oracle.count("look"), 2, "{name}");
        assert_eq!(run.turn(), 2, "{name}");
        assert_eq!(run.usage().total(), 220, "{name}");
        // The second request has both answers, in the order of the calls.
        let second = model.asked()[1].body.to_string().replace('\\', "");
        let (first, other) = (second.rfind("{\"n\":1}"), second.rfind("{\"n\":2}"));
        assert!(first.is_some() && first < other, "{name}: {second}");
        assert!(matches!(told.last(), Some(RunEvent::Ended { .. })), "{name}");
    }
}

#[tokio::test]
async fn a_batch_of_which_one_call_waits_is_told_as_a_whole_after_the_decision() {
    for approves in [true, false] {
        let oracle = Oracle::default();
        let calls = ["look", "wipe", "write"];
        let calls = calls.map(|name| (name.to_owned(), json!({ "n": 1 })));
        let model = scripted([
            ScriptedTurn::Calls(String::new(), calls.to_vec()),
            ScriptedTurn::says("So be it."),
        ]);
        let api = ModelApi::OpenAiChat;
        let agent = agent(settings(&model, api), crib(&oracle), Budget::default());
        let mut run = run(&agent, "Wipe it.");
        let (pause, told) = go(&mut run).await;
        let RunPause::Waiting(tickets) = pause else { panic!("it does not wait") };
        assert_eq!(tickets.len(), 1);
        let asked = told.iter().find_map(|event| {
            if let RunEvent::Waiting { call } = event { Some(call.tool.clone()) } else { None }
        });
        assert_eq!(asked.as_deref(), Some("wipe"));
        assert_eq!((oracle.count("look"), oracle.count("wipe")), (1, 0));
        assert_eq!(model.asked().len(), 1, "the model hears nothing yet");
        let decision = if approves {
            Decision::Approve
        } else {
            Decision::Deny { reason: "not today".to_owned() }
        };
        run.decide(&tickets[0], decision, &mut |_| {}).await.unwrap();
        let (pause, _) = go(&mut run).await;
        assert_eq!(ended(pause).text, "So be it.");
        assert_eq!(oracle.count("wipe"), usize::from(approves));
        let messages = model.asked()[1].body["messages"].clone();
        let answers: Vec<_> = messages.as_array().unwrap()[3..].iter().collect();
        let ids: Vec<_> = answers.iter().map(|one| one["tool_call_id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["call_0_0", "call_0_1", "call_0_2"]);
        let wiped = answers[1]["content"].as_str().unwrap();
        assert_eq!(wiped.contains("not today"), !approves, "{wiped}");
    }
}

#[tokio::test]
async fn a_run_that_waits_goes_on_from_what_was_written_in_every_api() {
    for (name, api) in ModelApi::WORDS {
        let oracle = Oracle::default();
        let calls = ["look", "wipe"].map(|name| (name.to_owned(), json!({ "n": 1 })));
        let model = scripted([
            ScriptedTurn::Calls(String::new(), calls.to_vec()),
            ScriptedTurn::says("Wiped."),
        ]);
        let agent = agent(settings(&model, api), crib(&oracle), Budget::default());
        let mut first = run(&agent, "Wipe it.");
        let RunPause::Waiting(tickets) = go(&mut first).await.0 else { panic!("it does not wait") };
        let written = serde_json::to_string(&first.saved()).unwrap();
        drop(first);
        let saved = serde_json::from_str(&written).unwrap();
        let caller = Arc::new(Caller::local());
        let mut second = AgentRun::restored(Arc::clone(&agent), caller, saved).unwrap();
        assert_eq!(go(&mut second).await.0, RunPause::Waiting(tickets.clone()), "{name}");
        second.decide(&tickets[0], Decision::Approve, &mut |_| {}).await.unwrap();
        assert_eq!(ended(go(&mut second).await.0).text, "Wiped.", "{name}");
        assert_eq!((oracle.count("look"), oracle.count("wipe")), (1, 1), "{name}");
        assert_eq!((second.turn(), second.usage().total()), (2, 220), "{name}");
        // Both answers stand in one message where the API wants it so.
        let messages = model.asked()[1].body.to_string();
        let answers = match api {
            ModelApi::Anthropic => messages.matches("tool_result\"").count(),
            ModelApi::Gemini => messages.matches("functionResponse\"").count(),
            ModelApi::OpenAiChat => messages.matches("tool_call_id\"").count(),
            ModelApi::OpenAiResponses => messages.matches("function_call_output\"").count(),
        };
        assert_eq!(answers, 2, "{name}: {messages}");
    }
    let later = json!({
        "version": 9, "usage": toolcrib_agent::Usage::default(), "busy": { "secs": 0, "nanos": 0 },
        "spent": { "turns": 0, "calls": 0, "tokens": 0, "cost": 0.0 },
        "state": {
            "id": "", "run": {}, "turn": 0, "phase": { "phase": "ended" },
            "caller_tools": [], "done": [], "waits_for_people": true,
        },
    });
    let oracle = Oracle::default();
    let model = scripted([]);
    let agent = agent(settings(&model, ModelApi::OpenAiChat), crib(&oracle), Budget::default());
    let later = serde_json::from_value(later).unwrap();
    let refused = AgentRun::restored(agent, Arc::new(Caller::local()), later).err().unwrap();
    assert!(refused.to_string().contains("update toolcrib"));
}

#[tokio::test]
async fn a_run_at_its_limit_answers_once_more_without_tools() {
    let oracle = Oracle::default();
    // It calls for ever, another thing each time; without tools it says what it has.
    let model = toolcrib_testkit::ScriptedModel::by(|number, body| {
        if body["tool_choice"] == "none" {
            ScriptedTurn::says("This is what I have.")
        } else {
            ScriptedTurn::call("look", json!({ "n": number }))
        }
    })
    .unwrap();
    for (budget, stop, looked) in [
        (Budget { turns: Some(3), ..Budget::default() }, StopReason::Turns, 3),
        (Budget { calls: Some(2), ..Budget::default() }, StopReason::Calls, 2),
    ] {
        let before = oracle.count("look");
        let agent = agent(settings(&model, ModelApi::OpenAiChat), crib(&oracle), budget);
        let (pause, _) = go(&mut run(&agent, "Look.")).await;
        let end = ended(pause);
        assert_eq!((end.stop, end.text.as_str()), (stop, "This is what I have."));
        assert_eq!(oracle.count("look") - before, looked);
    }
}

#[tokio::test]
async fn calls_beyond_the_budget_are_answered_and_not_run() {
    let oracle = Oracle::default();
    let many: Vec<_> = (0..500).map(|n| ("look".to_owned(), json!({ "n": n }))).collect();
    let model = scripted([ScriptedTurn::Calls(String::new(), many)]);
    let budget = Budget { calls: Some(5), ..Budget::default() };
    let agent = agent(settings(&model, ModelApi::OpenAiChat), crib(&oracle), budget);
    let (pause, _) = go(&mut run(&agent, "Look at all.")).await;
    assert_eq!(ended(pause).stop, StopReason::Calls);
    assert_eq!(oracle.count("look"), 5);
    let messages = model.asked()[1].body["messages"].clone();
    let answered =
        messages.as_array().unwrap().iter().filter(|message| message["role"] == "tool").count();
    assert_eq!(answered, 500);
}

#[tokio::test]
async fn a_call_that_gives_the_same_again_and_again_is_answered_and_not_run() {
    let oracle = Oracle::default();
    let model = scripted((0..6).map(|_| ScriptedTurn::call("look", json!({ "n": 1 }))));
    let agent = agent(settings(&model, ModelApi::OpenAiChat), crib(&oracle), Budget::default());
    let (pause, _) = go(&mut run(&agent, "Look.")).await;
    assert_eq!(ended(pause).stop, StopReason::Done);
    assert_eq!(oracle.count("look"), 3);
    let last = model.asked().pop().unwrap().body.to_string();
    assert!(last.contains("was made 3 times and gave the same each time"), "{last}");
}

#[tokio::test]
async fn a_model_that_fails_after_a_tool_ran_has_it_run_once() {
    let oracle = Oracle::default();
    let broken = || ScriptedTurn::Refuses(500, Vec::new(), String::new());
    let model = scripted([
        ScriptedTurn::call("write", json!({ "n": 1 })),
        broken(),
        broken(),
        ScriptedTurn::says("Written."),
    ]);
    let agent = agent(settings(&model, ModelApi::OpenAiChat), crib(&oracle), Budget::default());
    let (pause, _) = go(&mut run(&agent, "Write.")).await;
    assert_eq!(ended(pause).text, "Written.");
    assert_eq!(oracle.count("write"), 1);
}

#[tokio::test]
async fn ours_run_first_and_the_caller_is_left_with_its_own_calls() {
    let oracle = Oracle::default();
    let calls = ["look", "theirs"].map(|name| (name.to_owned(), json!({ "n": 1 })));
    let model = scripted([
        ScriptedTurn::Calls(String::new(), calls.to_vec()),
        ScriptedTurn::says("Both done."),
    ]);
    let agent = agent(settings(&model, ModelApi::OpenAiChat), crib(&oracle), Budget::default());
    let theirs = CallerTool {
        name: "theirs".to_owned(),
        description: "Of the caller.".to_owned(),
        parameters: json!({ "type": "object" }),
    };
    let thread = vec![ThreadItem::user("Do both.")];
    let tools = vec![theirs.clone()];
    let order = RunOrder { thread, caller_tools: tools, ..order(&agent, "") };
    let mut first = AgentRun::new(order);
    let end = ended(go(&mut first).await.0);
    assert_eq!(end.stop, StopReason::CallerCalls);
    assert_eq!(end.calls.iter().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["theirs"]);
    assert_eq!(oracle.count("look"), 1);
    let mut thread = first.items().to_vec();
    thread.push(ThreadItem::Results {
        results: vec![toolcrib_agent::ResultText {
            call_id: end.calls[0].id.clone(),
            name: "theirs".to_owned(),
            text: "done by me".to_owned(),
            is_error: false,
        }],
        echo: None,
    });
    let order =
        RunOrder { thread, caller_tools: vec![theirs], ..crate::fixture::order(&agent, "") };
    let mut second = AgentRun::new(order);
    assert_eq!(ended(go(&mut second).await.0).text, "Both done.");
    let told = model.asked()[1].body["messages"].clone();
    let answers = told.as_array().unwrap().iter().filter(|message| message["role"] == "tool");
    assert_eq!(answers.count(), 2, "{told}");
}

#[tokio::test]
async fn a_thread_from_elsewhere_with_orphans_is_healed() {
    let oracle = Oracle::default();
    for (name, api) in ModelApi::WORDS {
        let model = scripted([ScriptedTurn::says("Fine.")]);
        let agent = agent(settings(&model, api), crib(&oracle), Budget::default());
        let call = |id: &str| toolcrib_agent::CallText {
            id: id.to_owned(),
            name: "look".to_owned(),
            arguments: "{}".to_owned(),
        };
        let result = |id: &str| toolcrib_agent::ResultText {
            call_id: id.to_owned(),
            name: "look".to_owned(),
            text: "seen".to_owned(),
            is_error: false,
        };
        let thread = vec![
            ThreadItem::user("Look."),
            ThreadItem::Assistant {
                text: String::new(),
                calls: vec![call("a"), call("b")],
                echo: None,
            },
            ThreadItem::Results { results: vec![result("a"), result("nobody's")], echo: None },
            ThreadItem::user("And?"),
        ];
        let mut run = AgentRun::new(RunOrder { thread, ..order(&agent, "") });
        assert_eq!(ended(go(&mut run).await.0).text, "Fine.", "{name}");
        let body = model.asked()[0].body.to_string();
        assert!(body.contains("no result of this call is known"), "{name}: {body}");
        assert!(!body.contains("nobody's"), "{name}: {body}");
    }
}
