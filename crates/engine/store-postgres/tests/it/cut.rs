//! A connection that is cut or falls silent: whoever asked is told what is there, and only that.

use std::time::{Duration, Instant};

use serde_json::json;
use toolcrib_core::{
    Arguments, CallLedger as _, CallWire, Caller, Effect, Ending, Fingerprint, IdempotencyKey,
    KeyState, ParkedCall, RunLedger as _, SourceId, TicketError, TicketId, TicketLedger as _,
    ToolName,
};
use toolcrib_store::{CallFilter, Store, StoreOptions};

use crate::cluster::Cluster;
use crate::owned::{NewCall, planned, write_call};
use crate::proxy::{Proxy, Way};
use crate::runs::{new_run, run_step};

async fn opened(proxy: &Proxy) -> Store {
    let url = proxy.url("record");
    let store = toolcrib_store_postgres::open(&url, StoreOptions::default()).unwrap();
    // Old rows are looked for first, and that is confirmed too.
    store.flush().await.unwrap();
    store
}

/// Waits until the way was shut by what went through, and opens it again.
async fn reopen(proxy: &Proxy) {
    let until = Instant::now() + Duration::from_secs(30);
    while proxy.way() != Way::Shut {
        assert!(Instant::now() < until, "nothing was confirmed");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    proxy.set(Way::Open);
}

fn key(name: &str) -> IdempotencyKey {
    let tool = ToolName::new("pay").unwrap();
    IdempotencyKey { caller: Caller::local(), tool, source: None, key: name.to_owned() }
}

pub(crate) fn parked(ticket: &str) -> ParkedCall {
    ParkedCall {
        ticket: TicketId::claimed(ticket),
        caller: Caller::local(),
        tool: ToolName::new("pay").unwrap(),
        source: SourceId::new("bank"),
        fingerprint: Fingerprint::of(&json!("pay")),
        arguments: Arguments::new(serde_json::Map::new()),
        session: None,
        profile: None,
        key: None,
        mark: None,
        reason: "it pays".to_owned(),
        lifetime: Duration::from_hours(1),
        call_id: "1".to_owned(),
        wire: CallWire::default(),
        question: None,
    }
}

/// Does something whose confirmation is cut off, and opens the way again meanwhile.
async fn cut<T>(proxy: &Proxy, way: Way, asking: impl Future<Output = T>) -> T {
    proxy.set(way);
    let (answer, ()) = tokio::join!(asking, reopen(proxy));
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_confirmed_unheard_is_told_as_done_and_what_was_not_as_not_done() {
    let cluster = Cluster::start("cut");
    cluster.database("record");
    let proxy = Proxy::start(cluster.folder());
    let store = opened(&proxy).await;
    let arguments = Fingerprint::of(&json!({}));
    for (way, is_there) in [(Way::ShutAfterCommit, true), (Way::ShutBeforeCommit, false)] {
        let name = format!("{way:?}");
        // A call: it has a row if and only if its caller may go on.
        let call = NewCall::of(Effect::Write);
        let planned = cut(&proxy, way, call.plan(&store, &[])).await;
        assert_eq!(planned.is_ok(), is_there, "{way:?}: {planned:?}");
        let row = store.call_of_any(&call.key.to_string()).await.unwrap();
        assert_eq!(row.is_some(), is_there, "{way:?}: {row:?}");
        // A key: whoever comes next finds it taken or free.
        let begun = cut(&proxy, way, store.begin(&key(&name), arguments)).await;
        assert_eq!(begun.is_ok(), is_there, "{way:?}: {begun:?}");
        let next = if is_there { KeyState::Running } else { KeyState::New };
        assert_eq!(store.begin(&key(&name), arguments).await.unwrap(), next);
        // A call that waits for a person.
        let ticket = cut(&proxy, way, store.park(parked(&name))).await;
        assert_eq!(ticket.is_ok(), is_there, "{way:?}: {ticket:?}");
        let waits = store.parked(&Caller::local()).await.unwrap().len();
        assert_eq!(waits, usize::from(is_there), "{way:?}");
        // A ticket: of two who come with it one has it.
        if !is_there {
            store.park(parked(&name)).await.unwrap();
        }
        let ticket = TicketId::claimed(&*name);
        let claimed = cut(&proxy, way, store.claim(&ticket, &Caller::local())).await;
        assert_eq!(claimed.is_ok(), is_there, "{way:?}: {claimed:?}");
        let again = store.claim(&ticket, &Caller::local()).await;
        assert_eq!(matches!(again, Err(TicketError::Used)), is_there, "{way:?}: {again:?}");
        // A run and its next step.
        let created = cut(&proxy, way, store.create(new_run(&name, &name), run_step(0))).await;
        assert_eq!(created.is_ok(), is_there, "{way:?}: {created:?}");
        assert_eq!(store.load(&name).await.unwrap().is_some(), is_there, "{way:?}");
        if !is_there {
            store.create(new_run(&name, &name), run_step(0)).await.unwrap();
        }
        let step = cut(&proxy, way, store.advance(&name, run_step(1))).await;
        assert_eq!(step.is_ok(), is_there, "{way:?}: {step:?}");
        let steps = store.load(&name).await.unwrap().unwrap().steps;
        assert_eq!(steps, 1 + u64::from(is_there), "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_goes_away_before_it_is_known_leaves_nothing_taken() {
    let cluster = Cluster::start("left");
    cluster.database("record");
    let proxy = Proxy::start(cluster.folder());
    let store = opened(&proxy).await;
    let arguments = Fingerprint::of(&json!({}));
    store.park(parked("t1")).await.unwrap();
    let asked = store.clone();
    let call = NewCall::of(Effect::Write);
    proxy.set(Way::ShutAfterCommit);
    let (ticket, local) = (TicketId::claimed("t1"), Caller::local());
    let mut all = tokio::task::JoinSet::new();
    let (claims, of) = (asked.clone(), ticket.clone());
    all.spawn(async move { drop(claims.claim(&of, &Caller::local()).await) });
    let begins = asked.clone();
    all.spawn(async move { drop(begins.begin(&key("left"), arguments).await) });
    all.spawn(async move { drop(call.plan(&asked, &[]).await) });
    let until = Instant::now() + Duration::from_secs(30);
    while proxy.way() != Way::Shut || store.works().is_ok() {
        assert!(Instant::now() < until, "nothing was confirmed");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    all.shutdown().await;
    proxy.set(Way::Open);
    while let Err(fault) = store.works() {
        assert!(Instant::now() < until, "{fault}: {fault:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    store.flush().await.unwrap();
    assert_eq!(store.begin(&key("left"), arguments).await.unwrap(), KeyState::New);
    store.claim(&ticket, &local).await.unwrap();
    let calls = store.calls(&local, CallFilter::default(), None, 10).await.unwrap().calls;
    let open: Vec<_> = calls.iter().filter(|call| call.ending.is_none()).collect();
    assert!(open.is_empty(), "{open:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_falls_silent_is_told_in_time_and_goes_on_when_it_speaks_again() {
    let cluster = Cluster::start("silent");
    cluster.database("record");
    let proxy = Proxy::start(cluster.folder());
    let store = opened(&proxy).await;
    let before = write_call(&store, Effect::Write, &[]).await;
    proxy.set(Way::Silent);
    let (_, refused) = planned(&store).await;
    let refused = std::error::Error::source(&refused.unwrap_err()).unwrap().to_string();
    assert!(refused.contains(" does not answer in time: look at its database"), "{refused}");
    let reading = store.endings(vec![before.to_string()]).await.unwrap_err().to_string();
    assert!(reading.contains(" does not answer in time"), "{reading}");
    store.finished(before, Ending::Succeeded).await.unwrap_err();
    proxy.set(Way::Open);
    let until = Instant::now() + Duration::from_mins(1);
    while let Err(fault) = store.works() {
        assert!(Instant::now() < until, "{fault}: {fault:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let ends = store.endings(vec![before.to_string()]).await.unwrap();
    assert_eq!(ends.get(&before.to_string()), Some(&Ending::Succeeded));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ticket_that_is_claimed_anew_in_an_unheard_group_is_not_opened_again() {
    let cluster = Cluster::start("anew");
    cluster.database("record");
    let proxy = Proxy::start(cluster.folder());
    let store = opened(&proxy).await;
    store.park(parked("t1")).await.unwrap();
    let (ticket, local) = (TicketId::claimed("t1"), Caller::local());
    proxy.set(Way::ShutAfterCommit);
    let (asked, of) = (store.clone(), ticket.clone());
    let first = tokio::spawn(async move { drop(asked.claim(&of, &Caller::local()).await) });
    let until = Instant::now() + Duration::from_secs(30);
    while proxy.way() != Way::Shut || store.works().is_ok() {
        assert!(Instant::now() < until, "nothing was confirmed");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Nobody hears of the first claim, and so the next group gives the ticket back.
    first.abort();
    first.await.unwrap_err();
    proxy.set(Way::Open);
    while let Err(fault) = store.works() {
        assert!(Instant::now() < until, "{fault}: {fault:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    cut(&proxy, Way::ShutAfterCommit, store.claim(&ticket, &local)).await.unwrap();
    store.flush().await.unwrap();
    let again = store.claim(&ticket, &local).await;
    assert!(matches!(again, Err(TicketError::Used)), "{again:?}");
}
