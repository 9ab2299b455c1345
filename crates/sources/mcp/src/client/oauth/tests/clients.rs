//! Who we are, where metadata stands, and which scopes are asked for.

use http::Method;
use http::header::LOCATION;
use serde_json::json;
use toolcrib_core::{Caller, Secret};
use toolcrib_egress::{Egress, EgressRequest};
use url::Url;

use super::resource::{loopback, visit};
use super::{World, log_in, vault};
use crate::client::oauth::error::OAuthError;
use crate::client::oauth::{AuthorizationResponse, OAuthLogin};
use crate::client::settings::OAuthSettings;

#[tokio::test]
async fn every_place_of_metadata_is_found() {
    let resources = [
        ("/.well-known/oauth-protected-resource/mcp", false),
        ("/.well-known/oauth-protected-resource", false),
        ("/somewhere/else.json", true),
    ];
    let issuers = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
    for (resource, named) in resources {
        for issuer in issuers {
            let world = World::new().await;
            world.resource.set(|rules| (rules.metadata_path, rules.named) = (resource, named));
            world.issuer.set(|manners| manners.metadata_path = issuer);
            world.log_in(&Caller::local()).await.unwrap();
        }
    }
}

#[tokio::test]
async fn an_issuer_with_a_path_is_found_at_each_of_its_places() {
    for place in [
        "/.well-known/oauth-authorization-server/tenant",
        "/.well-known/openid-configuration/tenant",
        "/tenant/.well-known/openid-configuration",
    ] {
        let world = World::new().await;
        let named = format!("{}/tenant", world.issuer.url);
        world.issuer.set(|manners| {
            manners.metadata_path = place;
            manners.iss = Some(named.clone());
            manners.metadata.insert("issuer", named.clone().into());
        });
        world.resource.set(|rules| rules.metadata["authorization_servers"] = json!([named]));
        world.log_in(&Caller::local()).await.unwrap();
    }
}

#[tokio::test]
async fn the_secret_is_shown_in_the_way_that_the_issuer_takes() {
    for (methods, used) in [
        (json!(["client_secret_post", "client_secret_basic"]), "client_secret_basic"),
        (json!(["client_secret_post"]), "client_secret_post"),
        (json!(["none"]), "none"),
    ] {
        let world = World::new().await;
        let field = "token_endpoint_auth_methods_supported";
        world.issuer.set(|it| drop(it.metadata.insert(field, methods)));
        world.log_in(&Caller::local()).await.unwrap();
        assert_eq!(world.issuer.asked_for("authorization_code")[0].method, used);
    }
}

#[tokio::test]
async fn a_document_goes_before_a_registration_and_a_known_client_before_both() {
    let document = "https://crib.example/client.json";
    let world = World::new().await;
    let field = "client_id_metadata_document_supported";
    world.issuer.set(|it| drop(it.metadata.insert(field, true.into())));
    let mut oauth = world.oauth();
    oauth.client_metadata = Some(Url::parse(document).unwrap());
    log_in(&world.resource.settings(oauth.clone()), &Caller::local()).await.unwrap();
    oauth.client_id = Some("ours".to_owned());
    log_in(&world.resource.settings(oauth.clone()), &Caller::local()).await.unwrap();
    oauth.client_id = None;
    world.issuer.set(|it| it.metadata.clear());
    log_in(&world.resource.settings(oauth), &Caller::local()).await.unwrap();

    let asked = world.issuer.asked_for("authorization_code");
    let clients: Vec<&str> = asked.iter().map(|asked| &*asked.client).collect();
    assert_eq!(clients[..2], [document, "ours"]);
    let registered = world.issuer.registered.lock().unwrap().clone();
    assert_eq!(registered.len(), 1);
    assert_eq!(registered[0]["application_type"], "native");
    assert_eq!(registered[0]["grant_types"], json!(["authorization_code", "refresh_token"]));
    assert!(clients[2].starts_with("client-"), "{clients:?}");
}

#[tokio::test]
async fn an_issuer_that_registers_nobody_is_told_how_to_be_used() {
    let world = World::new().await;
    let field = "registration_endpoint";
    world.issuer.set(|it| drop(it.metadata.insert(field, json!(null))));

    let error = world.log_in(&Caller::local()).await.unwrap_err().to_string();

    assert!(error.contains("set `client_id`"), "{error}");
}

