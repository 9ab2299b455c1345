//! What a person is asked: what the call would do, in words, and only that is done.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use toolcrib_core::{
    Arguments, BoxFuture, Call, CallContext, Caller, Content, Decision, Effect, ErrorKind,
    PlanRequest, RawArguments, Run, TicketError, TicketId, Tool, ToolError, ToolName, ToolOutcome,
    ToolSpec, Toolset,
};
use toolcrib_engine::Crib;
use toolcrib_engine::discovery::{Approver, DiscoverySettings};

use crate::builder;
use crate::tickets::alice;

/// Deletes what stands on a board, and says what that is.
struct Wipe {
    spec: ToolSpec,
    board: Arc<Mutex<Option<String>>>,
}

impl Tool for Wipe {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn preview<'a>(
        &'a self,
        _arguments: &'a Arguments,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<Option<String>, ToolError>> {
        let board = self.board.lock().unwrap().clone();
        Box::pin(async move {
            match board.as_deref() {
                Some("panic") => panic!("the tool breaks"),
                Some(board) => Ok(Some(format!("Wipe *{board}* for {}", caller.tenant))),
                None => Err(ToolError::told("the board is empty")),
            }
        })
    }

    fn call<'a>(
        &'a self,
        _arguments: Arguments,
        _context: &'a CallContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        let wiped = self.board.lock().unwrap().take();
        let wiped = Content::text(wiped.unwrap_or_default());
        Box::pin(async move { ToolOutcome::Done(wiped) })
    }
}

fn crib(board: &str) -> (Crib, Arc<Mutex<Option<String>>>) {
    let board = Arc::new(Mutex::new(Some(board.to_owned())));
    let spec = ToolSpec::new("wipe", "Wipes the board.", Effect::Destroy).unwrap();
    let tool: Arc<dyn Tool> = Arc::new(Wipe { spec, board: Arc::clone(&board) });
    (builder().build_fixed(Toolset::of([tool]).unwrap()), board)
}

async fn call(crib: &Crib) -> ToolOutcome {
    let plan = crib.plan(&alice(), PlanRequest::default()).unwrap();
    let call = Call::new("1", "wipe", RawArguments::Value(json!({})));
    crib.run(&plan, vec![call]).await.responses[0].outcome.clone()
}

async fn approve(crib: &Crib, ticket: &TicketId) -> Result<String, TicketError> {
    let decided = crib.decide(&alice(), &Run::default(), ticket, Decision::Approve).await;
    decided.map(|response| response.text())
}

async fn asked(crib: &Crib) -> (TicketId, String) {
    let outcome = call(crib).await;
    let ToolOutcome::Pending(pending) = outcome else { panic!("{outcome:?}") };
    (pending.ticket, pending.reason)
}

#[tokio::test]
async fn a_person_is_asked_in_the_words_of_the_tool_and_why() {
    let (crib, board) = crib("plans\u{202e}\n and dates");
    let (ticket, reason) = asked(&crib).await;
    assert_eq!(reason, "Wipe *plans\\u{202e} and dates* for acme \u{2014} it may destroy data");
    let open = crib.tickets(&alice()).await.unwrap();
    assert_eq!(open.iter().map(|open| &open.reason).collect::<Vec<_>>(), [&reason]);
    assert_eq!(approve(&crib, &ticket).await.as_deref(), Ok("plans\u{202e}\n and dates"));
    assert_eq!(*board.lock().unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_model_reads_of_a_waiting_call_what_it_would_do_for_whom_and_until_when() {
    let (crib, board) = crib("plans");
    let asks = async |tool: &str| {
        let plan = crib.plan(&alice(), PlanRequest::default()).unwrap();
        let call = Call::new("2", tool, RawArguments::Value(json!({})));
        crib.run(&plan, vec![call]).await.responses.remove(0)
    };
    let showing = |confirm| DiscoverySettings { confirm, ..DiscoverySettings::default() };
    crib.set_discovery(showing(Approver::Model));
    let (ticket, reason) = asked(&crib).await;
    tokio::time::sleep(Duration::from_secs(90)).await;
    let line = format!(
        "- `{ticket}`: Wipe *plans* for acme \u{2014} it may destroy data\n  It is the call wipe({{}}) of \
         the source `code`, asked for by `alice` of the tenant `acme`; it expires in 8 min"
    );
    let listed = asks("get_pending").await;
    assert_eq!(listed.text(), line);
    let lifetime = 10 * 60 - 90;
    assert_eq!(
        listed.content().unwrap().structured.as_ref().unwrap()["pending"],
        json!([{
            "ticket": ticket, "tool": "wipe", "source": "code", "arguments": {}, "reason": reason,
            "tenant": "acme", "subject": "alice", "profile": null, "expires_in_seconds": lifetime,
        }])
    );
    // Who may not say yes is told what a person would decide about.
    let plan = crib.plan(&alice(), PlanRequest::default()).unwrap();
    crib.set_discovery(showing(Approver::Person));
    let call = Call::new("3", "execute_pending", RawArguments::Value(json!({})));
    let refused = crib.run(&plan, vec![call]).await.responses.remove(0);
    let what = format!("What waits:\n{line}. The call did not run.");
    assert!(refused.text().contains(&what), "{}", refused.text());
    crib.set_discovery(showing(Approver::Model));
    let cleared = asks("clear_pending").await.text();
    assert_eq!(cleared, format!("The call was taken back: it will not run.\n{line}"));
    assert_eq!(board.lock().unwrap().as_deref(), Some("plans"));
}

#[tokio::test]
async fn what_would_be_done_now_is_not_done_under_an_approval_of_something_else() {
    let (crib, board) = crib("plans");
    let (ticket, _) = asked(&crib).await;
    *board.lock().unwrap() = Some("plans of others".to_owned());
    let refused = approve(&crib, &ticket).await.unwrap_err();
    let now = "Wipe *plans of others* for acme".to_owned();
    let tool = ToolName::new("wipe").unwrap();
    assert_eq!(refused, TicketError::Otherwise { tool, now });
    assert_eq!(board.lock().unwrap().as_deref(), Some("plans of others"));
    assert_eq!(approve(&crib, &ticket).await.err(), Some(TicketError::Used));
    let (ticket, _) = asked(&crib).await;
    assert_eq!(approve(&crib, &ticket).await.as_deref(), Ok("plans of others"));
}

#[tokio::test]
async fn nobody_is_asked_about_what_cannot_be_done() {
    let (crib, board) = crib("plans");
    board.lock().unwrap().take();
    let ToolOutcome::Failed(error) = call(&crib).await else { panic!() };
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Tool, "the board is empty"));
    assert_eq!(crib.tickets(&alice()).await.unwrap().len(), 0);
}

#[tokio::test]
async fn a_tool_that_breaks_over_its_words_is_asked_about_by_its_name() {
    let (crib, _board) = crib("panic");
    let (_, reason) = asked(&crib).await;
    assert_eq!(reason, "it may destroy data");
}
