//! From a document that was read to tools that can be called.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use indexmap::{IndexMap, IndexSet};
use toolcrib_core::{
    Arguments, BoxFuture, CallContext, Mask, Redactor, Secret, SourceError, SourceId, Tool,
    ToolName, ToolOrigin, ToolOutcome, ToolSpec, Toolset,
};
use toolcrib_egress::{Egress, EgressError};
use url::Url;

use super::destinations;
use super::fetch::shown;
use super::generic_request;
use super::report::{ApiReport, BaseUrlSource};
use crate::auth::{ApiEgress, GrantCache, Keyring};
use crate::call::ApiClient;
use crate::document::{ConvertedDocument, DocumentNote};
use crate::operation::ApiOperation;
use crate::server::ApiServer;
use crate::settings::{ApiSettings, Credential, DocumentLocation};

/// What a call may take beyond its request: the gate would else end it before we can say why.
const SLACK: Duration = Duration::from_secs(1);

pub(super) fn build(
    id: &SourceId,
    settings: &ApiSettings,
    read: ConvertedDocument,
    grants: &Arc<GrantCache>,
) -> Result<(Toolset, ApiReport), SourceError> {
    let server = server(settings, &read)?;
    let asks = |(operation, _): &(ApiOperation, ToolSpec)| !operation.security.is_empty();
    let keyring = Keyring {
        is_silent: !read.operations.iter().any(asks),
        schemes: read.schemes,
        credentials: settings.credentials.clone(),
    };
    let tokens = keyring.document_token_servers().map(|(_, url)| url.as_str());
    destinations::check(settings, &server, tokens)?;
    let mut notes = read.report.notes;
    notes.extend(self::notes(&read.operations, &keyring, &server));
    let report = ApiReport {
        title: read.report.title,
        version: read.report.version,
        format: read.report.format,
        base_url: shown(&server.base),
        base_url_by: by(settings),
        operations: read.report.operations,
        refused: read.report.refused,
        notes,
        words: read.report.words,
        credentials_missing: keyring.unmet(read.operations.iter().map(|(operation, _)| operation)),
    };
    let api = Arc::new(api(settings, server, keyring, grants)?);
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    if settings.generic_request {
        let names: IndexSet<&str> = read.requests.iter().map(String::as_str).collect();
        tools.push(generic_tool(id, settings, &api, &names, &report.title)?);
    }
    tools.extend(read.operations.into_iter().map(|(operation, spec)| {
        let spec = owned(spec, id, settings);
        let api = Arc::clone(&api);
        Arc::new(OperationTool { api, operation, spec, is_generic: false }) as Arc<dyn Tool>
    }));
    let toolset = Toolset::of(tools).map_err(|conflict| {
        SourceError::new("two operations of the document have one name").because(conflict)
    })?;
    Ok((toolset, report))
}

/// An operation and the way to call it.
pub(crate) struct OperationTool {
    pub(crate) api: Arc<ApiClient>,
    pub(crate) operation: ApiOperation,
    pub(crate) spec: Arc<ToolSpec>,
    /// Its arguments say what is sent, and the operation is none of the document.
    pub(crate) is_generic: bool,
}

impl Tool for OperationTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn shared_spec(&self) -> Arc<ToolSpec> {
        Arc::clone(&self.spec)
    }

    fn is_nonblocking(&self) -> bool {
        true
    }

    fn honours_idempotency_key(&self) -> bool {
        self.api.idempotency_header.is_some() && self.operation.takes_key
    }

    fn mask(&self) -> Option<&Mask> {
        Some(&self.api.mask)
    }

    fn call<'a>(
        &'a self,
        arguments: Arguments,
        context: &'a CallContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            if !self.is_generic {
                return self.api.call(&self.operation, &arguments, context).await;
            }
            match generic_request::draft(&arguments) {
                Ok(draft) => self.api.send(&self.operation, draft, context).await,
                Err(error) => ToolOutcome::Failed(error),
            }
        })
    }
}

fn owned(mut spec: ToolSpec, id: &SourceId, settings: &ApiSettings) -> Arc<ToolSpec> {
    spec.origin = ToolOrigin { source: id.clone(), ..spec.origin };
    spec.limits.timeout.get_or_insert(settings.timeout.saturating_add(SLACK));
    Arc::new(spec)
}

fn generic_tool(
    id: &SourceId,
    settings: &ApiSettings,
    api: &Arc<ApiClient>,
    taken: &IndexSet<&str>,
    title: &str,
) -> Result<Arc<dyn Tool>, SourceError> {
    let wrong = |error| SourceError::new("the tool for any request has no name").because(error);
    let mut spec = generic_request::spec(title).map_err(wrong)?;
    while taken.contains(spec.name.as_str()) {
        spec.name = ToolName::new(format!("any_{}", spec.name)).map_err(wrong)?;
    }
    let operation = generic_request::operation(api.keyring.schemes.keys());
    let (api, spec) = (Arc::clone(api), owned(spec, id, settings));
    Ok(Arc::new(OperationTool { api, operation, spec, is_generic: true }))
}

fn server(settings: &ApiSettings, read: &ConvertedDocument) -> Result<ApiServer, SourceError> {
    let address = match &settings.document {
        DocumentLocation::Address(address) => Some(address),
        DocumentLocation::File(_) | DocumentLocation::Text(_) => None,
    };
    let first = read.servers.first().map(|server| server.url.as_str());
    ApiServer::choose(settings.base_url.as_ref(), address, first)
}

