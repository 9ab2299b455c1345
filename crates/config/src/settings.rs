//! Settings with references in them, and with the secrets filled in.

pub(crate) mod a2a;
pub(crate) mod agents;
pub(crate) mod cluster;
mod desk;
pub(crate) mod embedder;
pub(crate) mod listener;
pub(crate) mod observability;
pub(crate) mod server_limits;

use indexmap::IndexMap;
use toolcrib_a2a_client::A2aSettings;
use toolcrib_core::{Secret, ToolSpec};
use toolcrib_mcp::{HttpAuthorization, McpSourceSettings, McpTransport};
use toolcrib_openapi::{ApiSettings, Credential};
use url::Url;

pub(crate) use self::a2a::{A2aCredentialTemplate, A2aTemplate};
pub use self::desk::{CalDavAccount, DeskParts, DeskSettings, GoogleAccount, MailAccount};
pub(crate) use self::desk::{CalDavTemplate, DeskTemplate, GoogleTemplate, MailTemplate};
use crate::secrets::literal_secret;
use crate::secrets::template::{SecretLookup, Template, TemplateResolution, UnresolvedReference};

/// A kind of source as the file says it.
#[derive(Debug, Clone)]
pub(crate) enum SourceTemplate {
    Mcp(Box<McpServerTemplate>),
    OpenApi(Box<ApiTemplate>),
    A2a(Box<A2aTemplate>),
    /// The names of the built-in tools.
    Basics(Vec<String>),
    Desk(Box<DeskTemplate>),
    /// Tools that the provider of a model runs.
    Builtin(Vec<ToolSpec>),
}

/// An MCP server whose secrets stand beside it.
#[derive(Debug, Clone)]
pub(crate) struct McpServerTemplate {
    /// All that is no secret.
    pub(crate) plain: McpSourceSettings,
    pub(crate) environment: Vec<(String, Template)>,
    pub(crate) headers: Vec<(String, Template)>,
    pub(crate) bearer: Option<Template>,
    pub(crate) client_secret: Option<Template>,
}

/// An API whose secrets stand beside it.
#[derive(Debug, Clone)]
pub(crate) struct ApiTemplate {
    /// All that is no secret.
    pub(crate) plain: ApiSettings,
    pub(crate) headers: Vec<(String, Template)>,
    pub(crate) credentials: IndexMap<String, CredentialTemplate>,
}

/// One way to say who we are.
#[derive(Debug, Clone)]
pub(crate) enum CredentialTemplate {
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
    PerCaller(IndexMap<String, CredentialTemplate>),
}

/// A kind of source with its secrets. Two that are equal are one and the same source.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SourceSettings {
    Mcp(Box<McpSourceSettings>),
    OpenApi(Box<ApiSettings>),
    A2a(Box<A2aSettings>),
    Basics(Vec<String>),
    Desk(Box<DeskSettings>),
    Builtin(Vec<ToolSpec>),
}

impl SourceTemplate {
    /// The program and its arguments, if it is one.
    pub(crate) fn command(&self) -> Option<Vec<String>> {
        let Self::Mcp(server) = self else { return None };
        match &server.plain.transport {
            McpTransport::Stdio(stdio) => {
                let program = stdio.command.to_string_lossy().into_owned();
                Some(std::iter::once(program).chain(stdio.arguments.iter().cloned()).collect())
            }
            McpTransport::Http(_) => None,
        }
    }

    /// Fills the secrets in and tells which they are, or every reference that leads to nothing.
    pub(crate) fn resolve(
        &self,
        lookup: &dyn SecretLookup,
    ) -> Result<(SourceSettings, Vec<Secret>), Vec<UnresolvedReference>> {
        let mut found = TemplateResolution::default();
        let settings = match self {
            Self::Mcp(server) => SourceSettings::Mcp(Box::new(server.resolve(lookup, &mut found))),
            Self::OpenApi(api) => {
                SourceSettings::OpenApi(Box::new(api.resolve(lookup, &mut found)))
            }
            Self::A2a(agent) => {
                let headers = pairs(&agent.headers, lookup, &mut found);
                SourceSettings::A2a(Box::new(agent.resolve(headers, lookup, &mut found)))
            }
            Self::Basics(names) => SourceSettings::Basics(names.clone()),
            Self::Builtin(specs) => SourceSettings::Builtin(specs.clone()),
            Self::Desk(desk) => SourceSettings::Desk(Box::new(desk.resolve(lookup, &mut found))),
        };
        if found.missing.is_empty() { Ok((settings, found.secrets)) } else { Err(found.missing) }
    }
}

impl McpServerTemplate {
    fn resolve(
        &self,
        lookup: &dyn SecretLookup,
        found: &mut TemplateResolution,
    ) -> McpSourceSettings {
        let mut settings = self.plain.clone();
        match &mut settings.transport {
            McpTransport::Stdio(stdio) => {
                stdio.environment = pairs(&self.environment, lookup, found);
            }
            McpTransport::Http(http) => {
                http.headers = pairs(&self.headers, lookup, found);
                if let Some(bearer) = &self.bearer {
                    http.authorization = HttpAuthorization::Bearer(bearer.secret(lookup, found));
                }
                if let HttpAuthorization::OAuth(oauth) = &mut http.authorization {
                    let secret = self.client_secret.as_ref();
                    oauth.client_secret = secret.map(|secret| secret.secret(lookup, found));
                }
            }
        }
        settings
    }
}

impl ApiTemplate {
    fn resolve(&self, lookup: &dyn SecretLookup, found: &mut TemplateResolution) -> ApiSettings {
        let mut settings = self.plain.clone();
        settings.headers = pairs(&self.headers, lookup, found);
        settings.credentials = credentials(&self.credentials, lookup, found);
        settings.secrets.clone_from(&found.secrets);
        settings
    }
}

impl CredentialTemplate {
    fn resolve(&self, lookup: &dyn SecretLookup, found: &mut TemplateResolution) -> Credential {
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
    logins: &IndexMap<String, CredentialTemplate>,
    lookup: &dyn SecretLookup,
    found: &mut TemplateResolution,
) -> IndexMap<String, Credential> {
    logins.iter().map(|(name, login)| (name.clone(), login.resolve(lookup, found))).collect()
}

pub(crate) fn pairs(
    templates: &[(String, Template)],
    lookup: &dyn SecretLookup,
    found: &mut TemplateResolution,
) -> Vec<(String, Secret)> {
    let filled = |(name, text): &(String, Template)| {
        let is_secret = text.literal().is_some_and(|text| literal_secret::looks_secret(name, text));
        let fill = if is_secret { Template::secret } else { Template::resolve };
        (name.clone(), fill(text, lookup, found))
    };
    templates.iter().map(filled).collect()
}
