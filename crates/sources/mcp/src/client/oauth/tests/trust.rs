//! Servers that are not what they say.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tokio::net::TcpListener;
use toolcrib_core::Caller;
use toolcrib_egress::Network;

use super::issuer::{Issuer, Refresh};
use super::resource::visit;
use super::{World, log_in};
use crate::client::settings::OAuthSettings;

/// A log-in that must fail, and must not have sent the code.
async fn refused(world: &World) -> String {
    let error = world.log_in(&Caller::local()).await.unwrap_err().to_string();
    assert_eq!(world.issuer.asked.lock().unwrap().len(), 0, "the code was sent: {error}");
    error
}

#[tokio::test]
async fn an_answer_of_another_issuer_is_not_trusted() {
    let world = World::new().await;
    let own = world.issuer.url.clone();
    for (iss, told) in [
        (Some("https://evil.example".to_owned()), "`iss` is another server"),
        (Some(format!("{own}/")), "`iss` is another server"),
        (Some(own.to_uppercase()), "`iss` is another server"),
        (Some(String::new()), "`iss` is another server"),
        (None, "`iss` is missing"),
    ] {
        world.issuer.set(|manners| manners.iss = iss.clone());
        let error = refused(&world).await;
        assert!(error.contains(told), "{iss:?}: {error}");
    }
}

#[tokio::test]
async fn an_issuer_that_never_says_iss_may_leave_it_out() {
    let world = World::new().await;
    let field = "authorization_response_iss_parameter_supported";
    world.issuer.set(|it| drop(it.metadata.insert(field, false.into())));
    world.issuer.set(|manners| manners.iss = None);

    world.log_in(&Caller::local()).await.unwrap();
}

#[tokio::test]
async fn metadata_of_another_issuer_is_not_used() {
    let world = World::new().await;
    world.issuer.set(|it| drop(it.metadata.insert("issuer", "https://evil.example".into())));

    let error = refused(&world).await;

    assert!(error.contains("its `issuer` is not the one that was asked for"), "{error}");
    assert_eq!(world.issuer.registered.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn a_server_may_not_get_tokens_for_another() {
    let world = World::new().await;
    for resource in ["https://evil.example/mcp", "http://127.0.0.1:1/mcp", "no address"] {
        world.resource.set(|rules| rules.metadata["resource"] = resource.into());

        let error = refused(&world).await;

        assert!(error.contains("its `resource` is"), "{resource}: {error}");
        assert_eq!(world.issuer.authorized.lock().unwrap().len(), 0);
    }
}

#[tokio::test]
async fn an_issuer_without_s256_is_refused() {
    let world = World::new().await;
    for methods in [json!(["plain"]), json!([])] {
        let field = "code_challenge_methods_supported";
        world.issuer.set(|it| drop(it.metadata.insert(field, methods)));
        let error = refused(&world).await;
        assert!(error.contains("PKCE with S256"), "{error}");
    }
}

#[tokio::test]
async fn an_address_without_tls_elsewhere_is_refused() {
    let world = World::new().await;
    for field in ["authorization_endpoint", "token_endpoint", "registration_endpoint"] {
        for address in ["http://auth.example/x", "javascript:alert(1)", "file:///etc/passwd"] {
            world.issuer.set(|it| it.metadata = [(field, address.into())].into());
            let error = refused(&world).await;
            assert!(error.contains("one of its addresses is not `https`"), "{field}: {error}");
        }
    }
}

/// Counts who connects to it.
async fn canary() -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, hits) = (listener.local_addr().unwrap().port(), Arc::<AtomicUsize>::default());
    let counted = Arc::clone(&hits);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    (port, hits)
}