fn by(settings: &ApiSettings) -> BaseUrlSource {
    if settings.base_url.is_some() { BaseUrlSource::Configuration } else { BaseUrlSource::Document }
}

fn api(
    settings: &ApiSettings,
    server: ApiServer,
    keyring: Keyring,
    grants: &Arc<GrantCache>,
) -> Result<ApiClient, SourceError> {
    let network = || settings.network.clone();
    let refused = |error: EgressError| {
        let message = format!(
            "the API at `{}` may not be called: set `base_url` of this source",
            shown(&server.base)
        );
        SourceError::new(message).because(error)
    };
    let public = Egress::open([], network()).map_err(refused)?;
    let headers_shown = settings.headers.iter().map(|(_, secret)| secret);
    let mut secrets: Vec<Secret> = headers_shown.chain(&settings.secrets).cloned().collect();
    let mut named = Vec::new();
    settings.credentials.values().for_each(|it| gather(it, &mut secrets, &mut named));
    // What only the document names must be public, and stay so with every lookup of its name.
    let way = if server.is_named {
        Egress::only([server.base.clone()], network()).map_err(refused)?
    } else {
        public.clone()
    };
    way.check(&server.base).map_err(refused)?;
    let named = Egress::only(named, network()).map_err(|error| {
        SourceError::new("a `token_url` of this source cannot be reached").because(error)
    })?;
    let idempotency_header = settings.idempotency_header.as_ref();
    Ok(ApiClient {
        ways: ApiEgress { api: way, named, public, bounds: settings.bounds },
        headers: headers(&settings.headers)?,
        trace_context: settings.trace_context,
        idempotency_header: idempotency_header.map(|name| header_name(name)).transpose()?,
        timeout: settings.timeout,
        max_response_bytes: settings.max_response_bytes,
        mask: Mask::new(Redactor::new(secrets), grants.learned().clone()),
        grants: Arc::clone(grants),
        server,
        keyring,
    })
}

fn gather(credential: &Credential, secrets: &mut Vec<Secret>, named: &mut Vec<Url>) {
    match credential {
        Credential::Bearer(secret) | Credential::Key(secret) => secrets.push(secret.clone()),
        // Stripe and others take a key as the name, with no password.
        Credential::Basic { user, password } if password.expose().is_empty() => {
            secrets.push(user.clone());
        }
        Credential::Basic { password, .. } => secrets.push(password.clone()),
        Credential::ClientCredentials { token_url, client_secret, .. } => {
            secrets.push(client_secret.clone());
            named.extend(token_url.clone());
        }
        Credential::PerCaller(each) => each.values().for_each(|it| gather(it, secrets, named)),
    }
}

fn header_name(name: &str) -> Result<HeaderName, SourceError> {
    HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| SourceError::new(format!("`{name}` is no name of a header: correct it")))
}

/// Set by the connection, so that no request goes elsewhere or ends elsewhere than it seems to.
const OF_THE_CONNECTION: [&str; 6] =
    ["connection", "content-length", "host", "te", "transfer-encoding", "upgrade"];

fn headers(given: &[(String, Secret)]) -> Result<HeaderMap, SourceError> {
    let mut headers = HeaderMap::new();
    for (name, secret) in given {
        let mut value = HeaderValue::from_str(secret.expose()).map_err(|_| {
            let message = format!("the value of the header `{name}` cannot be sent: correct it");
            SourceError::new(message)
        })?;
        value.set_sensitive(true);
        let name = header_name(name)?;
        if OF_THE_CONNECTION.contains(&name.as_str()) {
            let message = format!("the connection itself sets the header `{name}`: leave it out");
            return Err(SourceError::new(message));
        }
        headers.append(name, value);
    }
    Ok(headers)
}

/// What an operator should know before the first call.
fn notes(
    operations: &[(ApiOperation, ToolSpec)],
    keyring: &Keyring,
    server: &ApiServer,
) -> Vec<DocumentNote> {
    let note = |about: &str, text: String| DocumentNote { about: about.to_owned(), text };
    let mut notes = Vec::new();
    let mut elsewhere: IndexMap<String, Vec<&str>> = IndexMap::new();
    for (operation, _) in operations {
        if let Some(host) = server.other_host(operation.server.as_deref()) {
            elsewhere.entry(host).or_default().push(&operation.key);
        }
    }
    for (host, keys) in elsewhere {
        let text = format!(
            "the document has {} of its operations at this host; they are sent to `{}` instead: \
             make another source with this host as its `base_url` if that is wrong ({})",
            keys.len(),
            server.base.host_str().unwrap_or_default(),
            keys.iter().take(5).copied().collect::<Vec<_>>().join(", ")
        );
        notes.push(note(&host, text));
    }
    notes.extend(server.forgotten_path().map(|path| {
        let text = format!(
            "the document has its API below `{path}`, and `base_url` has no path: add it if calls \
             are answered with 404"
        );
        note("base_url", text)
    }));
    notes.extend(keyring.unknown().map(|name| {
        let known: Vec<&str> = keyring.schemes.keys().map(String::as_str).collect();
        let text = format!(
            "no security scheme of the document has this name, so its credential is never sent: \
             the schemes are {known:?}, and `*` stands for all"
        );
        note(name, text)
    }));
    notes.extend(keyring.document_token_servers().map(|(name, url)| {
        note(name, format!("its token is asked from `{url}`, as the document says"))
    }));
    if !server.is_named && server.base.scheme() == "http" && !keyring.credentials.is_empty() {
        let text = "the document names this address without TLS: credentials can be listened to";
        notes.push(note(server.base.as_str(), text.to_owned()));
    }
    notes
}
