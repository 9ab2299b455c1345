//! Issuers of signed tokens: addresses that nobody between can change, and tenants of their own.

use toolcrib_auth::IssuerSettings;

use super::ConfigChecker;
use crate::file::toml_path::TomlPath;
use crate::raw;

/// As many as an organisation has, and more.
const MOST: usize = 32;

impl ConfigChecker<'_, '_, '_> {
    pub(super) fn issuers(
        &mut self,
        raw: &[raw::IssuerTable],
        place: &TomlPath,
    ) -> Vec<IssuerSettings> {
        if raw.len() > MOST {
            let message = format!("there are more than {MOST} issuers");
            self.problem(place, message, "take out those that nobody uses");
            return Vec::new();
        }
        let mut issuers: Vec<IssuerSettings> = Vec::new();
        for (index, issuer) in raw.iter().enumerate() {
            let place = place.index(index);
            let Some(issuer) = self.issuer(issuer, &place) else { continue };
            if issuers.iter().any(|other| other.name == issuer.name) {
                self.problem(&place.key("url"), "this issuer is there twice", "remove one");
            } else if issuers.iter().any(|other| other.tenant == issuer.tenant) {
                let message = "each of two issuers of one tenant could speak for the callers of the \
                               other";
                let cure = "give each a `tenant` of its own";
                self.problem(&place, message, cure);
            }
            issuers.push(issuer);
        }
        issuers
    }

    fn issuer(&mut self, raw: &raw::IssuerTable, place: &TomlPath) -> Option<IssuerSettings> {
        let url = self.url(&raw.url, &place.key("url"));
        let jwks = raw.jwks.as_ref().map(|text| self.url(text, &place.key("jwks")));
        if url.as_ref().is_some_and(|url| url.query().is_some() || url.fragment().is_some()) {
            let cure = "leave out what follows `?` and `#`";
            self.problem(&place.key("url"), "this cannot name an issuer", cure);
        }
        for (url, key) in [(url.as_ref(), "url"), (jwks.iter().flatten().next(), "jwks")] {
            self.in_the_open(url, true, &place.key(key));
        }
        let network = self.network(&raw.private, &place.key("private"));
        let tenant = self.tenant(raw.tenant.as_deref(), &place.key("tenant"));
        self.scopes(&raw.scopes, &place.key("scopes"));
        let mut claim = |text: &Option<String>, key: &str| {
            if text.as_ref().is_some_and(String::is_empty) {
                let cure = "name one, as in `org_id`";
                self.problem(&place.key(key), "this is no name of a claim", cure);
            }
            text.clone()
        };
        let tenant_claim = claim(&raw.tenant_claim, "tenant_claim");
        let subject_claim = claim(&raw.subject_claim, "subject_claim");
        let scope_claim = claim(&raw.scope_claim, "scope_claim");
        Some(IssuerSettings {
            name: raw.url.clone(),
            url: url?,
            jwks: match jwks {
                Some(jwks) => Some(jwks?),
                None => None,
            },
            network,
            tenant,
            tenant_claim,
            subject_claim: subject_claim.unwrap_or_else(|| "sub".to_owned()),
            scope_claim: scope_claim.unwrap_or_else(|| "scope".to_owned()),
            scopes: raw.scopes.clone(),
            untyped: raw.untyped.unwrap_or(false),
            document: IssuerSettings::DOCUMENT,
        })
    }
}