#[tokio::test]
async fn a_private_address_that_a_server_names_is_not_reached() {
    let (port, hits) = canary().await;
    let hosts = [
        "http://127.0.0.1",
        "http://localhost",
        "http://localhost.",
        "http://a.localhost",
        "http://2130706433",
        "http://0x7f.1",
        "http://0177.0.0.1",
        "http://[::1]",
        "http://[::ffff:127.0.0.1]",
        "https://127.0.0.1",
        "https://[::ffff:7f00:1]",
        "https://[64:ff9b::7f00:1]",
        "https://10.0.0.1",
        "https://169.254.169.254",
        "https://0.0.0.0",
    ];
    for host in hosts {
        let named = format!("{host}:{port}");
        for place in ["resource_metadata", "issuer", "authorization", "token", "registration"] {
            let world = World::new().await;
            // The issuer itself is opened, and nothing beside it.
            let address = world.issuer.url.trim_start_matches("http://").parse().unwrap();
            let mut settings = world.settings();
            settings.network = Network { private: vec![address] };
            match place {
                "resource_metadata" => {
                    world.resource.set(|rules| rules.elsewhere = Some(named.clone()));
                }
                "issuer" => world
                    .resource
                    .set(|rules| rules.metadata["authorization_servers"] = json!([named])),
                "authorization" => world.issuer.set(|manners| {
                    manners.metadata.insert("authorization_endpoint", named.clone().into());
                }),
                "token" => world.issuer.set(|manners| {
                    manners.metadata.insert("token_endpoint", named.clone().into());
                }),
                _ => world.issuer.set(|manners| {
                    manners.metadata.insert("registration_endpoint", named.clone().into());
                }),
            }
            let logged_in = log_in(&settings, &Caller::local()).await;
            assert!(logged_in.is_err(), "{place} at {named}");
        }
    }
    assert_eq!(hits.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_server_that_asks_nobody_to_log_in_needs_no_settings_for_it() {
    let world = World::new().await;
    world.resource.set(|rules| (rules.open, rules.metadata_path) = (true, "/nowhere"));

    let error = world.log_in(&Caller::local()).await.unwrap_err().to_string();

    assert!(error.contains("lets everybody in"), "{error}");
}

#[tokio::test]
async fn a_new_issuer_sees_nothing_of_the_old_one() {
    let world = World::new().await;
    world.log_in(&Caller::local()).await.unwrap();
    let second = Issuer::start().await;
    world.resource.set(|rules| {
        rules.metadata["authorization_servers"] = json!([second.url]);
        rules.issuer = second.clone();
    });
    let vault = world.vault();

    let refused = visit(&world.resource.url, &vault.of(&Caller::local())).await.unwrap_err();
    assert!(refused.to_string().contains("`toolcrib login`"), "{refused}");
    assert_eq!(world.issuer.asked_for("refresh_token").len(), 0);

    world.log_in(&Caller::local()).await.unwrap();
    let seen = visit(&world.resource.url, &world.vault().of(&Caller::local())).await;
    assert_eq!(seen, Ok(200));
    assert_eq!(second.registered.lock().unwrap().len(), 1);
    let client = &second.authorized.lock().unwrap()[0]["client_id"];
    assert!(client.ends_with(&second.url), "{client}");
    for asked in second.asked.lock().unwrap().iter() {
        assert_eq!((&*asked.grant, &asked.client), ("authorization_code", client));
    }
}

#[tokio::test]
async fn a_client_of_the_operator_stays_with_its_issuer() {
    let world = World::new().await;
    let mut settings = world.oauth();
    settings.client_id = Some("ours".to_owned());
    settings.client_secret = Some(toolcrib_core::Secret::new("the-secret"));
    let settings = world.resource.settings(settings);
    log_in(&settings, &Caller::local()).await.unwrap();
    let second = Issuer::start().await;
    let servers = json!([second.url]);
    world.resource.set(|rules| rules.metadata["authorization_servers"] = servers);

    let error = log_in(&settings, &Caller::local()).await.unwrap_err().to_string();

    assert!(error.contains(&second.url) && error.contains("if that is right, delete"), "{error}");
    assert_eq!(second.asked.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn a_server_that_repeats_our_secrets_is_not_quoted() {
    let world = World::new().await;
    world.issuer.set(|manners| manners.lifetime = 0);
    world.log_in(&Caller::local()).await.unwrap();
    world.issuer.set(|manners| {
        manners.echo = true;
        manners.refresh = Refresh::Code("invalid_request");
    });
    let authorizer = world.vault().of(&Caller::local());
    let grant = authorizer.read().unwrap().unwrap();
    let error = authorizer.redeem(&grant, &found(&world).await).await.unwrap_err();
    let told = format!("{error} {error:?} {grant:?}");
    for secret in ["access-", "refresh-", "client-secret-", "code-"] {
        assert!(!told.contains(secret), "{secret} in {told}");
    }
    assert!(told.contains("an error of its own"), "{told}");
}

#[tokio::test]
async fn a_document_of_an_issuer_is_as_long_as_it_may_be() {
    let world = World::new().await;
    let found = async |bytes: u64| {
        let oauth = OAuthSettings { document: Some(bytes), ..world.oauth() };
        let wire =
            crate::client::oauth::transport::OAuthTransport::new(&world.resource.settings(oauth))
                .unwrap();
        crate::client::oauth::discovery::issuer(&wire, &world.issuer.url).await.map(|_| ())
    };
    // What it says of itself has some hundred bytes: the least bound that takes it in is its size.
    let mut size = 0;
    for bit in (0..12).rev() {
        if found(size + (1 << bit)).await.is_err() {
            size += 1 << bit;
        }
    }
    let said = format!("is larger than {size} bytes");
    assert!(size > 100 && found(size + 2).await.is_ok() && found(size + 1).await.is_ok(), "{size}");
    let refused = found(size).await.unwrap_err();
    assert!(format!("{refused:?}").contains(&said), "{refused:?}");
}

async fn found(world: &World) -> crate::client::oauth::discovery::metadata::IssuerMetadata {
    let wire = crate::client::oauth::transport::OAuthTransport::new(&world.settings()).unwrap();
    crate::client::oauth::discovery::issuer(&wire, &world.issuer.url).await.unwrap().unwrap()
}
