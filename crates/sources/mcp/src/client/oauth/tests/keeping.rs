//! Whose tokens are kept where.

use std::fs;
use std::path::PathBuf;

use toolcrib_core::Caller;

use super::resource::{Resource, visit};
use super::{World, log_in, vault};
use crate::client::oauth::error::OAuthError;
use crate::client::settings::OAuthSettings;

fn files(world: &World) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(&world.folder.0).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[tokio::test]
async fn a_log_in_lets_the_caller_in_from_then_on() {
    let world = World::new().await;
    let anna = Caller::new("acme", "anna");
    world.log_in(&anna).await.unwrap();

    let seen = visit(&world.resource.url, &world.vault().of(&anna)).await;

    assert_eq!(seen, Ok(200));
    assert_eq!(world.issuer.registered.lock().unwrap().len(), 1);
    let authorized = world.issuer.authorized.lock().unwrap()[0].clone();
    assert_eq!(authorized["resource"], world.resource.url.as_str());
    let asked = &world.issuer.asked_for("authorization_code")[0];
    assert_eq!(asked.form["resource"], world.resource.url.as_str());
    assert_eq!(asked.method, "client_secret_basic");
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_of_the_process_can_read_the_tokens() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new().await;
    let anna = Caller::new("acme", "anna");
    world.log_in(&anna).await.unwrap();
    world.issuer.set(|manners| manners.lifetime = 0);
    visit(&world.resource.url, &world.vault().of(&anna)).await.unwrap();

    let mode = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&world.folder.0), 0o700);
    for file in files(&world) {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let (hash, _) = name.split_once('.').unwrap();
        assert!(hash.len() == 64 && hash.chars().all(|c| c.is_ascii_hexdigit()), "{name}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_others_can_look_into_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new().await;
    fs::create_dir(&world.folder.0).unwrap();
    fs::set_permissions(&world.folder.0, fs::Permissions::from_mode(0o755)).unwrap();

    let error = world.log_in(&Caller::local()).await.unwrap_err().to_string();

    assert!(error.contains("`chmod 700`"), "{error}");
    assert_eq!(world.issuer.authorized.lock().unwrap().len(), 0, "nobody was bothered");
    assert_eq!(files(&world), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn the_tokens_of_another_caller_are_never_used() {
    let world = World::new().await;
    let (anna, ben) = (Caller::new("acme", "anna"), Caller::new("acme", "ben"));
    world.log_in(&anna).await.unwrap();
    let vault = world.vault();

    for other in [&ben, &Caller::new("other", "anna"), &Caller::new("acmean", "na")] {
        let authorizer = vault.of(other);
        assert_eq!(authorizer.token().await, Ok(None));
        assert_eq!(visit(&world.resource.url, &authorizer).await, Err(OAuthError::NeedsLogin));
    }
    assert_eq!(visit(&world.resource.url, &vault.of(&anna)).await, Ok(200));
}

#[tokio::test]
async fn a_file_under_the_name_of_another_caller_helps_nobody() {
    let world = World::new().await;
    let (anna, ben) = (Caller::new("acme", "anna"), Caller::new("acme", "ben"));
    world.log_in(&anna).await.unwrap();
    let of_anna = files(&world);
    world.log_in(&ben).await.unwrap();
    let grant = |path: &&PathBuf| path.extension().is_some_and(|it| it == "json");
    let from = of_anna.iter().find(grant).unwrap();
    let to = files(&world).into_iter().find(|it| grant(&it) && !of_anna.contains(it)).unwrap();
    fs::copy(from, to).unwrap();

    assert_eq!(world.vault().of(&ben).token().await, Ok(None));
}

#[tokio::test]
async fn tokens_of_one_server_do_not_go_to_another() {
    let world = World::new().await;
    world.log_in(&Caller::local()).await.unwrap();
    let other = Resource::start(&world.issuer).await;

    let authorizer = vault(&other.settings(world.oauth())).of(&Caller::local());

    assert_eq!(visit(&other.url, &authorizer).await, Err(OAuthError::NeedsLogin));
    assert_eq!(*other.seen.lock().unwrap(), [None]);
}

#[tokio::test]
async fn a_log_in_beside_a_running_crib_is_seen_by_it() {
    let world = World::new().await;
    let authorizer = world.vault().of(&Caller::local());
    assert_eq!(authorizer.token().await, Ok(None));

    world.log_in(&Caller::local()).await.unwrap();

    assert_eq!(visit(&world.resource.url, &authorizer).await, Ok(200));
}

#[tokio::test]
async fn a_broken_file_is_like_none_and_is_replaced() {
    let world = World::new().await;
    world.log_in(&Caller::local()).await.unwrap();
    for file in files(&world) {
        fs::write(&file, b"{\"owner\": ").unwrap();
    }
    assert_eq!(world.vault().of(&Caller::local()).token().await, Ok(None));

    world.log_in(&Caller::local()).await.unwrap();

    let authorizer = world.vault().of(&Caller::local());
    assert_eq!(visit(&world.resource.url, &authorizer).await, Ok(200));
}

#[tokio::test]
async fn a_log_in_that_would_be_lost_at_once_is_refused() {
    let world = World::new().await;
    let settings = world.resource.settings(OAuthSettings::default());

    let error = log_in(&settings, &Caller::local()).await.unwrap_err();

    assert!(error.to_string().contains("no folder for tokens"), "{error}");
}