#[tokio::test]
async fn scopes_come_from_the_refusal_then_from_the_metadata() {
    for (challenged, supported, wanted) in [
        (Some("read"), json!(["a", "b"]), Some("read")),
        (None, json!(["a", "b"]), Some("a b")),
        (None, json!([]), None),
    ] {
        let world = World::new().await;
        world.resource.set(|rules| {
            rules.challenged = challenged;
            rules.metadata["scopes_supported"] = supported;
        });
        world.log_in(&Caller::local()).await.unwrap();
        let authorized = world.issuer.authorized.lock().unwrap()[0].clone();
        assert_eq!(authorized.get("scope").map(String::as_str), wanted);
    }
}

#[tokio::test]
async fn a_refresh_token_is_asked_for_where_it_can_be_had() {
    let world = World::new().await;
    world.resource.set(|rules| rules.challenged = Some("read"));
    let scopes = json!(["read", "offline_access"]);
    world.issuer.set(|it| drop(it.metadata.insert("scopes_supported", scopes)));

    world.log_in(&Caller::local()).await.unwrap();

    let authorized = world.issuer.authorized.lock().unwrap()[0].clone();
    assert_eq!(authorized["scope"], "read offline_access");
    assert_eq!(authorized["prompt"], "consent");
}

#[tokio::test]
async fn a_machine_needs_no_person_and_has_one_token_for_all() {
    let world = World::new().await;
    let mut oauth = world.oauth();
    oauth.machine = true;
    oauth.client_id = Some("ours".to_owned());
    oauth.client_secret = Some(Secret::new("a secret: with % signs"));
    oauth.scopes = vec!["run".to_owned()];
    let vault = vault(&world.resource.settings(oauth));

    for subject in ["anna", "ben"] {
        let authorizer = vault.of(&Caller::new("acme", subject));
        assert_eq!(visit(&world.resource.url, &authorizer).await, Ok(200));
    }

    let asked = world.issuer.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].grant, "client_credentials");
    assert_eq!(asked[0].client, "ours");
    assert_eq!(asked[0].form["scope"], "run");
    assert_eq!(asked[0].form["resource"], world.resource.url.as_str());
    assert_eq!(world.issuer.authorized.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn a_machine_without_credentials_is_told_so() {
    let world = World::new().await;
    let oauth = OAuthSettings { machine: true, ..world.oauth() };
    let authorizer = vault(&world.resource.settings(oauth)).of(&Caller::local());

    let error = visit(&world.resource.url, &authorizer).await.unwrap_err();

    assert!(matches!(error, OAuthError::Setting(text) if text.contains("`client_secret`")));
}

#[tokio::test]
async fn a_server_that_accepts_nothing_is_not_asked_for_ever() {
    let world = World::new().await;
    world.resource.set(|rules| rules.never = true);
    let mut oauth = world.oauth();
    oauth.machine = true;
    oauth.client_id = Some("ours".to_owned());
    oauth.client_secret = Some(Secret::new("secret"));
    let authorizer = vault(&world.resource.settings(oauth)).of(&Caller::local());

    let mut last = visit(&world.resource.url, &authorizer).await;
    for _ in 0..3 {
        last = visit(&world.resource.url, &authorizer).await;
    }

    assert_eq!(last, Err(OAuthError::InVain));
    assert!(world.issuer.asked.lock().unwrap().len() <= 2, "{:?}", world.issuer.asked);
}

#[tokio::test]
async fn a_host_may_receive_the_answer_itself() {
    let world = World::new().await;
    let (caller, redirect) = (Caller::new("acme", "anna"), "https://crib.example/back");
    let (settings, redirect) = (world.settings(), Url::parse(redirect).unwrap());
    let begin = || OAuthLogin::begin(&settings, &caller, redirect.clone());
    let (login, other) = (begin().await.unwrap(), begin().await.unwrap());
    let egress = Egress::open([], loopback()).unwrap();
    let answer = egress.send(EgressRequest::new(Method::GET, login.url().clone())).await.unwrap();
    let back = Url::parse(answer.headers[LOCATION].to_str().unwrap()).unwrap();
    assert!(back.as_str().starts_with("https://crib.example/back?code="), "{back}");

    let forged = other.finish(AuthorizationResponse::read(&back)).await.unwrap_err();
    assert!(matches!(forged, OAuthError::Forged(_)), "{forged}");
    login.finish(AuthorizationResponse::read(&back)).await.unwrap();

    assert_eq!(visit(&world.resource.url, &world.vault().of(&caller)).await, Ok(200));
}
