//! What every ledger does, whatever it writes to: one suite, run over each form.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;
use toolcrib_core::{
    Arguments, CallKey, Caller, Content, Effect, Ending, ErrorKind, Fingerprint, IdempotencyKey,
    KeyResult, KeyState, Ledger, ParkedCall, PlannedCall, SourceId, TicketError, TicketId,
    ToolName, ToolSpec, UncertainCall,
};

use toolcrib_testkit::spec;

/// How long an unknown end holds a call like it back.
const WINDOW: Duration = Duration::from_mins(1);

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_ledger_does_all_that_is_promised_of_it() {
    let ledger = crate::ledger();
    keys_are_begun_once_and_tell_their_end(&*ledger).await;
    a_ticket_is_claimed_once_and_by_its_caller_alone(&*ledger).await;
    open_tickets_are_listed_in_pages(&*ledger).await;
    a_result_is_kept_for_its_caller_alone(&*ledger).await;
    an_unknown_end_is_found_until_it_is_known(&*ledger).await;
    of_many_who_ask_at_once_one_begins(&ledger).await;
}

fn ann() -> Caller {
    Caller::new("acme", "ann")
}

fn ben() -> Caller {
    Caller::new("acme", "ben")
}

/// One that no other has.
fn ticket() -> TicketId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    TicketId::claimed(format!("t_suite_{}", NEXT.fetch_add(1, Ordering::Relaxed)))
}

fn key(name: &str) -> IdempotencyKey {
    IdempotencyKey {
        caller: ann(),
        tool: ToolName::sanitize("write"),
        source: Some(SourceId::new("here")),
        key: name.to_owned(),
    }
}

async fn keys_are_begun_once_and_tell_their_end(ledger: &dyn Ledger) {
    let (first, other) = (Fingerprint::of(&json!(1)), Fingerprint::of(&json!(2)));
    let answered = key("answered");
    assert_eq!(ledger.recorded(&answered).await, Ok(KeyState::New));
    assert_eq!(ledger.begin(&answered, first).await, Ok(KeyState::New));
    assert_eq!(ledger.begin(&answered, first).await, Ok(KeyState::Running));
    assert_eq!(ledger.begin(&answered, other).await, Ok(KeyState::Conflict));
    ledger.settle(&answered, KeyResult::Answered(json!("done"))).await.unwrap();
    assert_eq!(ledger.begin(&answered, first).await, Ok(KeyState::Ended(json!("done"))));
    assert_eq!(ledger.begin(&answered, other).await, Ok(KeyState::Conflict));
    assert_eq!(ledger.recorded(&answered).await, Ok(KeyState::Ended(json!("done"))));

    let late = key("late");
    ledger.begin(&late, first).await.unwrap();
    ledger.settle(&late, KeyResult::Lost).await.unwrap();
    assert_eq!(ledger.begin(&late, first).await, Ok(KeyState::Unknown));
    ledger.settle(&late, KeyResult::Late(json!("after all"))).await.unwrap();
    assert_eq!(ledger.begin(&late, first).await, Ok(KeyState::Ended(json!("after all"))));

    let told = key("told");
    ledger.begin(&told, first).await.unwrap();
    let end = KeyResult::Told { now: json!("secret"), later: json!("kept back") };
    ledger.settle(&told, end).await.unwrap();
    assert_eq!(ledger.recorded(&told).await, Ok(KeyState::Ended(json!("secret"))));

    let free = key("free");
    ledger.begin(&free, first).await.unwrap();
    ledger.settle(&free, KeyResult::Free).await.unwrap();
    assert_eq!(ledger.begin(&free, other).await, Ok(KeyState::New));
}

async fn of_many_who_ask_at_once_one_begins(ledger: &Arc<dyn Ledger>) {
    let asking = (0..32).map(|_| {
        let ledger = Arc::clone(ledger);
        tokio::spawn(async move { ledger.begin(&key("many"), Fingerprint::of(&json!(1))).await })
    });
    let mut begun = 0;
    for asked in asking.collect::<Vec<_>>() {
        match asked.await.unwrap().unwrap() {
            KeyState::New => begun += 1,
            state @ (KeyState::Running
            | KeyState::Ended(_)
            | KeyState::Unknown
            | KeyState::Conflict) => assert_eq!(state, KeyState::Running),
        }
    }
    assert_eq!(begun, 1);
}

fn parked(caller: Caller, call: &str) -> ParkedCall {
    ParkedCall {
        ticket: ticket(),
        caller,
        tool: ToolName::sanitize("write"),
        source: SourceId::new("here"),
        fingerprint: Fingerprint::of(&json!(1)),
        arguments: Arguments::new(serde_json::Map::from_iter([("a".to_owned(), json!(1))])),
        session: Some("s".into()),
        profile: None,
        key: None,
        mark: None,
        reason: "it writes".to_owned(),
        lifetime: WINDOW,
        call_id: call.to_owned(),
        wire: toolcrib_core::CallWire { name: "write".to_owned(), echo: serde_json::Map::new() },
        question: None,
    }
}

