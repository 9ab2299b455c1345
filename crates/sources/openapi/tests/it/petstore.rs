//! The petstore, with a small store behind it: every operation is called.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a helper of tests")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::response::Response;
use serde_json::{Value, json};
use toolcrib_core::Secret;
use toolcrib_openapi::{ApiSettings, Credential};

use crate::upstream::{Heard, Shop, Upstream, document, json as answer, settings, with};

type Pets = Arc<Mutex<BTreeMap<String, Value>>>;

/// The store: pets by id, and words for the rest.
fn store(pets: &Pets, heard: &Heard) -> Response {
    let mut pets = pets.lock().unwrap();
    let (path, query) = heard.target.split_once('?').unwrap_or((&heard.target, ""));
    let below = path.strip_prefix("/api/v3").unwrap_or("/outside");
    let parts: Vec<&str> = below.split('/').skip(1).collect();
    match (heard.method.as_str(), parts.as_slice()) {
        ("POST" | "PUT", ["pet"]) => {
            let pet: Value = serde_json::from_str(&heard.body).unwrap();
            pets.insert(pet["id"].to_string(), pet.clone());
            answer(&pet)
        }
        ("GET", ["pet", "findByStatus"]) => {
            let is_meant =
                |pet: &&Value| query == format!("status={}", pet["status"].as_str().unwrap());
            answer(&pets.values().filter(is_meant).cloned().collect())
        }
        ("GET", ["pet", "findByTags"]) => answer(&json!(query.split('&').collect::<Vec<_>>())),
        ("GET", ["pet", id]) => match pets.get(*id) {
            Some(pet) => answer(pet),
            None => with(404, &[("content-type", "text/plain")], "Pet not found"),
        },
        ("POST", ["pet", id]) => answer(&json!({"id": id, "query": query})),
        ("POST", ["pet", _, "uploadImage"]) => answer(&json!({"message": heard.body})),
        ("DELETE", ["pet", id]) => {
            pets.remove(*id);
            with(204, &[], "")
        }
        ("GET", ["store", "inventory"]) => answer(&json!({"all": pets.len()})),
        ("GET", ["user", "login"]) => {
            with(200, &[("content-type", "application/json")], r#""logged in""#)
        }
        ("POST" | "PUT", _) => with(200, &[("content-type", "application/json")], &heard.body),
        ("DELETE", _) => with(200, &[], ""),
        _ => answer(&json!(parts)),
    }
}

async fn open() -> Option<(Upstream, Shop)> {
    let text = document("petstore3.yaml")?;
    let pets = Pets::default();
    let upstream = Upstream::start(move |heard| store(&pets, heard)).await;
    let base = upstream.url.join("/api/v3").unwrap();
    let credentials = [
        ("api_key".to_owned(), Credential::Key(Secret::new("the-api-key"))),
        ("petstore_auth".to_owned(), Credential::Bearer(Secret::new("the-token"))),
    ];
    let settings =
        ApiSettings { credentials: credentials.into_iter().collect(), ..settings(&text, &base) };
    Some((upstream, Shop::open(settings).await))
}

#[tokio::test]
async fn pets_are_added_found_changed_and_removed() {
    let Some((upstream, shop)) = open().await else { return };
    let rex = json!({"id": 7, "name": "Rex & Co", "photoUrls": [], "status": "sold"});
    let added = shop.call("addPet", &rex).await;
    assert_eq!(added.content().unwrap().structured.as_ref(), Some(&rex));
    let first = upstream.last();
    assert_eq!(first.line(), "POST /api/v3/pet");
    assert_eq!(first.header("content-type"), Some("application/json"));
    assert_eq!(first.header("authorization"), Some("Bearer the-token"));
    let found = shop.call("findPetsByStatus", &json!({"status": "sold"})).await;
    assert_eq!(found.content().unwrap().structured, Some(json!([rex])));
    let tags = shop.call("findPetsByTags", &json!({"tags": ["a b", "c&d", "é"]})).await;
    assert_eq!(tags.text(), r#"["tags=a%20b","tags=c%26d","tags=%C3%A9"]"#);
    let got = shop.call("getPetById", &json!({"petId": 7})).await;
    assert_eq!(got.content().unwrap().structured.as_ref(), Some(&rex));
    // Two ways in, and the document names the key first.
    let got = upstream.last();
    assert_eq!((got.header("api_key"), got.header("authorization")), (Some("the-api-key"), None));
    let form = json!({"petId": 7, "name": "Max", "status": "a/b"});
    let changed = shop.call("updatePetWithForm", &form).await;
    assert_eq!(changed.text(), r#"{"id":"7","query":"name=Max&status=a%2Fb"}"#);
    let gone = shop.call("deletePet", &json!({"petId": 7})).await;
    assert_eq!(gone.text(), "done (HTTP 204 No Content)");
    let missing = shop.call("getPetById", &json!({"petId": 7})).await;
    assert_eq!(
        missing.text(),
        "Error: the API answered 404 Not Found: Pet not found. Check the names and ids in the \
         arguments; look them up if you guessed them\n\nPet not found"
    );
}

#[tokio::test]
async fn every_operation_reaches_its_place() {
    let Some((upstream, shop)) = open().await else { return };
    let user = json!({"username": "ann", "email": "ann@example.org"});
    let order = json!({"id": 1, "petId": 7, "quantity": 2});
    let calls = [
        ("updatePet", json!({"id": 8, "name": "Bo", "photoUrls": ["u"]}), "PUT /api/v3/pet"),
        (
            "uploadFile",
            json!({"petId": 8, "additionalMetadata": "x y", "body": "aGk="}),
            "POST /api/v3/pet/8/uploadImage?additionalMetadata=x%20y",
        ),
        ("getInventory", json!({}), "GET /api/v3/store/inventory"),
        ("placeOrder", order, "POST /api/v3/store/order"),
        ("getOrderById", json!({"orderId": 1}), "GET /api/v3/store/order/1"),
        ("deleteOrder", json!({"orderId": 1}), "DELETE /api/v3/store/order/1"),
        ("createUser", user.clone(), "POST /api/v3/user"),
        ("createUsersWithListInput", json!({"body": [user]}), "POST /api/v3/user/createWithList"),
        (
            "loginUser",
            json!({"username": "ann", "password": "a+b"}),
            "GET /api/v3/user/login?username=ann&password=a%2Bb",
        ),
        ("logoutUser", json!({}), "GET /api/v3/user/logout"),
        ("getUserByName", json!({"username": "a/..b"}), "GET /api/v3/user/a%2F..b"),
        ("updateUser", json!({"username": "ann", "body": user}), "PUT /api/v3/user/ann"),
        ("deleteUser", json!({"username": "ann"}), "DELETE /api/v3/user/ann"),
    ];
    for (tool, arguments, expected) in calls {
        let answer = shop.call(tool, &arguments).await;
        assert!(answer.outcome.is_done(), "{tool}: {answer:?}");
        assert_eq!(upstream.last().line(), expected);
    }
    let image = upstream.heard().into_iter().find(|it| it.target.contains("uploadImage")).unwrap();
    assert_eq!(
        (image.body.as_str(), image.header("content-type")),
        ("hi", Some("application/octet-stream"))
    );
    let refused = shop.call("getUserByName", &json!({"username": ".."})).await;
    assert!(refused.text().contains("cannot be `.` or `..`"), "{}", refused.text());
    assert_eq!(upstream.heard().len(), 13);
}
