//! Questions of running calls that wait for a person under a ticket.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolcrib_core::{
    AllowAll, BatchOptions, Call, CallFlag, Caller, Content, CribLimits, Decision, Effect, Ending,
    FormFallback, HostQuestion, ParkedCall, PendingTicket, PlanRequest, QuestionKind, RawArguments,
    Response, Run, TicketError, TicketId, Tool, ToolOutcome, Toolset, raw_tool,
};
use toolcrib_engine::Crib;
use toolcrib_engine::ledger::MemoryLedger;
use toolcrib_testkit::{Oracle, spec};

use crate::tickets::alice;

fn form() -> Value {
    json!({
        "message": "Who\u{200b} comes?",
        "requestedSchema": {
            "type": "object",
            "properties": { "name": { "type": "string" }, "guests": { "type": "integer" } },
            "required": ["name"],
        },
    })
}

/// Asks as often as it is told, and says what it heard.
fn asking(name: &str, effect: Effect) -> Arc<dyn Tool> {
    raw_tool(spec(name, effect), |arguments, context| async move {
        let times = arguments.fields().get("times").and_then(Value::as_u64).unwrap_or(1);
        let mut heard = Vec::new();
        for _ in 0..times {
            let answer = context.ask(HostQuestion::new(QuestionKind::Form, form())).await;
            heard.push(answer.unwrap_or_else(|why| json!(why.to_string())));
        }
        ToolOutcome::Done(Content::json(json!(heard)))
    })
}

fn crib_with(ledger: &Arc<MemoryLedger>, limits: CribLimits) -> Crib {
    let tools = [asking("ask", Effect::Write), asking("look", Effect::Read)];
    let tools = tools.into_iter().chain([Oracle::default().echo("echo", Effect::Write)]);
    let builder = Crib::builder().policy(AllowAll).ledger(ledger.clone()).limits(limits);
    builder.build_fixed(Toolset::of(tools).unwrap())
}

fn crib() -> (Crib, Arc<MemoryLedger>) {
    let ledger = Arc::<MemoryLedger>::default();
    (crib_with(&ledger, CribLimits::default()), ledger)
}

async fn run(
    crib: &Crib,
    caller: &Caller,
    calls: Vec<Call>,
    options: BatchOptions,
) -> Vec<Response> {
    let plan = crib.plan(caller, PlanRequest::default()).unwrap();
    crib.run_with(&plan, calls, options).await.responses
}

async fn ask(crib: &Crib, caller: &Caller, arguments: Value) -> Response {
    let call = Call::new("1", "ask", RawArguments::Value(arguments));
    run(crib, caller, vec![call], BatchOptions::default()).await.remove(0)
}

fn waits(response: &Response) -> PendingTicket {
    let ToolOutcome::Pending(pending) = &response.outcome else { panic!("{response:?}") };
    pending.clone()
}

fn answer(content: Value) -> Decision {
    Decision::Answer { content }
}

fn bob() -> Decision {
    answer(json!({ "name": "Bob" }))
}

async fn decide(
    crib: &Crib,
    caller: &Caller,
    ticket: &TicketId,
    decision: Decision,
) -> Result<Response, TicketError> {
    crib.decide(caller, &Run::default(), ticket, decision).await
}

