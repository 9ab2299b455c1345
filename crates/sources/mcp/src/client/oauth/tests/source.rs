//! The whole way: a crib with a protected server as a source.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolcrib_core::{AllowAll, BatchOptions, Call, Caller, Host, PlanRequest, Secrets, SourceId};
use toolcrib_engine::Crib;

use super::people::Person;
use super::{World, log_in};
use crate::client::settings::{McpSourceSettings, McpTransport, OAuthSettings};
use crate::{McpEnvironment, McpSource};

const CONNECT: Duration = Duration::from_secs(1);

async fn crib(world: &World) -> Crib {
    let mut settings = McpSourceSettings::new(McpTransport::Http(Box::new(world.settings())));
    settings.timeouts.connect = CONNECT;
    let source = McpSource::new("far", settings, McpEnvironment::default());
    Crib::builder().policy(AllowAll).source("far", source).build().await
}

async fn logged_in(world: &World) -> Crib {
    world.log_in(&Caller::local()).await.unwrap();
    crib(world).await
}

/// What so many calls of one batch answer: the tokens that they were made with.
async fn call(crib: &Crib, caller: &Caller, person: &Arc<Person>, times: usize) -> Vec<String> {
    let plan = crib.plan(caller, PlanRequest::default()).unwrap();
    let calls = (0..times)
        .map(|number| Call::new(number.to_string(), "whoami", json!({"number": number}).into()));
    let host: Arc<dyn Host> = person.clone();
    let options = BatchOptions { host: Some(host), ..BatchOptions::default() };
    let report = crib.run_with(&plan, calls.collect(), options).await;
    report.responses.iter().map(toolcrib_core::Response::text).collect()
}

#[tokio::test]
async fn a_source_without_tokens_says_how_to_log_in_and_loads_after_it() {
    let world = World::new().await;
    let crib = crib(&world).await;
    let error = crib.sources()[0].error.clone().unwrap();
    assert!(error.contains("run `toolcrib login`"), "{error}");

    world.log_in(&Caller::local()).await.unwrap();
    crib.reload(&SourceId::new("far")).await;

    assert_eq!(crib.sources()[0].error, None);
    assert_eq!(call(&crib, &Caller::local(), &Person::who("decline"), 1).await[0], "access-3");
}

#[tokio::test]
async fn each_caller_is_asked_to_log_in_and_has_a_token_of_his_own() {
    let world = World::new().await;
    let crib = logged_in(&world).await;
    let mut tokens = BTreeSet::new();
    for subject in ["anna", "ben"] {
        let (caller, person) = (Caller::new("acme", subject), Person::who("accept"));
        let first = call(&crib, &caller, &person, 1).await.remove(0);
        assert!(first.starts_with("access-"), "{first}");
        assert_eq!(call(&crib, &caller, &person, 1).await[0], first);
        assert_eq!(person.asked.lock().unwrap().len(), 1);
        tokens.insert(first);
    }
    assert_eq!(tokens.len(), 2);
    assert_eq!(world.issuer.authorized.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn a_person_who_declines_ends_the_call_and_is_asked_once() {
    let world = World::new().await;
    let crib = logged_in(&world).await;
    let person = Person::who("decline");

    let told = call(&crib, &Caller::new("acme", "anna"), &person, 1).await.remove(0);

    assert!(told.contains("did not let toolcrib in"), "{told}");
    assert_eq!(person.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_batch_of_calls_with_an_ended_token_makes_one_refresh() {
    let world = World::new().await;
    let crib = logged_in(&world).await;
    world.issuer.live.lock().unwrap().clear();

    let tokens = call(&crib, &Caller::local(), &Person::who("decline"), 64).await;

    let ours: BTreeSet<&String> = tokens.iter().collect();
    assert_eq!(ours.len(), 1, "{ours:?}");
    assert!(tokens[0].starts_with("access-"), "{}", tokens[0]);
    assert_eq!(world.issuer.asked_for("refresh_token").len(), 1);
}

#[tokio::test]
async fn a_log_in_that_takes_longer_than_connecting_may_is_not_begun_anew() {
    let world = World::new().await;
    let crib = logged_in(&world).await;
    let anna = Caller::new("acme", "anna");
    let person = Person::slow(CONNECT * 2);
    let mut told = String::new();
    for _ in 0..20 {
        told = call(&crib, &anna, &person, 1).await.remove(0);
        if !told.starts_with("Error: ") {
            break;
        }
    }

    assert!(told.starts_with("access-"), "{told}");
    assert_eq!(person.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn every_token_that_is_had_is_known_as_a_secret() {
    let world = World::new().await;
    let learned = Secrets::default();
    let oauth = OAuthSettings { learned: Some(learned.clone()), ..world.oauth() };
    let settings = world.resource.settings(oauth);
    log_in(&settings, &Caller::local()).await.unwrap();
    let known = |learned: &Secrets, kind: &str| {
        let redactor = learned.redactor();
        (0..10).filter(|number| redactor.text(&format!("{kind}{number}")) == "[secret]").count()
    };
    let kinds = ["access-", "refresh-", "client-secret-"];
    assert_eq!(kinds.map(|kind| known(&learned, kind)), [1, 1, 1]);

    // Another process finds them in the file, and has others when they have ended.
    let later = Secrets::default();
    let mut oauth = world.oauth();
    oauth.learned = Some(later.clone());
    let mut settings =
        McpSourceSettings::new(McpTransport::Http(Box::new(world.resource.settings(oauth))));
    settings.timeouts.connect = CONNECT;
    let source = McpSource::new("far", settings, McpEnvironment::default());
    let crib = Crib::builder().policy(AllowAll).source("far", source).build().await;
    assert_eq!(kinds.map(|kind| known(&later, kind)), [1, 1, 1]);
    world.issuer.live.lock().unwrap().clear();
    call(&crib, &Caller::local(), &Person::who("decline"), 1).await;
    assert_eq!(known(&later, "access-"), 2);
}
