//! Tokens that end, and servers that fail while they are renewed.

use std::fs;
use std::path::{Path, PathBuf};

use futures_util::future::join_all;
use serde_json::Value;
use tokio::net::TcpListener;
use toolcrib_core::Caller;

use super::World;
use super::issuer::Refresh;
use super::resource::visit;
use crate::client::oauth::error::OAuthError;

/// A world in which a person is logged in, with a token that has just ended.
async fn ended() -> World {
    let world = World::new().await;
    world.issuer.set(|manners| manners.lifetime = 0);
    world.log_in(&Caller::local()).await.unwrap();
    world.issuer.set(|manners| manners.lifetime = 3600);
    world.issuer.live.lock().unwrap().clear();
    world
}

#[tokio::test]
async fn sixty_four_calls_share_one_refresh() {
    let world = ended().await;
    let authorizer = world.vault().of(&Caller::local());

    let seen = join_all((0..64).map(|_| visit(&world.resource.url, &authorizer))).await;

    assert_eq!(seen, vec![Ok(200); 64]);
    assert_eq!(world.issuer.asked_for("refresh_token").len(), 1);
}

#[tokio::test]
async fn sixty_four_refused_calls_share_one_refresh() {
    let world = World::new().await;
    world.log_in(&Caller::local()).await.unwrap();
    world.issuer.live.lock().unwrap().clear();
    let authorizer = world.vault().of(&Caller::local());

    let seen = join_all((0..64).map(|_| visit(&world.resource.url, &authorizer))).await;

    assert_eq!(seen, vec![Ok(200); 64]);
    assert_eq!(world.issuer.asked_for("refresh_token").len(), 1);
}

#[tokio::test]
async fn two_cribs_with_one_folder_share_one_refresh() {
    let world = ended().await;
    let cribs = [world.vault(), world.vault()];
    let authorizers = cribs.each_ref().map(|vault| vault.of(&Caller::local()));

    let seen = join_all(authorizers.iter().map(|it| visit(&world.resource.url, it))).await;

    assert_eq!(seen, [Ok(200), Ok(200)]);
    assert_eq!(world.issuer.asked_for("refresh_token").len(), 1);
}

#[tokio::test]
async fn a_fault_that_passes_keeps_the_tokens() {
    for fault in [Refresh::Status(503), Refresh::Status(429), Refresh::Status(500)] {
        let world = ended().await;
        world.issuer.set(|manners| manners.refresh = fault);
        let authorizer = world.vault().of(&Caller::local());

        let error = visit(&world.resource.url, &authorizer).await.unwrap_err();
        assert!(error.passes(), "{error}");

        world.issuer.set(|manners| manners.refresh = Refresh::Good);
        assert_eq!(visit(&world.resource.url, &authorizer).await, Ok(200));
    }
}

#[tokio::test]
async fn an_issuer_that_is_gone_for_a_while_takes_no_tokens_with_it() {
    let world = ended().await;
    let authorizer = world.vault().of(&Caller::local());
    let url = world.issuer.url.clone();
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let gone = format!("http://{closed}/token");
    world.issuer.set(|it| drop(it.metadata.insert("token_endpoint", gone.clone().into())));

    let error = visit(&world.resource.url, &authorizer).await.unwrap_err();
    assert!(error.passes() && error.to_string().contains(&gone), "{error}");

    let back = format!("{url}/token");
    world.issuer.set(|it| drop(it.metadata.insert("token_endpoint", back.into())));
    assert_eq!(visit(&world.resource.url, &authorizer).await, Ok(200));
}

#[tokio::test]
async fn only_a_dead_refresh_token_is_forgotten() {
    let world = ended().await;
    let authorizer = world.vault().of(&Caller::local());
    for (code, times) in [("invalid_request", 2), ("invalid_grant", 1)] {
        world.issuer.asked.lock().unwrap().clear();
        world.issuer.set(|manners| manners.refresh = Refresh::Code(code));

        let seen = visit(&world.resource.url, &authorizer).await;

        assert_eq!(seen, Err(OAuthError::NeedsLogin), "{code}");
        assert_eq!(world.issuer.asked_for("refresh_token").len(), times, "{code}");
    }
    world.issuer.set(|manners| manners.refresh = Refresh::Good);
    let seen = visit(&world.resource.url, &world.vault().of(&Caller::local())).await;
    assert_eq!(seen, Err(OAuthError::NeedsLogin));
    assert_eq!(world.issuer.asked_for("refresh_token").len(), 1, "it was gone");
}

#[tokio::test]
async fn a_token_that_is_still_good_is_used_while_the_issuer_is_down() {
    let world = World::new().await;
    world.log_in(&Caller::local()).await.unwrap();
    let file = grants(&world.folder.0).remove(0);
    let mut grant: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    grant["term"]["renew"] = 0.into();
    fs::write(&file, grant.to_string()).unwrap();
    world.issuer.set(|manners| manners.refresh = Refresh::Status(503));

    let seen = visit(&world.resource.url, &world.vault().of(&Caller::local())).await;

    assert_eq!(seen, Ok(200));
    assert_eq!(world.issuer.asked_for("refresh_token").len(), 1);
}

fn grants(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|it| it == "json")).collect()
}

#[tokio::test]
async fn a_token_of_a_short_life_serves_more_than_one_call() {
    let world = World::new().await;
    world.issuer.set(|manners| manners.lifetime = 9);
    world.log_in(&Caller::local()).await.unwrap();
    let authorizer = world.vault().of(&Caller::local());

    for _ in 0..3 {
        assert_eq!(visit(&world.resource.url, &authorizer).await, Ok(200));
    }

    assert_eq!(world.issuer.asked_for("refresh_token").len(), 0);
}
