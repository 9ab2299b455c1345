//! Who we are at an API: which credentials a call needs, and where each of them goes.

mod grant;
mod placement;

use http::StatusCode;
use indexmap::IndexMap;
use toolcrib_core::{Caller, Secret, ToolError};

pub(crate) use self::grant::{ApiEgress, ClientGrant, GrantCache, IssuedToken};
use crate::document::SecurityScheme;
use crate::operation::ApiOperation;
use crate::request::RequestDraft;
use crate::settings::Credential;
use placement::{fits, present};

/// The credential that is for all schemes.
const ALL: &str = "*";

/// The credentials of one API beside the schemes that ask for them.
#[derive(Debug)]
pub(crate) struct Keyring {
    pub(crate) schemes: IndexMap<String, SecurityScheme>,
    pub(crate) credentials: IndexMap<String, Credential>,
    /// No operation of the document asks for anything, which many forget to write: then the
    /// credential for all schemes goes with every call.
    pub(crate) is_silent: bool,
}

/// What a call shows to be let in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChosenCredential {
    /// Which of the schemes, for errors.
    pub(crate) scheme: String,
    scheme_kind: SecurityScheme,
    credential: Credential,
}

impl Keyring {
    /// What an operation needs of this caller: all schemes of the first alternative for which
    /// every scheme has a credential. An alternative that asks for nothing is the last choice, so
    /// that a credential that was given is used.
    ///
    /// Which alternative it is does not depend on the caller: one who has no credential of its own
    /// is refused, and not let in as somebody else.
    pub(crate) fn choose(
        &self,
        operation: &ApiOperation,
        caller: &Caller,
    ) -> Result<Vec<ChosenCredential>, ToolError> {
        let mut asked: Vec<&Vec<String>> = operation.security.iter().collect();
        asked.sort_by_key(|schemes| schemes.is_empty());
        if asked.is_empty() {
            return self.unasked(caller);
        }
        let has_all =
            |schemes: &&&Vec<String>| schemes.iter().all(|name| self.find(name).is_some());
        match asked.iter().find(has_all) {
            Some(schemes) => schemes.iter().map(|name| self.shown(name, caller)).collect(),
            None => Err(self.missing(&asked)),
        }
    }

    /// Schemes for which there is no credential although some operation cannot do without: named
    /// once each, in the order of the document.
    pub(crate) fn unmet<'a>(
        &self,
        operations: impl Iterator<Item = &'a ApiOperation>,
    ) -> Vec<String> {
        let mut unmet = Vec::new();
        for operation in operations {
            let is_met =
                |schemes: &Vec<String>| schemes.iter().all(|name| self.find(name).is_some());
            if operation.security.is_empty() || operation.security.iter().any(is_met) {
                continue;
            }
            for name in operation.security.iter().flatten() {
                if self.find(name).is_none() && !unmet.contains(name) {
                    unmet.push(name.clone());
                }
            }
        }
        unmet
    }

    /// Names of credentials that no scheme has.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = &String> {
        self.credentials.keys().filter(|name| *name != ALL && !self.schemes.contains_key(*name))
    }

    /// Schemes whose token is asked from where the document says.
    pub(crate) fn document_token_servers(&self) -> impl Iterator<Item = (&String, &String)> {
        self.schemes.iter().filter_map(|(name, scheme)| {
            let (_, credential) = self.find(name)?;
            match (scheme, credential) {
                (
                    SecurityScheme::OAuth { token_url: Some(url), .. },
                    Credential::ClientCredentials { token_url: None, .. },
                ) => Some((name, url)),
                _ => None,
            }
        })
    }

    fn find(&self, name: &str) -> Option<(&SecurityScheme, &Credential)> {
        let scheme = self.schemes.get(name)?;
        let credential = self.credentials.get(name).or_else(|| self.credentials.get(ALL))?;
        fits(scheme, credential).then_some((scheme, credential))
    }

    fn unasked(&self, caller: &Caller) -> Result<Vec<ChosenCredential>, ToolError> {
        let Some(credential) = self.credentials.get(ALL).filter(|_| self.is_silent) else {
            return Ok(Vec::new());
        };
        // A document that asks for nothing may still say what a key is called.
        let scheme = self.schemes.iter().find(|(_, scheme)| fits(scheme, credential));
        let (name, scheme) =
            scheme.map_or((ALL, SecurityScheme::Bearer), |(name, it)| (name, it.clone()));
        if !fits(&scheme, credential) {
            return Ok(Vec::new());
        }
        Ok(vec![ChosenCredential {
            scheme: name.to_owned(),
            scheme_kind: scheme,
            credential: own(credential, name, caller)?.clone(),
        }])
    }

    fn shown(&self, name: &str, caller: &Caller) -> Result<ChosenCredential, ToolError> {
        let (scheme, credential) = self.find(name).ok_or_else(|| self.missing(&[]))?;
        let credential = own(credential, name, caller)?.clone();
        Ok(ChosenCredential { scheme: name.to_owned(), scheme_kind: scheme.clone(), credential })
    }

    fn missing(&self, asked: &[&Vec<String>]) -> ToolError {
        let mut ways: Vec<String> = asked
            .iter()
            .map(|schemes| {
                let lacking = schemes.iter().filter(|name| self.find(name).is_none());
                lacking.map(|name| self.in_words(name)).collect::<Vec<_>>().join(" and ")
            })
            .collect();
        ways.dedup();
        let message = format!(
            "nothing was sent: this call needs a credential for {}, and the configuration has \
             none. Do not repeat it; tell the user to add it under `auth` of this source",
            ways.join(" or ")
        );
        ToolError::told(message)
    }

    fn in_words(&self, name: &str) -> String {
        match self.schemes.get(name) {
            Some(SecurityScheme::Other(kind)) => {
                format!("the scheme `{name}` (`{kind}`, which is not supported)")
            }
            Some(_) => format!("the scheme `{name}`"),
            None => format!("the scheme `{name}` (which the document does not describe)"),
        }
    }
}

