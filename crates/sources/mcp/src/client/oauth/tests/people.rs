//! Calls that need a person.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::sleep;
use toolcrib_core::{
    AllowAll, BatchOptions, BoxFuture, Call, CallKey, Caller, Effect, ErrorKind, Host,
    HostQuestion, PlanRequest, QuestionError, QuestionKind, ToolError, ToolOutcome, ToolSpec,
    Toolset, tool_with,
};
use toolcrib_engine::Crib;
use url::Url;

use super::World;
use super::resource::{browse, visit};
use crate::client::oauth::authorizer::Authorizer;
use crate::client::oauth::error::OAuthError;

/// A person at a browser.
#[derive(Default)]
pub(super) struct Person {
    action: &'static str,
    pub(super) asked: Mutex<Vec<Value>>,
    /// Sends something else to our listener first.
    mischief: bool,
    /// How long the log-in takes.
    takes: Duration,
}

impl Person {
    pub(super) fn slow(takes: Duration) -> Arc<Self> {
        Arc::new(Self { action: "accept", takes, ..Self::default() })
    }

    pub(super) fn who(action: &'static str) -> Arc<Self> {
        Arc::new(Self { action, ..Self::default() })
    }
}

impl Host for Person {
    fn answers(&self) -> &[QuestionKind] {
        &[QuestionKind::Address]
    }

    fn ask(&self, _: CallKey, ask: HostQuestion) -> BoxFuture<'_, Result<Value, QuestionError>> {
        let url = Url::parse(ask.params["url"].as_str().unwrap()).unwrap();
        self.asked.lock().unwrap().push(ask.params);
        Box::pin(async move {
            if self.mischief {
                disturb(&url).await;
            }
            if self.action == "accept" {
                let takes = self.takes;
                tokio::spawn(async move {
                    sleep(takes).await;
                    browse(url).await;
                });
            }
            Ok(json!({"action": self.action}))
        })
    }
}

/// Guesses at the state, opens lines that say nothing, asks for other things.
async fn disturb(url: &Url) {
    let redirect = url.query_pairs().find(|(name, _)| name == "redirect_uri").unwrap().1;
    let redirect = Url::parse(&redirect).unwrap();
    for query in ["code=evil&state=guess", "code=evil", "error=access_denied&state=x"] {
        let mut forged = redirect.clone();
        forged.set_query(Some(query));
        browse(forged).await;
    }
    browse(redirect.join("/favicon.ico").unwrap()).await;
    let port = redirect.port().unwrap();
    drop(TcpStream::connect(("127.0.0.1", port)).await.unwrap());
    let mut loud = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let _ = loud.write_all(&vec![b'x'; 100_000]).await;
}

/// A crib with one tool that calls the protected server on behalf of its caller.
fn crib(url: &Url, authorizer: &Authorizer) -> Crib {
    let spec = ToolSpec::new("visit", "Visits the server.", Effect::Read).unwrap();
    let (url, authorizer) = (url.clone(), authorizer.clone());
    let visit = tool_with(spec, move |(): (), context| {
        let (url, authorizer) = (url.clone(), authorizer.clone());
        async move {
            let _here = authorizer.attended_by(&context);
            let failed = |error: OAuthError| {
                let kind = if error.passes() { ErrorKind::Unavailable } else { ErrorKind::Tool };
                ToolError::new(kind, error.to_string())
            };
            visit(&url, &authorizer).await.map(u64::from).map_err(failed)
        }
    });
    Crib::builder().policy(AllowAll).build_fixed(Toolset::of([visit]).unwrap())
}