#[tokio::test]
async fn a_question_that_no_host_can_answer_waits_for_a_person_and_the_call_goes_on() {
    let (crib, ledger) = crib();
    let response = ask(&crib, &alice(), json!({})).await;
    let pending = waits(&response);
    let shown =
        json!({ "message": "Who\\u{200b} comes?", "requestedSchema": form()["requestedSchema"] });
    assert_eq!(pending.question.as_deref(), Some(&shown));
    assert!(response.text().starts_with("Waiting for an answer of the user: "), "{response:?}");
    let open = crib.tickets(&alice()).await.unwrap();
    let ParkedCall { ticket, tool, question, reason, .. } = &open[0];
    assert_eq!((ticket, tool.as_str(), question), (&pending.ticket, "ask", &pending.question));
    assert!(reason.ends_with(" asks \"Who\\u{200b} comes?\""), "{reason}");
    assert_eq!(ledger.rows()[0].ending, None, "it has no end yet");
    // An answer that does not fit uses nothing up.
    for (unfit, why) in [
        (answer(json!({})), "name"),
        (answer(json!({ "name": "Bob", "gests": 1 })), "`gests`"),
        (answer(json!(["Bob"])), "JSON object"),
        (Decision::Approve, "name"),
    ] {
        let refused = decide(&crib, &alice(), &pending.ticket, unfit).await.err();
        let Some(TicketError::Unfit(told)) = &refused else { panic!("{refused:?}") };
        assert!(told.contains(why) && told.contains("content("), "{told}");
    }
    let content = answer(json!({ "name": "Bob", "guests": "2" }));
    let done = decide(&crib, &alice(), &pending.ticket, content).await.unwrap();
    let heard = json!([{ "action": "accept", "content": { "name": "Bob", "guests": 2 } }]);
    assert_eq!((done.id.as_str(), done.text()), ("1", heard.to_string()));
    assert_eq!(done.debug.key, response.debug.key, "it is one call");
    assert_eq!((ledger.rows().len(), ledger.rows()[0].ending), (1, Some(Ending::Succeeded)));
    assert_eq!(crib.tickets(&alice()).await.unwrap(), []);
    let again = decide(&crib, &alice(), &pending.ticket, bob()).await;
    assert_eq!(again.err(), Some(TicketError::Used));
    let told = crib.redeemed(&alice(), &pending.ticket, Duration::ZERO).await.unwrap().unwrap();
    assert_eq!((told.text(), told.debug.flags), (heard.to_string(), vec![CallFlag::Replayed]));
}

#[tokio::test]
async fn a_model_is_told_whether_a_call_that_was_answered_has_ended_or_asks_again() {
    let (crib, _) = crib();
    let first = waits(&ask(&crib, &alice(), json!({ "times": 2 })).await).ticket;
    let again = decide(&crib, &alice(), &first, bob()).await.unwrap();
    let told = "The call of `ask` (1) that waited for a person goes on, and waits again:\n\n";
    assert!(again.late_text().starts_with(told), "{}", again.late_text());
    let done = decide(&crib, &alice(), &waits(&again).ticket, bob()).await.unwrap();
    let told =
        format!("The call of `ask` (1) that waited for a person has ended:\n\n{}", done.text());
    assert_eq!(done.late_text(), told);
}

#[tokio::test]
async fn of_any_number_of_answers_at_once_one_counts() {
    let (crib, _) = crib();
    let ticket = waits(&ask(&crib, &alice(), json!({})).await).ticket;
    let answers = (0..64).map(|n| {
        let (crib, ticket) = (crib.clone(), ticket.clone());
        tokio::spawn(async move {
            let content = json!({ "name": format!("guest {n}") });
            (n, decide(&crib, &alice(), &ticket, answer(content)).await)
        })
    });
    let ended = join_all(answers).await.into_iter().map(Result::unwrap);
    let (done, refused): (Vec<_>, Vec<_>) = ended.partition(|(_, decided)| decided.is_ok());
    let (n, response) = &done[0];
    assert!(response.as_ref().unwrap().text().contains(&format!("guest {n}")), "{response:?}");
    let used = refused.iter().filter(|(_, ended)| ended.as_ref().err() == Some(&TicketError::Used));
    assert_eq!((done.len(), used.count()), (1, 63));
}

