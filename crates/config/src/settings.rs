//! What a source is made of: with references in it, and with the secrets filled in.

mod desk;
pub(crate) mod embedder;
pub(crate) mod observability;

use indexmap::IndexMap;
use toolcrib_core::Secret;
use toolcrib_mcp::{Authorization, ServerSettings, Transport};
use toolcrib_openapi::{ApiSettings, Credential};
use url::Url;

pub(crate) use self::desk::{CalDav, Desk, Google, MailServers};
pub use self::desk::{CalDavAccount, DeskSettings, GoogleAccount, MailAccount, Parts};
use crate::secrets::literal_secret;
use crate::secrets::template::{Found, Lookup, Template, Unresolved};

/// A kind of source as the file says it.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Mcp(Box<Server>),
    OpenApi(Box<Api>),
    /// The names of the built-in tools.
    Basics(Vec<String>),
    Desk(Box<Desk>),
}

/// An MCP server whose secrets stand beside it.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    /// All that is no secret.
    pub(crate) plain: ServerSettings,
    pub(crate) environment: Vec<(String, Template)>,
    pub(crate) headers: Vec<(String, Template)>,
    pub(crate) bearer: Option<Template>,
    pub(crate) client_secret: Option<Template>,
}

/// An API whose secrets stand beside it.
#[derive(Debug, Clone)]
pub(crate) struct Api {
    /// All that is no secret.
    pub(crate) plain: ApiSettings,
    pub(crate) headers: Vec<(String, Template)>,
    pub(crate) credentials: IndexMap<String, Login>,
}

/// One way to say who we are.
#[derive(Debug, Clone)]
pub(crate) enum Login {
    Bearer(Template),
    Basic {
        user: Template,
        password: Template,
    },
    Key(Template),
    ClientCredentials {
        token_url: Option<Url>,
        client_id: String,
        client_secret: Template,
        scopes: Vec<String>,
    },
    PerCaller(IndexMap<String, Login>),
}

/// A kind of source with its secrets. Two that are equal are one and the same source.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Settings {
    Mcp(Box<ServerSettings>),
    OpenApi(Box<ApiSettings>),
    Basics(Vec<String>),
    Desk(Box<DeskSettings>),
}

impl Kind {
    /// The program and its arguments, if it is one.
    pub(crate) fn command(&self) -> Option<Vec<String>> {
        let Self::Mcp(server) = self else { return None };
        match &server.plain.transport {
            Transport::Stdio(stdio) => {
                let program = stdio.command.to_string_lossy().into_owned();
                Some(std::iter::once(program).chain(stdio.arguments.iter().cloned()).collect())
            }
            Transport::Http(_) => None,
        }
    }

    /// Fills the secrets in and tells which they are, or every reference that leads to nothing.
    pub(crate) fn resolve(
        &self,
        lookup: &dyn Lookup,
    ) -> Result<(Settings, Vec<Secret>), Vec<Unresolved>> {
        let mut found = Found::default();
        let settings = match self {
            Self::Mcp(server) => Settings::Mcp(Box::new(server.resolve(lookup, &mut found))),
            Self::OpenApi(api) => Settings::OpenApi(Box::new(api.resolve(lookup, &mut found))),
            Self::Basics(names) => Settings::Basics(names.clone()),
            Self::Desk(desk) => Settings::Desk(Box::new(desk.resolve(lookup, &mut found))),
        };
        if found.missing.is_empty() { Ok((settings, found.secrets)) } else { Err(found.missing) }
    }
}

impl Server {
    fn resolve(&self, lookup: &dyn Lookup, found: &mut Found) -> ServerSettings {
        let mut settings = self.plain.clone();
        match &mut settings.transport {
            Transport::Stdio(stdio) => {
                stdio.environment = pairs(&self.environment, lookup, found);
            }
            Transport::Http(http) => {
                http.headers = pairs(&self.headers, lookup, found);
                if let Some(bearer) = &self.bearer {
                    http.authorization = Authorization::Bearer(bearer.secret(lookup, found));
                }
                if let Authorization::OAuth(oauth) = &mut http.authorization {
                    let secret = self.client_secret.as_ref();
                    oauth.client_secret = secret.map(|secret| secret.secret(lookup, found));
                }
            }
        }
        settings
    }
}

impl Api {
    fn resolve(&self, lookup: &dyn Lookup, found: &mut Found) -> ApiSettings {
        let mut settings = self.plain.clone();
        settings.headers = pairs(&self.headers, lookup, found);
        settings.credentials = credentials(&self.credentials, lookup, found);
        settings.secrets.clone_from(&found.secrets);
        settings
    }
}

impl Login {
    fn resolve(&self, lookup: &dyn Lookup, found: &mut Found) -> Credential {
        match self {
            Self::Bearer(token) => Credential::Bearer(token.secret(lookup, found)),
            Self::Key(key) => Credential::Key(key.secret(lookup, found)),
            Self::Basic { user, password } => {
                // A name that is written out is no secret.
                let user = user.resolve(lookup, found);
                Credential::Basic { user, password: password.secret(lookup, found) }
            }
            Self::ClientCredentials { token_url, client_id, client_secret, scopes } => {
                Credential::ClientCredentials {
                    token_url: token_url.clone(),
                    client_id: client_id.clone(),
                    client_secret: client_secret.secret(lookup, found),
                    scopes: scopes.clone(),
                }
            }
            Self::PerCaller(logins) => Credential::PerCaller(credentials(logins, lookup, found)),
        }
    }
}

fn credentials(
    logins: &IndexMap<String, Login>,
    lookup: &dyn Lookup,
    found: &mut Found,
) -> IndexMap<String, Credential> {
    logins.iter().map(|(name, login)| (name.clone(), login.resolve(lookup, found))).collect()
}

pub(crate) fn pairs(
    templates: &[(String, Template)],
    lookup: &dyn Lookup,
    found: &mut Found,
) -> Vec<(String, Secret)> {
    let filled = |(name, text): &(String, Template)| {
        let is_secret = text.literal().is_some_and(|text| literal_secret::looks_secret(name, text));
        let fill = if is_secret { Template::secret } else { Template::resolve };
        (name.clone(), fill(text, lookup, found))
    };
    templates.iter().map(filled).collect()
}