async fn a_ticket_is_claimed_once_and_by_its_caller_alone(ledger: &dyn Ledger) {
    let waiting = parked(ann(), "1");
    let (ann, ben) = (ann(), ben());
    ledger.park(waiting.clone()).await.unwrap();
    let open = ledger.ticket(&waiting.ticket, &ann).await.unwrap().unwrap();
    assert_eq!(shown(&open), shown(&waiting));
    assert_eq!(ledger.ticket(&waiting.ticket, &ben).await.unwrap().map(|_| ()), None);
    assert_eq!(ledger.owner(&waiting.ticket).await.unwrap(), Some(ann.clone()));
    let refused = ledger.claim(&waiting.ticket, &ben).await.map(|_| ()).unwrap_err();
    assert!(matches!(refused, TicketError::Unknown), "{refused}");
    let claimed = ledger.claim(&waiting.ticket, &ann).await.unwrap();
    assert_eq!(shown(&claimed), shown(&waiting));
    let refused = ledger.claim(&waiting.ticket, &ann).await.map(|_| ()).unwrap_err();
    assert!(matches!(refused, TicketError::Used), "{refused}");
    assert_eq!(ledger.parked(&ann).await.unwrap().len(), 0);
    // The key of the ticket was begun with it.
    let of_ticket = IdempotencyKey::of_ticket(&ann, &waiting.ticket);
    assert_eq!(ledger.recorded(&of_ticket).await, Ok(KeyState::Running));
    let unknown = ledger.claim(&ticket(), &ann).await.map(|_| ()).unwrap_err();
    assert!(matches!(unknown, TicketError::Unknown), "{unknown}");
}

/// All of a parked call but for the time that is left.
fn shown(parked: &ParkedCall) -> (String, String, serde_json::Value, String) {
    let ParkedCall { ticket, tool, arguments, reason, .. } = parked;
    (ticket.to_string(), tool.to_string(), arguments.clone().into_value(), reason.clone())
}

async fn open_tickets_are_listed_in_pages(ledger: &dyn Ledger) {
    let (ann, ben) = (ann(), ben());
    let mut made = Vec::new();
    for (number, caller) in [&ann, &ben, &ann, &ben, &ann].into_iter().enumerate() {
        let waiting = parked(caller.clone(), &number.to_string());
        made.push(waiting.ticket.clone());
        ledger.park(waiting).await.unwrap();
    }
    assert_eq!(ledger.waiting().await, Some(5));
    let of_ann: Vec<_> =
        ledger.parked(&ann).await.unwrap().into_iter().map(|open| open.ticket).collect();
    assert_eq!(of_ann, [&made[0], &made[2], &made[4]].map(Clone::clone));
    for (of, all) in [(None, made.clone()), (Some(&ann), of_ann)] {
        let (mut found, mut after) = (Vec::new(), 0);
        loop {
            let page = ledger.open_tickets(of, after, 2).await.unwrap();
            assert!(page.tickets.len() <= 2);
            found.extend(page.tickets.into_iter().map(|open| open.ticket));
            let Some(next) = page.next else { break };
            after = next;
        }
        assert_eq!(found, all);
    }
    for (ticket, number) in made.iter().zip(0..) {
        ledger.claim(ticket, if number % 2 == 0 { &ann } else { &ben }).await.unwrap();
    }
    assert_eq!(ledger.waiting().await, Some(0));
}

async fn a_result_is_kept_for_its_caller_alone(ledger: &dyn Ledger) {
    let (ann, ben) = (ann(), ben());
    assert!(!ledger.keeps_for(&ann));
    let content = Arc::new(Content::text("long ".repeat(100)));
    let handle = ledger.keep(&ann, Arc::clone(&content)).await.unwrap();
    assert!(ledger.keeps_for(&ann));
    assert!(!ledger.keeps_for(&ben));
    let kept = ledger.kept(&ann, &handle).await.unwrap();
    assert_eq!(kept.parts[0].in_words(), content.parts[0].in_words());
    assert!(ledger.kept(&ben, &handle).await.is_none());
}

async fn an_unknown_end_is_found_until_it_is_known(ledger: &dyn Ledger) {
    let tool: Arc<ToolSpec> = Arc::new(spec("write", Effect::Write));
    let caller = Arc::new(ann());
    let arguments = Arguments::new(serde_json::Map::new());
    let planned = |number: u64| PlannedCall {
        key: CallKey::parse(&format!("{number:032}-0")).unwrap(),
        call_id: "1",
        caller: &caller,
        tool: &tool,
        fingerprint: Fingerprint::of(&json!(1)),
        arguments: &arguments,
        keys: &[],
        decider: None,
    };
    let like = |number| ledger.unknown_like(planned(number), WINDOW);
    let ends = [Ending::Succeeded, Ending::Failed(ErrorKind::Tool), Ending::NotExecuted];
    for (number, ending) in (1..).zip(ends) {
        ledger.queued(planned(number)).await.unwrap();
        ledger.planned(planned(number)).await.unwrap();
        ledger.finished(planned(number).key, ending).await.unwrap();
        assert_eq!(like(99).await, Ok(None));
    }
    let lost = planned(7);
    ledger.planned(lost).await.unwrap();
    ledger.finished(lost.key, Ending::Unknown).await.unwrap();
    assert_eq!(like(99).await, Ok(Some(UncertainCall::new(lost.key.to_string(), &[]))));
    ledger.resolved(lost.key, Ending::NotExecuted).await.unwrap();
    assert_eq!(like(99).await, Ok(None));
    if ledger.supports_status() {
        assert!(ledger.status(&caller, &lost.key.to_string()).await.unwrap().is_some());
        assert!(ledger.status(&ben(), &lost.key.to_string()).await.unwrap().is_none());
    }
}
