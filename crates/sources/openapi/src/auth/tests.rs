//! Which credentials a call shows, and where.

use http::Method;
use toolcrib_core::Secret;

use super::*;
use crate::document::{KeyPlace as Place, SecurityScheme};
use crate::request::EncodedPair;

fn secret(text: &str) -> Secret {
    Secret::new(text)
}

fn keyring(schemes: &[(&str, SecurityScheme)], credentials: &[(&str, Credential)]) -> Keyring {
    let schemes = schemes.iter().map(|(name, scheme)| ((*name).to_owned(), scheme.clone()));
    let credentials = credentials.iter().map(|(name, it)| ((*name).to_owned(), it.clone()));
    Keyring { schemes: schemes.collect(), credentials: credentials.collect(), is_silent: false }
}

fn operation(security: &[&[&str]]) -> ApiOperation {
    let names = |names: &&[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    ApiOperation {
        key: "x".to_owned(),
        effect: None,
        takes_key: false,
        method: Method::GET,
        path: Vec::new(),
        query: Vec::new(),
        parameters: Vec::new(),
        body: None,
        server: None,
        security: security.iter().map(names).collect(),
        produces: Vec::new(),
    }
}

fn key(place: Place, name: &str) -> SecurityScheme {
    SecurityScheme::Key { place, name: name.to_owned() }
}

/// The request as `header: value`, `?name=value` and `cookie name=value`.
fn written(
    keyring: &Keyring,
    security: &[&[&str]],
    caller: &Caller,
) -> Result<Vec<String>, String> {
    let operation = operation(security);
    let mut draft = RequestDraft::new(&operation, &serde_json::Map::new()).unwrap();
    draft.headers.clear();
    draft.query.push(EncodedPair { name: "key".to_owned(), value: Some("evil".to_owned()) });
    for shown in keyring.choose(&operation, caller).map_err(|error| error.message)? {
        shown.write(Some(&secret("token")), &mut draft).map_err(|error| error.message)?;
    }
    assert!(draft.headers.values().all(http::HeaderValue::is_sensitive));
    let headers =
        draft.headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()));
    let pair = |start: &str, pair: &EncodedPair| {
        format!("{start}{}={}", pair.name, pair.value.as_ref().unwrap())
    };
    let query = draft.query.iter().filter(|pair| pair.value.as_deref() != Some("evil"));
    let query = query.map(|it| pair("?", it));
    let cookies = draft.cookies.iter().map(|it| pair("cookie ", it));
    Ok(headers.chain(query).chain(cookies).collect())
}

#[test]
fn every_credential_goes_where_its_scheme_says() {
    let basic = Credential::Basic { user: secret("u"), password: secret("p") };
    let grant = Credential::ClientCredentials {
        token_url: None,
        client_id: "id".to_owned(),
        client_secret: secret("s"),
        scopes: vec![],
    };
    let oauth = SecurityScheme::OAuth { token_url: None, scopes: Vec::new() };
    let table = [
        (SecurityScheme::Bearer, Credential::Bearer(secret("t")), "authorization: Bearer t"),
        (SecurityScheme::Bearer, Credential::Key(secret("t")), "authorization: Bearer t"),
        (SecurityScheme::Basic, basic.clone(), "authorization: Basic dTpw"),
        (SecurityScheme::Basic, Credential::Key(secret("k")), "authorization: Basic azo="),
        (oauth.clone(), grant.clone(), "authorization: Bearer token"),
        (oauth, Credential::Bearer(secret("t")), "authorization: Bearer t"),
        (key(Place::Header, "X-Key"), Credential::Key(secret("k")), "x-key: k"),
        (key(Place::Query, "key"), Credential::Key(secret("a&b")), "?key=a%26b"),
        (key(Place::Cookie, "sid"), Credential::Key(secret("a=b")), "cookie sid=a=b"),
        (key(Place::Cookie, "sid"), Credential::Key(secret("a;b")), "cookie sid=a%3Bb"),
        (
            key(Place::Header, "Authorization"),
            Credential::Bearer(secret("t")),
            "authorization: Bearer t",
        ),
        (
            key(Place::Header, "Authorization"),
            Credential::Key(secret("Bot t")),
            "authorization: Bot t",
        ),
        (key(Place::Header, "authorization"), basic.clone(), "authorization: Basic dTpw"),
    ];
    for (scheme, credential, expected) in table {
        let keyring = keyring(&[("s", scheme)], &[("s", credential)]);
        assert_eq!(written(&keyring, &[&["s"]], &Caller::local()), Ok(vec![expected.to_owned()]));
    }
    let query = keyring(&[("s", key(Place::Query, "key"))], &[("s", Credential::Key(secret("k")))]);
    let operation = operation(&[&["s"]]);
    let mut draft = RequestDraft::new(&operation, &serde_json::Map::new()).unwrap();
    draft.query.push(EncodedPair { name: "k%65y".to_owned(), value: Some("evil".to_owned()) });
    query.choose(&operation, &Caller::local()).unwrap()[0].write(None, &mut draft).unwrap();
    assert_eq!(draft.query, [EncodedPair { name: "key".to_owned(), value: Some("k".to_owned()) }]);
}

