//! What an observer sees of the requests that sources send for a call.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_core::{
    AllowAll, BatchOptions, BoxFuture, Call, CallContext, CallDecided, CallFinished, Content,
    CribLimits, Effect, ErrorKind, LedgerError, Observer, OutboundFinished, PlanRequest,
    RawArguments, Tool, ToolError, ToolOutcome, Toolset, Trace, raw_tool,
};
use toolcrib_engine::Crib;
use toolcrib_testkit::spec;

use crate::tickets::alice;

const NAME: &str = "tools/call there";

/// Writes down what it sees.
#[derive(Default)]
struct Seen {
    /// Attempt, name, notes and error, and the place.
    outbound_requests: Mutex<Vec<(String, Trace)>>,
    calls: Mutex<Vec<Trace>>,
}

impl Observer for Seen {
    fn decided<'a>(&'a self, _: CallDecided<'a>) -> BoxFuture<'a, Result<(), LedgerError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn ended(&self, call: CallFinished<'_>) {
        self.calls.lock().unwrap().extend(call.trace);
    }

    fn returned(&self, outbound: OutboundFinished<'_>) {
        let OutboundFinished { source, attempt, name, notes, error, trace, .. } = outbound;
        let line = format!("{source} {attempt}: {name} {notes:?} {error:?}");
        self.outbound_requests.lock().unwrap().push((line, trace));
        // An observer with a bug costs no call.
        assert_ne!(error, Some("breaks the observer"));
    }
}

impl Seen {
    /// What was seen of the requests of the one call since the last look, all of which are its own.
    fn take(&self) -> Vec<String> {
        let calls = std::mem::take(&mut *self.calls.lock().unwrap());
        let outbound_requests = std::mem::take(&mut *self.outbound_requests.lock().unwrap());
        for (_, trace) in &outbound_requests {
            assert_eq!(trace.parent_id(), Some(calls[0].span_id()));
            assert_eq!(trace.trace_id(), calls[0].trace_id());
        }
        outbound_requests.into_iter().map(|(line, _)| line).collect()
    }
}

/// Asks somebody else, who does as the arguments say.
async fn there(how: &Value, context: &CallContext) -> ToolOutcome {
    let mut outbound = context.outbound_span(|| NAME.to_owned());
    outbound.notes(|| [("server.port", json!(80))]);
    let place = json!([outbound.trace(), context.trace()].map(|it| it.map(|it| it.to_string())));
    if how == "hangs" {
        std::future::pending::<()>().await;
    }
    if how == "fails first" && context.attempt() == 1 {
        outbound.ends(|| Some("network".into()));
        return ToolOutcome::Failed(ToolError::new(ErrorKind::Network, "the line broke"));
    }
    if let Some(error) = how.as_str().filter(|error| error.contains("breaks")) {
        outbound.ends(|| Some(error.to_owned().into()));
    } else {
        outbound.notes(|| [("late", json!(true))]);
        outbound.ends(|| None);
    }
    ToolOutcome::Done(Content::text(place.to_string()))
}

fn tool(name: &str, effect: Effect) -> Arc<dyn Tool> {
    raw_tool(spec(name, effect), |arguments, context| async move {
        there(arguments.fields().get("how").unwrap_or(&Value::Null), &context).await
    })
}

fn crib(observer: Option<Arc<dyn Observer>>) -> Crib {
    let limits = CribLimits {
        timeout: Duration::from_millis(200),
        late: Duration::from_millis(300),
        grace: Duration::from_millis(20),
        backoff: Duration::from_millis(1),
        ..CribLimits::default()
    };
    let builder = crate::builder().policy(AllowAll).limits(limits);
    let builder = match observer {
        Some(observer) => builder.observer(observer),
        None => builder,
    };
    let tools = [tool("read", Effect::Read), tool("write", Effect::Write)];
    builder.build_fixed(Toolset::of(tools).unwrap())
}

fn watched() -> (Crib, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let observer: Arc<dyn Observer> = Arc::<Seen>::clone(&seen);
    (crib(Some(observer)), seen)
}