#[tokio::test]
async fn a_person_may_decline_and_the_call_hears_it() {
    let (crib, ledger) = crib();
    let ticket = waits(&ask(&crib, &alice(), json!({})).await).ticket;
    let no = Decision::Deny { reason: "no".into() };
    let told = decide(&crib, &alice(), &ticket, no).await.unwrap();
    assert_eq!(told.text(), json!([{ "action": "decline" }]).to_string());
    assert_eq!(ledger.rows()[0].ending, Some(Ending::Succeeded));
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_call_stands_still_while_a_person_is_asked_and_a_ticket_expires() {
    let (crib, ledger) = crib();
    let limits = CribLimits::default();
    assert!(limits.timeout * 5 < limits.ticket_lifetime);
    let ticket = waits(&ask(&crib, &alice(), json!({ "times": 2 })).await).ticket;
    tokio::time::sleep(limits.timeout * 5).await;
    let second = decide(&crib, &alice(), &ticket, bob()).await.unwrap();
    let second = waits(&second).ticket;
    assert_ne!(second, ticket);
    tokio::time::sleep(limits.ticket_lifetime + Duration::from_secs(1)).await;
    assert_eq!(ledger.rows()[0].ending, Some(Ending::Succeeded));
    let late = decide(&crib, &alice(), &second, bob()).await;
    assert_eq!(late.err(), Some(TicketError::Expired));
    // Who asks by either ticket is told how it ended.
    for ticket in [ticket, second] {
        let told = crib.redeemed(&alice(), &ticket, Duration::ZERO).await.unwrap().unwrap();
        assert!(told.text().contains("Bob") && told.text().contains("nobody answered in time"));
    }
}

#[tokio::test]
async fn nobody_else_finds_or_answers_it() {
    let (crib, _) = crib();
    let ticket = waits(&ask(&crib, &alice(), json!({})).await).ticket;
    for other in [Caller::new("acme", "bob"), Caller::new("other", "alice")] {
        assert_eq!(crib.tickets(&other).await.unwrap(), []);
        let refused = decide(&crib, &other, &ticket, bob()).await;
        assert_eq!(refused.err(), Some(TicketError::Unknown));
    }
    let elsewhere = decide(&crib.for_profile("careful"), &alice(), &ticket, bob()).await;
    assert_eq!(elsewhere.err(), Some(TicketError::Unknown));
    // Whoever runs the crib sees whose it is, in a list of all.
    assert_eq!(crib.owner(&ticket).await.unwrap(), Some(alice()));
    let all = crib.open_tickets(None, 0, 10).await.unwrap();
    assert_eq!((all.tickets[0].ticket.clone(), all.next), (ticket.clone(), None));
    assert!(decide(&crib, &alice(), &ticket, bob()).await.is_ok());
}

#[tokio::test]
async fn a_call_under_a_key_tells_what_it_asks_and_then_its_end() {
    let (crib, _) = crib();
    let under_key = async || {
        let call = Call::new("1", "ask", RawArguments::Value(json!({ "times": 2 })));
        let call = Call { key: Some("k".to_owned()), ..call };
        run(&crib, &alice(), vec![call], BatchOptions::default()).await.remove(0)
    };
    let first = waits(&under_key().await);
    assert_eq!(waits(&under_key().await), first);
    let second = waits(&decide(&crib, &alice(), &first.ticket, bob()).await.unwrap());
    assert_eq!(waits(&under_key().await), second);
    let of_first = crib.redeemed(&alice(), &first.ticket, Duration::ZERO).await.unwrap().unwrap();
    assert_eq!(waits(&of_first), second);
    let done = decide(&crib, &alice(), &second.ticket, bob()).await.unwrap();
    let told = under_key().await;
    assert_eq!((told.text(), told.debug.flags[0]), (done.text(), CallFlag::Replayed));
}

#[tokio::test]
async fn as_many_questions_wait_as_may_wait_of_one_tenant_and_of_all() {
    let limits = CribLimits { questions: 4, questions_per_tenant: 3, ..CribLimits::default() };
    let crib = crib_with(&Arc::default(), limits);
    let asked = async |caller: &Caller| ask(&crib, caller, json!({})).await;
    let mut theirs = Vec::new();
    for _ in 0..3 {
        theirs.push(waits(&asked(&alice()).await).ticket);
    }
    assert!(asked(&alice()).await.text().contains("nobody can be asked"));
    let other = Caller::new("other", "bob");
    waits(&asked(&other).await);
    assert!(asked(&other).await.text().contains("nobody can be asked"));
    // What is answered makes room.
    decide(&crib, &alice(), &theirs[0], bob()).await.unwrap();
    waits(&asked(&other).await);
}

#[tokio::test]
async fn questions_are_bounded_and_what_is_beyond_is_put_away() {
    let (usual, _) = crib();
    for n in 0..40 {
        let waits = ask(&usual, &alice(), json!({})).await.outcome.as_str() == "pending";
        assert_eq!(waits, n < 32);
    }
    let limits = CribLimits { per_source: 100, per_tenant: 8, ..CribLimits::default() };
    let crib = crib_with(&Arc::default(), limits);
    let asked = async |caller: &Caller| ask(&crib, caller, json!({})).await;
    let mut tickets = Vec::new();
    for _ in 0..4 {
        tickets.push(waits(&asked(&alice()).await).ticket);
    }
    // Half of what a tenant may run is left to its other calls.
    let bob_of_acme = Caller::new("acme", "bob");
    assert!(asked(&bob_of_acme).await.text().contains("nobody can be asked"));
    assert!(!waits(&asked(&Caller::new("other", "bob")).await).reason.is_empty());
    decide(&crib, &alice(), &tickets[0], bob()).await.unwrap();
    assert!(!waits(&asked(&bob_of_acme).await).reason.is_empty());
}

#[tokio::test]
async fn pages_of_tickets_hold_questions_after_calls_that_wait_to_run() {
    let oracle = Oracle::default();
    let tools = [asking("ask", Effect::Write), oracle.echo("wipe", Effect::Destroy)];
    let crib = Crib::builder().build_fixed(Toolset::of(tools).unwrap());
    let mut tickets: Vec<_> = Vec::new();
    for name in ["ask", "wipe", "ask", "wipe"] {
        let call = Call::new("1", name, RawArguments::Value(json!({})));
        let responses = run(&crib, &alice(), vec![call], BatchOptions::default()).await;
        tickets.push(waits(&responses[0]).ticket);
    }
    let tickets = [1, 3, 0, 2].map(|at| tickets[at].clone());
    for limit in 1..=5 {
        let (mut seen, mut after) = (Vec::new(), Some(0));
        while let Some(from) = after {
            let page = crib.open_tickets(Some(&alice()), from, limit).await.unwrap();
            assert!(page.tickets.len() <= limit);
            seen.extend(page.tickets.into_iter().map(|parked| parked.ticket));
            after = page.next;
        }
        assert_eq!(seen, tickets, "pages of {limit}");
    }
    let wrong = decide(&crib, &alice(), &tickets[0], bob()).await;
    assert_eq!(wrong.err(), Some(TicketError::NoQuestion));
    assert!(
        decide(&crib, &alice(), &tickets[0], Decision::Approve).await.unwrap().outcome.is_done()
    );
}

#[tokio::test]
async fn those_behind_a_call_that_asks_do_not_wait_for_a_person() {
    let (crib, _) = crib();
    let calls = ["ask", "echo"].map(|name| Call::new(name, name, RawArguments::Absent)).to_vec();
    let responses = run(&crib, &alice(), calls, BatchOptions::default()).await;
    let outcomes: Vec<_> = responses.iter().map(|response| response.outcome.as_str()).collect();
    assert_eq!(outcomes, ["pending", "done"]);
}

#[tokio::test]
async fn a_host_that_was_answered_cancels_nothing_any_more() {
    for name in ["ask", "look"] {
        let (crib, _) = crib();
        let cancel = CancellationToken::new();
        let options = BatchOptions { cancel: cancel.clone(), ..BatchOptions::default() };
        let call = Call::new("1", name, RawArguments::Absent);
        let ticket = waits(&run(&crib, &alice(), vec![call], options).await[0]).ticket;
        cancel.cancel();
        tokio::task::yield_now().await;
        let done = decide(&crib, &alice(), &ticket, bob()).await.unwrap();
        assert!(done.text().contains("Bob"), "{done:?}");
    }
}

#[tokio::test]
async fn where_nobody_looks_at_tickets_a_question_is_put_away() {
    let (crib, _) = crib();
    let options = BatchOptions { unheard: FormFallback::PutAway, ..BatchOptions::default() };
    let call = Call::new("1", "ask", RawArguments::Absent);
    let told = run(&crib, &alice(), vec![call], options).await.remove(0);
    assert_eq!(told.text(), json!(["nobody can be asked"]).to_string());
    assert_eq!(crib.tickets(&alice()).await.unwrap(), []);
}
