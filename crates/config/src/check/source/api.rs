//! One API.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use toolcrib_core::Effect;
use toolcrib_openapi::{ApiBounds, ApiSettings, DocumentLocation, Grouping};

use crate::check::ConfigChecker;
use crate::file::toml_path::TomlPath;
use crate::raw::{self, AuthTable, ClientCredentialsTable};
use crate::settings::{ApiTemplate, CredentialTemplate};

/// The largest document that may be set: while it is read it takes some ten times its size.
const LARGEST_DOCUMENT: usize = 256 << 20;

/// The name that stands for every security scheme of a document.
const ALL: &str = "*";

impl ConfigChecker<'_, '_, '_> {
    pub(crate) fn api(
        &mut self,
        raw: &raw::OpenApiTable,
        grouping: Grouping,
        place: &TomlPath,
    ) -> Option<ApiTemplate> {
        let document = self.description(&raw.document, &place.key("document"));
        let base = raw.base_url.as_ref();
        let base_url = base.and_then(|url| self.url(url, &place.key("base_url")));
        let is_signed = raw.auth.is_some() || !raw.headers.is_empty();
        self.in_the_open(base_url.as_ref(), is_signed, &place.key("base_url"));
        let network = self.network(&raw.private, &place.key("private"));
        let headers = self.headers(&raw.headers, &place.key("headers"));
        let place_of_auth = place.key("auth");
        let credentials = match &raw.auth {
            Some(auth) => self.credentials(auth, &place_of_auth),
            None => IndexMap::new(),
        };
        let timeout = self.timeout(raw.timeout.as_ref(), &place.key("timeout"));
        let largest = self.size(raw.max_response.as_ref(), &place.key("max_response"));
        let bounds = self.api_bounds(&raw.limits, &place.key("limits"));
        if let Some(header) = &raw.idempotency_header {
            let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
            if header.is_empty() || !header.bytes().all(letter) {
                let cure = "use letters, digits and `-`, as in `Idempotency-Key`";
                self.problem(&place.key("idempotency_header"), "this cannot name a header", cure);
            }
        }
        if raw.idempotency_header.is_none() && !raw.resend.is_empty() {
            let message = "nothing tells a repetition from a second call";
            let cure = "name the `idempotency_header` of this API, or leave `resend` out";
            self.problem(&place.key("resend"), message, cure);
        }
        let effects = raw.effects.iter().map(|(name, word)| (name.clone(), Effect::from(*word)));
        let mut plain = ApiSettings {
            base_url,
            network,
            remote_references: raw.remote_references,
            grouping,
            generic_request: raw.generic_request,
            idempotency_header: raw.idempotency_header.clone(),
            resend: raw.resend.clone(),
            trace_context: raw.trace_context,
            effects: effects.collect(),
            bounds,
            ..ApiSettings::new(document?)
        };
        plain.timeout = timeout.unwrap_or(plain.timeout);
        let largest = largest.and_then(|size| u64::try_from(size).ok());
        plain.max_response_bytes = largest.unwrap_or(plain.max_response_bytes);
        Some(ApiTemplate { plain, headers, credentials })
    }

    fn api_bounds(&mut self, raw: &raw::ApiLimitsTable, place: &TomlPath) -> ApiBounds {
        let default = ApiBounds::default();
        let document = self.size(raw.document.as_ref(), &place.key("document"));
        let document = document.unwrap_or(default.document);
        if document > LARGEST_DOCUMENT {
            let message = "reading a document takes ten times its size of memory";
            self.problem(&place.key("document"), message, "write `256MiB` or less");
        }
        ApiBounds { document, ..default }
    }

    fn description(&mut self, text: &str, place: &TomlPath) -> Option<DocumentLocation> {
        if text.contains("://") {
            return self.url(text, place).map(DocumentLocation::Address);
        }
        let path = self.path(text, place)?;
        self.needs_file(&path, place);
        Some(DocumentLocation::File(path))
    }

    fn credentials(
        &mut self,
        auth: &AuthTable,
        place: &TomlPath,
    ) -> IndexMap<String, CredentialTemplate> {
        if auth.schemes.is_empty() {
            return self
                .login(auth, place)
                .map(|login| (ALL.to_owned(), login))
                .into_iter()
                .collect();
        }
        let place_of_schemes = place.key("schemes");
        if self.ways(auth, place) > 1 {
            let message = "beside `schemes` nothing else says who we are";
            let cure = "move the rest into `schemes`, `\"*\"` for every other scheme";
            self.problem(place, message, cure);
        }
        let mut logins = IndexMap::new();
        for (name, auth) in &auth.schemes {
            let place = place_of_schemes.key(name);
            if let Some(login) = self.login(auth, &place) {
                logins.insert(name.clone(), login);
            }
        }
        logins
    }

    /// One way to say who we are; `None` if that is not right.
    fn login(&mut self, auth: &AuthTable, place: &TomlPath) -> Option<CredentialTemplate> {
        match self.ways(auth, place) {
            1 => {}
            0 => {
                let cure = "add `bearer`, `basic`, `key`, `client_credentials` or `per_caller`";
                self.problem(place, "this does not say who we are", cure);
                return None;
            }
            _ => {
                self.problem(place, "this says twice who we are", "keep one of them");
                return None;
            }
        }
        if !auth.schemes.is_empty() {
            let message = "schemes cannot stand within schemes";
            self.problem(&place.key("schemes"), message, "move them up");
            return None;
        }
        if let Some(token) = &auth.bearer {
            return self.template(token, &place.key("bearer")).map(CredentialTemplate::Bearer);
        }
        if let Some(key) = &auth.key {
            return self.template(key, &place.key("key")).map(CredentialTemplate::Key);
        }
        if let Some(basic) = &auth.basic {
            let place = place.key("basic");
            let user = self.template(&basic.user, &place.key("user"));
            let password = self.template(&basic.password, &place.key("password"))?;
            return Some(CredentialTemplate::Basic { user: user?, password });
        }
        if let Some(grant) = &auth.client_credentials {
            return self.grant(grant, &place.key("client_credentials"));
        }
        Some(self.per_caller(&auth.per_caller, &place.key("per_caller")))
    }

    fn grant(
        &mut self,
        grant: &ClientCredentialsTable,
        place: &TomlPath,
    ) -> Option<CredentialTemplate> {
        let token_url = match &grant.token_url {
            Some(url) => Some(self.url(url, &place.key("token_url"))?),
            None => None,
        };
        Some(CredentialTemplate::ClientCredentials {
            token_url,
            client_id: grant.client_id.clone(),
            client_secret: self.template(&grant.client_secret, &place.key("client_secret"))?,
            scopes: grant.scopes.clone(),
        })
    }

    fn per_caller(
        &mut self,
        callers: &BTreeMap<String, AuthTable>,
        place: &TomlPath,
    ) -> CredentialTemplate {
        let mut logins = IndexMap::new();
        for (subject, auth) in callers {
            let place = place.key(subject);
            if !auth.per_caller.is_empty() {
                let message = "a caller has no callers";
                self.problem(&place.key("per_caller"), message, "move them up");
                continue;
            }
            if let Some(login) = self.login(auth, &place) {
                logins.insert(subject.clone(), login);
            }
        }
        // Without anybody in it, it still refuses everybody: that is what it says.
        CredentialTemplate::PerCaller(logins)
    }

    /// How many ways the file names at a place; some of them may have been left out as wrong.
    fn ways(&self, auth: &AuthTable, place: &TomlPath) -> usize {
        let schemes = usize::from(!auth.schemes.is_empty());
        let keys = ["bearer", "basic", "key", "client_credentials", "per_caller"];
        schemes + keys.iter().filter(|key| self.document().has(&place.key(key))).count()
    }
}