async fn call(crib: &Crib, caller: &Caller, person: &Arc<Person>) -> String {
    let plan = crib.plan(caller, PlanRequest::default()).unwrap();
    let options = BatchOptions { host: Some(person.clone()), ..BatchOptions::default() };
    let calls = vec![Call::new("1", "visit", json!({}).into())];
    let report = crib.run_with(&plan, calls, options).await;
    match &report.responses[0].outcome {
        ToolOutcome::Done(content) => {
            content.parts.iter().map(toolcrib_core::Part::in_words).collect()
        }
        ToolOutcome::Failed(error) => error.message.clone(),
        other @ (ToolOutcome::Denied { .. } | ToolOutcome::Pending(_)) => format!("{other:?}"),
    }
}

#[tokio::test]
async fn a_call_shows_its_person_where_to_log_in_and_goes_on() {
    let world = World::new().await;
    let anna = Caller::new("acme", "anna");
    let crib = crib(&world.resource.url, &world.vault().of(&anna));
    let person = Person::who("accept");

    assert_eq!(call(&crib, &anna, &person).await, "200");
    assert_eq!(call(&crib, &anna, &person).await, "200");

    let asked = person.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0]["mode"], "url");
    let url = asked[0]["url"].as_str().unwrap();
    assert!(url.starts_with(&format!("{}/authorize?", world.issuer.url)), "{url}");
}

#[tokio::test]
async fn a_person_who_declines_is_not_asked_twice_by_one_call() {
    let world = World::new().await;
    let crib = crib(&world.resource.url, &world.vault().of(&Caller::local()));
    for action in ["decline", "cancel"] {
        let person = Person::who(action);
        let told = call(&crib, &Caller::local(), &person).await;
        assert!(told.contains("did not let toolcrib in"), "{told}");
        assert_eq!(person.asked.lock().unwrap().len(), 1);
    }
    assert_eq!(world.issuer.asked.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn where_nobody_can_be_asked_the_error_says_what_to_do() {
    let world = World::new().await;
    let authorizer = world.vault().of(&Caller::local());

    let error = visit(&world.resource.url, &authorizer).await.unwrap_err().to_string();

    assert!(error.contains("run `toolcrib login`"), "{error}");
    assert_eq!(world.issuer.registered.lock().unwrap().len(), 0, "nothing was begun");
}

#[tokio::test]
async fn what_else_comes_to_the_listener_does_not_disturb_the_log_in() {
    let world = World::new().await;
    let crib = crib(&world.resource.url, &world.vault().of(&Caller::local()));
    let person = Arc::new(Person { action: "accept", mischief: true, ..Person::default() });

    assert_eq!(call(&crib, &Caller::local(), &person).await, "200");

    assert_eq!(world.issuer.asked_for("authorization_code").len(), 1);
}

#[tokio::test]
async fn a_call_that_needs_more_scopes_asks_for_them_and_keeps_the_others() {
    let world = World::new().await;
    world.resource.set(|rules| rules.challenged = Some("basic"));
    world.log_in(&Caller::local()).await.unwrap();
    world.resource.set(|rules| (rules.scope, rules.challenged) = ("write", Some("write")));
    let crib = crib(&world.resource.url, &world.vault().of(&Caller::local()));
    let person = Person::who("accept");

    assert_eq!(call(&crib, &Caller::local(), &person).await, "200");

    let authorized = world.issuer.authorized.lock().unwrap().clone();
    let scopes: Vec<&str> = authorized.iter().map(|query| &*query["scope"]).collect();
    assert_eq!(scopes, ["basic", "basic write"]);
}

#[tokio::test]
async fn scopes_that_are_not_granted_are_not_asked_for_again() {
    let world = World::new().await;
    world.resource.set(|rules| (rules.scope, rules.challenged) = ("admin", Some("admin")));
    world.issuer.set(|manners| manners.grants = Some("basic"));
    let crib = crib(&world.resource.url, &world.vault().of(&Caller::local()));
    let person = Person::who("accept");

    for _ in 0..3 {
        let told = call(&crib, &Caller::local(), &person).await;
        assert!(told.contains("(admin)") && told.contains("did not help"), "{told}");
    }

    assert_eq!(person.asked.lock().unwrap().len(), 1);
}