/// The credential of this caller.
fn own<'a>(
    credential: &'a Credential,
    scheme: &str,
    caller: &Caller,
) -> Result<&'a Credential, ToolError> {
    let mut credential = credential;
    while let Credential::PerCaller(each) = credential {
        credential = entry(each, caller).ok_or_else(|| {
            let message = format!(
                "nothing was sent: every caller has a credential of its own for the scheme \
                 `{scheme}`, and this one has none. Do not repeat the call; tell the user to have \
                 one added under `auth` of this source"
            );
            ToolError::told(message)
        })?;
    }
    Ok(credential)
}

/// What the settings have for this caller, and for no other: [`Credential::PerCaller`] has the
/// rule.
fn entry<'a>(each: &'a IndexMap<String, Credential>, caller: &Caller) -> Option<&'a Credential> {
    let Caller { tenant, subject, .. } = caller;
    // With a slash in it, `a/b` of `c` would read as `a` of `b/c`.
    let full = || Some(format!("{tenant}/{subject}")).filter(|_| !tenant.contains('/'));
    let is_bare = *tenant == Caller::local().tenant && !subject.contains('/');
    let named = full().and_then(|name| each.get(&name));
    named.or_else(|| each.get(subject).filter(|_| is_bare))
}

impl ChosenCredential {
    /// The token to ask for first, if there is one.
    pub(crate) fn grant(&self) -> Option<ClientGrant> {
        let Credential::ClientCredentials { token_url, client_id, client_secret, scopes } =
            &self.credential
        else {
            return None;
        };
        let by_document = match &self.scheme_kind {
            SecurityScheme::OAuth { token_url, .. } => token_url.clone(),
            SecurityScheme::Basic
            | SecurityScheme::Bearer
            | SecurityScheme::Key { .. }
            | SecurityScheme::OpenIdConnect { .. }
            | SecurityScheme::Other(_) => None,
        };
        Some(ClientGrant {
            token_url: token_url.clone(),
            by_document,
            client_id: client_id.clone(),
            client_secret: client_secret.clone(),
            scopes: scopes.clone(),
        })
    }

    /// Writes the credential into the request, in place of whatever an argument has put there.
    pub(crate) fn write(
        &self,
        token: Option<&Secret>,
        draft: &mut RequestDraft,
    ) -> Result<(), ToolError> {
        present(&self.scheme_kind, &self.credential, token, draft).map_err(|problem| {
            let scheme = &self.scheme;
            let message = format!(
                "nothing was sent: the credential for the scheme `{scheme}` {problem}. Do not \
                 repeat the call; tell the user to correct it under `auth` of this source"
            );
            ToolError::told(message)
        })
    }
}

/// Whether an answer says that a token is not accepted.
pub(crate) fn is_rejection(status: StatusCode) -> bool {
    status == StatusCode::UNAUTHORIZED
}

#[cfg(test)]
mod tests;