/// Calls a tool, and gives what it said.
async fn call(crib: &Crib, (tool, how): (&str, &str), options: BatchOptions) -> String {
    let plan = crib.plan(&alice(), PlanRequest::default()).unwrap();
    let call = Call::new("1", tool, RawArguments::Value(json!({ "how": how })));
    let mut report = crib.run_with(&plan, vec![call], options).await;
    report.responses.remove(0).text()
}

fn traced() -> BatchOptions {
    BatchOptions { trace: Some(Trace::root()), ..BatchOptions::default() }
}

#[tokio::test]
async fn the_other_side_is_told_the_place_of_the_request_and_not_of_the_call() {
    let (crib, seen) = watched();
    let said = call(&crib, ("read", "works"), traced()).await;
    let told = seen.outbound_requests.lock().unwrap()[0].1;
    let of_call = seen.calls.lock().unwrap()[0];
    assert_eq!(said, json!([told.to_string(), of_call.to_string()]).to_string());
    let line =
        r#"code 1: tools/call there [("server.port", Number(80)), ("late", Bool(true))] None"#;
    assert_eq!(seen.take(), [line]);
}

#[tokio::test]
async fn each_attempt_of_a_call_has_a_request_of_its_own() {
    let (crib, seen) = watched();
    call(&crib, ("read", "fails first"), traced()).await;
    let lines = [
        r#"code 1: tools/call there [("server.port", Number(80))] Some("network")"#,
        r#"code 2: tools/call there [("server.port", Number(80)), ("late", Bool(true))] None"#,
    ];
    assert_eq!(seen.take(), lines);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_given_up_says_why() {
    let (crib, seen) = watched();
    let line = |error: &str| {
        format!(r#"code 1: tools/call there [("server.port", Number(80))] Some("{error}")"#)
    };
    call(&crib, ("read", "hangs"), traced()).await;
    assert_eq!(seen.take(), [line("timeout")]);
    let options = traced();
    let cancel = options.cancel.clone();
    tokio::join!(call(&crib, ("read", "hangs"), options), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    });
    assert_eq!(seen.take(), [line("cancelled")]);
    // What may have changed something is listened to after the end of its call.
    call(&crib, ("write", "hangs"), traced()).await;
    assert_eq!(seen.outbound_requests.lock().unwrap().len(), 0);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(seen.take(), [line("timeout")]);
}

#[tokio::test]
async fn an_observer_that_breaks_over_a_request_costs_no_call() {
    let (crib, seen) = watched();
    let said = call(&crib, ("read", "breaks the observer"), traced()).await;
    assert!(said.starts_with("[\"00-"), "{said}");
    assert_eq!(seen.take().len(), 1);
}

#[tokio::test]
async fn of_a_request_that_nobody_records_nothing_is_asked() {
    let asked = |context: CallContext| async move {
        let unwanted = || -> String { panic!("nobody wants to know") };
        let mut outbound = context.outbound_span(unwanted);
        outbound.notes(|| [("x", Value::from(unwanted()))]);
        let place = [outbound.trace(), context.trace()].map(|it| it.map(|it| it.to_string()));
        outbound.ends(|| Some(unwanted().into()));
        ToolOutcome::Done(Content::text(json!(place).to_string()))
    };
    let tool = raw_tool(spec("go", Effect::Read), move |_, context| asked(context));
    let tools = Toolset::of([tool]).unwrap();
    let seen = Arc::new(Seen::default());
    let observer: Arc<dyn Observer> = Arc::<Seen>::clone(&seen);
    let unseen = crate::builder().build_fixed(tools.clone());
    let seeing = crate::builder().observer(observer).build_fixed(tools);
    let unsampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
    for (crib, trace) in [
        (&unseen, Some(Trace::root())),
        (&seeing, Trace::parse(unsampled)),
        (&seeing, Some(Trace::of_ours())),
        (&seeing, None),
    ] {
        let options = BatchOptions { trace, ..BatchOptions::default() };
        let said = call(crib, ("go", ""), options).await;
        let places: Vec<Option<String>> = serde_json::from_str(&said).unwrap();
        assert_eq!(places[0], places[1]);
        let trace = trace.filter(|trace| trace.goes_on());
        let id = |place: &String| place.get(3..35).map(str::to_owned);
        assert_eq!(places[0].as_ref().and_then(id), trace.map(Trace::trace_id));
    }
    assert_eq!(seen.outbound_requests.lock().unwrap().len(), 0);
}
