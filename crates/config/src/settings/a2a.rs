//! A remote agent whose secrets stand beside it.

use toolcrib_a2a_client::{A2aCredential, A2aSettings};
use toolcrib_core::Secret;

use crate::secrets::template::{SecretLookup, Template, TemplateResolution};

#[derive(Debug, Clone)]
pub(crate) struct A2aTemplate {
    /// All that is no secret.
    pub(crate) plain: A2aSettings,
    pub(crate) headers: Vec<(String, Template)>,
    pub(crate) credential: Option<A2aCredentialTemplate>,
}

/// One way to say who we are.
#[derive(Debug, Clone)]
pub(crate) enum A2aCredentialTemplate {
    Bearer(Template),
    Basic { user: String, password: Template },
    Key(Template),
}

impl A2aTemplate {
    /// `headers`: with what is secret of them filled in.
    pub(crate) fn resolve(
        &self,
        headers: Vec<(String, Secret)>,
        lookup: &dyn SecretLookup,
        found: &mut TemplateResolution,
    ) -> A2aSettings {
        let credential = self.credential.as_ref().map(|credential| match credential {
            A2aCredentialTemplate::Bearer(token) => {
                A2aCredential::Bearer(token.secret(lookup, found))
            }
            A2aCredentialTemplate::Basic { user, password } => A2aCredential::Basic {
                user: user.clone(),
                password: password.secret(lookup, found),
            },
            A2aCredentialTemplate::Key(key) => A2aCredential::Key(key.secret(lookup, found)),
        });
        A2aSettings { headers, credential, ..self.plain.clone() }
    }

    /// What of it is secret.
    pub(crate) fn templates(&self) -> impl Iterator<Item = &Template> {
        let own = self.credential.iter().map(|credential| match credential {
            A2aCredentialTemplate::Bearer(text)
            | A2aCredentialTemplate::Key(text)
            | A2aCredentialTemplate::Basic { password: text, .. } => text,
        });
        self.headers.iter().map(|(_, text)| text).chain(own)
    }
}
