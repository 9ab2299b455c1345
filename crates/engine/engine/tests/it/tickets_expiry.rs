//! Parked calls and time, on a clock that a test can turn.

use std::time::Duration;

use serde_json::json;
use toolcrib_core::{CribLimits, Decision, Effect, Run, TicketError, Toolset};
use toolcrib_testkit::Oracle;

use crate::builder;
use crate::tickets::{alice, park};

#[tokio::test(start_paused = true)]
async fn an_expired_ticket_says_so_and_several_may_be_open() {
    let oracle = Oracle::default();
    let limits = CribLimits { ticket_lifetime: Duration::from_secs(5), ..CribLimits::default() };
    let tools = Toolset::of([oracle.echo("wipe", Effect::Destroy)]).unwrap();
    let crib = builder().limits(limits).build_fixed(tools);
    let (early, _) = park(&crib, &alice(), 1).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let (late, _) = park(&crib, &alice(), 2).await;
    assert_eq!(crib.tickets(&alice()).await.unwrap().len(), 2);
    tokio::time::sleep(Duration::from_secs(3)).await;
    let expired = crib.decide(&alice(), &Run::default(), &early, Decision::Approve).await;
    assert_eq!(expired.err(), Some(TicketError::Expired));
    assert!(crib.decide(&alice(), &Run::default(), &late, Decision::Approve).await.is_ok());
    assert_eq!(oracle.runs(), [("wipe".to_owned(), json!({"n": 2}))]);
}