#[test]
fn the_first_way_in_that_has_all_its_credentials_is_taken() {
    let schemes = [
        ("a", SecurityScheme::Bearer),
        ("b", key(Place::Header, "b")),
        ("c", key(Place::Header, "c")),
    ];
    let key = |text: &str| Credential::Key(secret(text));
    let local = Caller::local();
    let some = keyring(&schemes, &[("b", key("kb")), ("c", key("kc"))]);
    let got = |security: &[&[&str]]| written(&some, security, &local);
    let says = |texts: &[&str]| Ok(texts.iter().map(|text| (*text).to_owned()).collect());
    assert_eq!(got(&[&["a"], &["c", "b"], &["b"]]), says(&["c: kc", "b: kb"]));
    assert_eq!(got(&[&[], &["b"]]), says(&["b: kb"]));
    assert_eq!(got(&[&["a"], &[]]), says(&[]));
    assert_eq!(got(&[]), says(&[]));
    let missing = got(&[&["a"], &["a", "nowhere"]]).unwrap_err();
    assert_eq!(
        missing,
        "nothing was sent: this call needs a credential for the scheme `a` or the scheme `a` and \
         the scheme `nowhere` (which the document does not describe), and the configuration has \
         none. Do not repeat it; tell the user to add it under `auth` of this source"
    );
    let all = keyring(&schemes, &[("*", key("k")), ("b", key("own"))]);
    assert_eq!(
        written(&all, &[&["a", "b", "c"]], &local),
        says(&["authorization: Bearer k", "b: own", "c: k"])
    );
    let operations = [operation(&[&["a"]]), operation(&[&["b"]]), operation(&[&["a"], &[]])];
    assert_eq!(some.unmet(operations.iter()), ["a"]);
}

#[test]
fn a_document_that_forgets_to_ask_is_shown_the_credential_for_all() {
    let local = Caller::local();
    let bearer = [("*", Credential::Bearer(secret("t")))];
    let silent = |schemes: &[(&str, SecurityScheme)], credentials: &[(&str, Credential)]| {
        let keyring = Keyring { is_silent: true, ..keyring(schemes, credentials) };
        written(&keyring, &[], &local).unwrap()
    };
    assert_eq!(silent(&[], &bearer), ["authorization: Bearer t"]);
    assert_eq!(silent(&[("k", key(Place::Header, "X"))], &bearer), ["x: t"]);
    assert!(silent(&[], &[("named", Credential::Bearer(secret("t")))]).is_empty());
    assert!(written(&keyring(&[], &bearer), &[], &local).unwrap().is_empty());
}

#[test]
fn every_caller_has_its_own_credential_or_is_refused() {
    let each = [("t/ann", "ka"), ("t/bob", "kb"), ("ann", "kl"), ("t/x/y", "kx")]
        .map(|(name, key)| (name.to_owned(), Credential::Bearer(secret(key))));
    let credentials = [
        ("a", Credential::PerCaller(each.into_iter().collect())),
        ("b", Credential::Key(secret("shared"))),
    ];
    let keyring =
        keyring(&[("a", SecurityScheme::Bearer), ("b", key(Place::Header, "b"))], &credentials);
    let of = |tenant: &str, subject: &str| {
        written(&keyring, &[&["a"], &["b"], &[]], &Caller::new(tenant, subject))
    };
    let got = |subject: &str| of("t", subject);
    assert_eq!(got("ann").unwrap(), ["authorization: Bearer ka"]);
    assert_eq!(got("bob").unwrap(), ["authorization: Bearer kb"]);
    assert_eq!(got("x/y").unwrap(), ["authorization: Bearer kx"]);
    assert_eq!(of("local", "ann").unwrap(), ["authorization: Bearer kl"]);
    let others = [
        ("t", "eve"),
        ("other", "ann"),
        ("", "ann"),
        ("", "t/ann"),
        ("local", "bob"),
        // Who reads like another is not the other.
        ("local", "t/ann"),
        ("t/x", "y"),
    ];
    for (tenant, subject) in others {
        let refused = of(tenant, subject).unwrap_err();
        assert!(refused.contains("this one has none"), "{tenant} {subject}: {refused}");
    }
}

#[test]
fn a_broken_secret_is_told_without_showing_it() {
    let keyring = keyring(
        &[("a", SecurityScheme::Bearer)],
        &[("a", Credential::Bearer(secret("x\nSECRET")))],
    );
    let refused = written(&keyring, &[&["a"]], &Caller::local()).unwrap_err();
    assert!(refused.contains("has a line break") && !refused.contains("SECRET"), "{refused}");
}
