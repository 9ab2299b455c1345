//! Tokens: RFC 6749 with PKCE, as Google gives them to desktop clients.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ring::digest;
use serde_json::{Value, json};
use url::{Url, form_urlencoded};

use super::http::{GoogleHttpRequest, GoogleHttpResponse};
use super::reply::put;
use super::{CLIENT, CLIENT_SECRET, REFRESH_TOKEN};

pub(super) struct FakeTokens {
    /// Access tokens, and when they end.
    access: HashMap<String, Instant>,
    refresh: Vec<String>,
    /// Codes, each with its challenge and the address that it was sent to.
    codes: HashMap<String, (String, String)>,
    pub(super) life: u64,
    pub(super) rotates: bool,
    pub(super) given: usize,
}

fn denied(error: &str) -> GoogleHttpResponse {
    GoogleHttpResponse::of(
        400,
        &json!({ "error": error, "error_description": "as the standard says" }),
    )
}

impl FakeTokens {
    pub(super) fn new() -> Self {
        let refresh = vec![REFRESH_TOKEN.to_owned()];
        let (access, codes) = (HashMap::new(), HashMap::new());
        Self { access, refresh, codes, life: 3600, rotates: false, given: 0 }
    }

    pub(super) fn expire(&mut self) {
        self.access.clear();
    }

    pub(super) fn revoke(&mut self) {
        self.refresh.clear();
        self.access.clear();
    }

    pub(super) fn is_let_in(&self, asked: &GoogleHttpRequest) -> bool {
        let token = asked.header("authorization").and_then(|it| it.strip_prefix("Bearer "));
        let end = token.and_then(|token| self.access.get(token));
        end.is_some_and(|end| *end > Instant::now())
    }

    pub(super) fn authorize(&mut self, asked: &GoogleHttpRequest) -> GoogleHttpResponse {
        let pair = |name: &str| {
            let found = asked.pairs.iter().find(|(own, _)| own == name);
            found.map_or("", |(_, value)| value.as_str())
        };
        let is_right = pair("response_type") == "code"
            && pair("client_id") == CLIENT
            && pair("code_challenge_method") == "S256"
            && pair("access_type") == "offline"
            && pair("scope").contains("https://www.googleapis.com/auth/calendar");
        let redirect = Url::parse(pair("redirect_uri")).ok().filter(|_| is_right);
        let Some(mut redirect) = redirect else { return denied("invalid_request") };
        let code = format!("code-{}", self.codes.len());
        let kept = (pair("code_challenge").to_owned(), pair("redirect_uri").to_owned());
        self.codes.insert(code.clone(), kept);
        redirect.query_pairs_mut().append_pair("state", pair("state")).append_pair("code", &code);
        let headers = vec![("Location".to_owned(), redirect.to_string())];
        GoogleHttpResponse { status: 302, headers, body: Vec::new() }
    }

    pub(super) fn token(&mut self, asked: &GoogleHttpRequest) -> GoogleHttpResponse {
        let form: HashMap<String, String> =
            form_urlencoded::parse(&asked.body).into_owned().collect();
        let field = |name: &str| form.get(name).map_or("", String::as_str);
        if field("client_id") != CLIENT || field("client_secret") != CLIENT_SECRET {
            return denied("invalid_client");
        }
        match field("grant_type") {
            "refresh_token" => {
                let token = field("refresh_token");
                let Some(place) = self.refresh.iter().position(|own| own == token) else {
                    return denied("invalid_grant");
                };
                if self.rotates {
                    self.refresh.remove(place);
                }
                let next = self.rotates.then(|| self.next());
                self.give(next)
            }
            "authorization_code" => {
                let Some((challenge, redirect)) = self.codes.remove(field("code")) else {
                    return denied("invalid_grant");
                };
                let digest = digest::digest(&digest::SHA256, field("code_verifier").as_bytes());
                let is_ours = BASE64_URL_SAFE_NO_PAD.encode(digest) == challenge
                    && field("redirect_uri") == redirect;
                if !is_ours {
                    return denied("invalid_grant");
                }
                let next = self.next();
                self.give(Some(next))
            }
            _ => denied("unsupported_grant_type"),
        }
    }

    fn next(&mut self) -> String {
        let token = format!("refresh-token-of-anna-next-{}", self.given);
        self.refresh.push(token.clone());
        token
    }

    fn give(&mut self, refresh: Option<String>) -> GoogleHttpResponse {
        self.given += 1;
        let token = format!("access-token-of-anna-{}", self.given);
        self.access.insert(token.clone(), Instant::now() + Duration::from_secs(self.life));
        let mut given =
            json!({ "access_token": token, "expires_in": self.life, "token_type": "Bearer" });
        if let Some(refresh) = refresh {
            put(&mut given, "refresh_token", Value::String(refresh));
        }
        GoogleHttpResponse::of(200, &given)
    }
}
