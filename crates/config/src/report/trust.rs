//! What a file would do by itself, word for word: for a person who decides whether to trust it.

use toolcrib_core::ToolSpec;
use toolcrib_json::invisible::exact;
use toolcrib_mcp::McpTransport;
use toolcrib_openapi::{DocumentLocation, places};

use crate::config::Config;
use crate::secrets::literal_secret;
use crate::secrets::template::{Template, TemplatePiece};
use crate::settings::embedder::{self, EmbedderTemplate};
use crate::settings::{
    A2aTemplate, ApiTemplate, CredentialTemplate, DeskTemplate, McpServerTemplate, SourceTemplate,
};

/// How variables of a program are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disclosure {
    /// As the file has them: for whoever decides, and for what remembers the decision.
    Whole,
    /// What is a secret by its looks is masked: for logs.
    Masked,
}

impl Config {
    /// Holds the secrets of APIs to where their documents lead now, as far as the documents are
    /// files and the file says nothing of it: [`Config::reaches`] tells where, and what is built of
    /// this takes no document that leads elsewhere. Reads these documents, and blocks meanwhile.
    pub fn hold(&mut self) {
        for entry in self.sources.iter_mut().filter(|entry| entry.enabled) {
            if let SourceTemplate::OpenApi(api) = &mut entry.kind {
                api.hold();
            }
        }
    }

    /// The programs that its sources start, the addresses that they ask and the secrets that these
    /// are sent, and the files that are written beside the sources: a line for each, in the order
    /// of the file. None: whatever the file says, it reaches nothing.
    pub fn reaches(&self, telling: Disclosure) -> Vec<String> {
        let enabled = self.sources.iter().filter(|entry| entry.enabled);
        let mut reaches: Vec<String> = enabled
            .filter_map(|entry| {
                let does = match &entry.kind {
                    SourceTemplate::Mcp(server) => Some(of_server(server, telling)),
                    SourceTemplate::OpenApi(api) => Some(of_api(api)),
                    SourceTemplate::A2a(agent) => Some(of_agent(agent)),
                    SourceTemplate::Desk(desk) => of_desk(desk),
                    SourceTemplate::Builtin(specs) => Some(of_provider(specs)),
                    SourceTemplate::Basics(_) => None,
                };
                does.map(|does| format!("`{}` {does}", entry.id))
            })
            .collect();
        if let Some(embedder) = &self.embedder {
            reaches.extend(of_embedder(embedder));
        }
        for model in &self.models {
            let secrets = references(model.key.iter());
            let base = &model.plain.base;
            reaches.push(format!("what agents are told goes to {base}{}", with(&secrets)));
        }
        if let Some(telemetry) = &self.telemetry {
            let secrets = references(telemetry.headers.iter().map(|(_, text)| text));
            reaches.push(format!("traces go to {}{}", telemetry.url, with(&secrets)));
        }
        if let Some(audit) = &self.audit {
            reaches.push(format!("decisions are written to `{}`", audit.file.display()));
        }
        if let Some(store) = &self.store {
            let whole = store.written();
            let shown =
                if telling == Disclosure::Masked { without_password(&whole) } else { whole };
            reaches.push(format!("calls are kept in `{shown}`"));
        }
        // Each is one line for whoever decides, whatever a word of the file holds.
        reaches.iter().map(|line| exact(line).into_owned()).collect()
    }
}

/// An address of a database, whose password may stand in it: taken apart as its driver does, to
/// which a login ends at the first `@`.
fn without_password(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let login = split_plain(rest, '@').filter(|(login, _)| split_plain(login, '?').is_none());
    let (login, rest) = login.map_or((None, rest), |(login, rest)| (Some(login), rest));
    let (base, query) = match split_plain(rest, '?') {
        Some((base, query)) => (base, Some(query)),
        None => (rest, None),
    };
    // Where an `@` is left, the password was meant to go on to there.
    let (is_cut, place) = base.rsplit_once('@').map_or((false, base), |(_, place)| (true, place));
    let mut shown = format!("{scheme}://");
    match login.map(|login| (login, split_plain(login, ':'))) {
        Some((_, Some((user, password)))) if is_cut || !is_reference(password) => {
            shown.push_str(user);
            shown.push_str(":[secret]@");
        }
        Some(_) if is_cut => shown.push_str("[secret]@"),
        Some((login, _)) => {
            shown.push_str(login);
            shown.push('@');
        }
        None => {}
    }
    shown.push_str(place);
    if let Some(query) = query {
        shown.push('?');
        shown.push_str(&without_secret_words(query));
    }
    shown
}

/// A query of an address: what it says of a password is masked.
fn without_secret_words(mut query: &str) -> String {
    let mut words = Vec::new();
    loop {
        let (word, more) = match split_plain(query, '&') {
            Some((word, more)) => (word, Some(more)),
            None => (query, None),
        };
        let secret = word.split_once('=').filter(|(name, value)| {
            // A name may be written in escapes.
            let name = url::form_urlencoded::parse(name.as_bytes()).next();
            name.is_some_and(|(name, _)| name == "password" || name == "passfile")
                && !is_reference(value)
        });
        words.push(secret.map_or(word.to_owned(), |(name, _)| format!("{name}=[secret]")));
        let Some(more) = more else { return words.join("&") };
        query = more;
    }
}

/// Whether a text is one whole reference: what stands beside one may be the secret.
fn is_reference(text: &str) -> bool {
    let reference = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    reference.is_some_and(|inner| !inner.contains('}'))
}

/// What stands before and behind the first of a sign that is not within a reference.
fn split_plain(text: &str, sign: char) -> Option<(&str, &str)> {
    let mut is_within = false;
    let mut before = ' ';
    // `$${` is how a plain `${` is written.
    let mut is_escaped = false;
    for (at, letter) in text.char_indices() {
        if letter == sign && !is_within {
            return Some((text.get(..at)?, text.get(at + letter.len_utf8()..)?));
        }
        if letter == '{' && before == '$' && !is_escaped {
            is_within = true;
        } else if letter == '}' {
            is_within = false;
        }
        is_escaped = letter == '$' && before == '$';
        before = letter;
    }
    None
}

fn of_embedder(embedder: &EmbedderTemplate) -> Vec<String> {
    let mut reaches = Vec::new();
    if let embedder::EmbedderModelTemplate::Endpoint { base, key, .. } = &embedder.place {
        let secrets = references(key.iter());
        reaches.push(format!("texts of tools and questions go to {base}{}", with(&secrets)));
    }
    if let Some(vectors) = &embedder.vectors {
        reaches.push(format!("vectors of tools are kept in `{}`", vectors.display()));
    }
    reaches
}

fn of_server(server: &McpServerTemplate, telling: Disclosure) -> String {
    match &server.plain.transport {
        McpTransport::Stdio(stdio) => {
            let words = std::iter::once(stdio.command.to_string_lossy().into_owned());
            let words = words.chain(stdio.arguments.iter().cloned());
            // As JSON, so that each word ends where it seems to.
            let words = words.collect::<serde_json::Value>();
            let folder = stdio.folder.as_ref();
            let folder = folder.map(|folder| format!(" in `{}`", folder.display()));
            let set = server.environment.iter();
            let set: Vec<_> = set.map(|(name, text)| shown(name, text, telling)).collect();
            let set =
                if set.is_empty() { String::new() } else { format!(" with {}", set.join(" ")) };
            format!("starts {words}{}{set}", folder.unwrap_or_default())
        }
        McpTransport::Http(http) => {
            let own = [&server.bearer, &server.client_secret].into_iter().flatten();
            let secrets = references(server.headers.iter().map(|(_, text)| text).chain(own));
            format!("asks {}{}", http.url, with(&secrets))
        }
    }
}

impl ApiTemplate {
    fn hold(&mut self) {
        let has_secrets = !self.credentials.is_empty() || !self.headers.is_empty();
        let asks_tokens = self.credentials.values().any(CredentialTemplate::asks_document);
        let is_file = matches!(self.plain.document, DocumentLocation::File(_));
        if is_file && has_secrets && (self.plain.base_url.is_none() || asks_tokens) {
            // Of a document that cannot be read nobody can say where it leads: nowhere, then.
            self.plain.held_to = Some(places(&self.plain, asks_tokens).unwrap_or_default());
        }
    }
}

impl CredentialTemplate {
    /// Whether the document says where a secret of this goes for a token.
    fn asks_document(&self) -> bool {
        match self {
            Self::ClientCredentials { token_url, .. } => token_url.is_none(),
            Self::PerCaller(each) => each.values().any(Self::asks_document),
            Self::Bearer(_) | Self::Basic { .. } | Self::Key(_) => false,
        }
    }
}

/// What of an API is secret, and where a secret goes besides.
fn logins(api: &ApiTemplate) -> (Vec<&Template>, Vec<String>) {
    let mut logins: Vec<&CredentialTemplate> = api.credentials.values().collect();
    let (mut templates, mut elsewhere) = (Vec::new(), Vec::new());
    templates.extend(api.headers.iter().map(|(_, text)| text));
    while let Some(login) = logins.pop() {
        match login {
            CredentialTemplate::Bearer(text) | CredentialTemplate::Key(text) => {
                templates.push(text);
            }
            CredentialTemplate::Basic { user, password } => templates.extend([user, password]),
            CredentialTemplate::ClientCredentials { token_url, client_secret, .. } => {
                templates.push(client_secret);
                elsewhere.extend(token_url.as_ref().map(ToString::to_string));
            }
            CredentialTemplate::PerCaller(each) => logins.extend(each.values()),
        }
    }
    (templates, elsewhere)
}

/// What a source is told of secrets, by the references to them.
pub(super) fn needed(kind: &SourceTemplate) -> Vec<String> {
    match kind {
        SourceTemplate::Mcp(server) => {
            let named = server.environment.iter().chain(&server.headers).map(|(_, text)| text);
            references(named.chain(&server.bearer).chain(&server.client_secret))
        }
        SourceTemplate::OpenApi(api) => references(logins(api).0.into_iter()),
        SourceTemplate::A2a(agent) => references(agent.templates()),
        SourceTemplate::Desk(desk) => {
            let caldav = desk.caldav.iter().flat_map(|own| [&own.user, &own.password]);
            let mail = desk.mail.iter().flat_map(|own| [&own.user, &own.password]);
            let google = desk.google.iter();
            let google =
                google.flat_map(|own| [&own.client_secret].into_iter().chain(&own.refresh_token));
            references(caldav.chain(mail).chain(google))
        }
        SourceTemplate::Basics(_) | SourceTemplate::Builtin(_) => Vec::new(),
    }
}

fn of_api(api: &ApiTemplate) -> String {
    let (templates, elsewhere) = logins(api);
    let secrets = references(templates.into_iter());
    let (document, said) = match &api.plain.document {
        DocumentLocation::File(path) => {
            let path = path.display();
            (format!("the API of `{path}`"), format!(" (as `{path}` says)"))
        }
        DocumentLocation::Address(url) => (format!("the API of {url}"), String::new()),
        DocumentLocation::Text(_) => ("its API".to_owned(), String::new()),
    };
    let mut places: Vec<_> = api.plain.base_url.iter().map(ToString::to_string).collect();
    places.extend(api.plain.held_to.iter().flatten().map(|place| format!("{place}{said}")));
    if places.is_empty() {
        places.push(document);
    }
    places.extend(elsewhere);
    format!("asks {}{}", places.join(" and "), with(&secrets))
}

fn of_agent(agent: &A2aTemplate) -> String {
    let (card, url) = (&agent.plain.card, &agent.plain.url);
    let place = match url {
        Some(url) => format!("the agent at {url} (card: {card})"),
        None => format!("the agent of {card}"),
    };
    format!("asks {place}{}", with(&references(agent.templates())))
}

fn of_provider(specs: &[ToolSpec]) -> String {
    let names: Vec<_> = specs.iter().map(|spec| format!("`{}`", spec.name)).collect();
    format!("has the provider of a model run {}", names.join(", "))
}

/// `None`: a desk that keeps all in its own place.
fn of_desk(desk: &DeskTemplate) -> Option<String> {
    let mut does = Vec::new();
    if let Some(file) = &desk.file {
        does.push(format!("keeps its data in `{}`", file.display()));
    }
    let mut asks = |places: String, templates: Vec<&Template>| {
        does.push(format!("asks {places}{}", with(&references(templates.into_iter()))));
    };
    if let Some(caldav) = &desk.caldav {
        asks(caldav.url.to_string(), vec![&caldav.user, &caldav.password]);
    }
    if let Some(mail) = &desk.mail {
        asks(format!("{} and {}", mail.imap, mail.smtp), vec![&mail.user, &mail.password]);
    }
    if let Some(google) = &desk.google {
        let place = google.base_url.as_ref().map_or("Google".to_owned(), ToString::to_string);
        let secrets = [&google.client_secret].into_iter().chain(&google.refresh_token);
        asks(place, secrets.collect());
    }
    (!does.is_empty()).then(|| does.join(", "))
}

/// A variable.
fn shown(name: &str, text: &Template, telling: Disclosure) -> String {
    match text.literal().filter(|_| telling == Disclosure::Masked) {
        Some(text) if literal_secret::looks_secret(name, text) => format!("{name}=[secret]"),
        Some(_) | None => format!("{name}={}", text.written()),
    }
}

fn with(secrets: &[String]) -> String {
    if secrets.is_empty() { String::new() } else { format!(" with {}", secrets.join(", ")) }
}

/// The references of these, as they are written, each once.
fn references<'a>(templates: impl Iterator<Item = &'a Template>) -> Vec<String> {
    let mut references = Vec::new();
    for piece in templates.flat_map(Template::pieces) {
        let written = match piece {
            TemplatePiece::Text(_) => continue,
            TemplatePiece::Env(_) | TemplatePiece::File { .. } => piece.written(),
        };
        if !references.contains(&written) {
            references.push(written);
        }
    }
    references
}

impl TemplatePiece {
    fn written(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Env(name) => format!("${{env:{name}}}"),
            Self::File { written, .. } => format!("${{file:{written}}}"),
        }
    }
}

impl Template {
    /// As the file has it.
    pub(crate) fn written(&self) -> String {
        self.pieces().iter().map(TemplatePiece::written).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::without_password;

    #[test]
    fn no_password_of_an_address_is_shown_and_a_reference_is() {
        for (address, shown) in [
            ("sqlite://crib.db", "sqlite://crib.db"),
            ("${env:STORE}", "${env:STORE}"),
            ("postgres://crib:hunter2@db/crib", "postgres://crib:[secret]@db/crib"),
            ("postgres://crib:a@b:c@db/crib", "postgres://crib:[secret]@db/crib"),
            ("postgres://crib:${env:DB}@db/crib", "postgres://crib:${env:DB}@db/crib"),
            ("postgres://${env:USER}:hunter2@db/crib", "postgres://${env:USER}:[secret]@db/crib"),
            ("postgres://${env:USER}@db/crib", "postgres://${env:USER}@db/crib"),
            ("postgres://crib:${env:DB}hunter2@db/crib", "postgres://crib:[secret]@db/crib"),
            ("postgres://crib:${env:A}x${env:B}@db/crib", "postgres://crib:[secret]@db/crib"),
            ("postgres://crib:$${hunter2}@db/crib", "postgres://crib:[secret]@db/crib"),
            (
                "postgres://crib@db/crib?sslmode=require&password=hunter2&passfile=/run/p",
                "postgres://crib@db/crib?sslmode=require&password=[secret]&passfile=[secret]",
            ),
            ("postgres://db/crib?pass%77ord=hun@ter2", "postgres://db/crib?pass%77ord=[secret]"),
            (
                "postgres://crib@db/crib?password=${file:a?b&c}",
                "postgres://crib@db/crib?password=${file:a?b&c}",
            ),
            ("postgres://crib@db?password=${env:A}hunter2", "postgres://crib@db?password=[secret]"),
            (
                "postgres://x:y@evil.example/crib?application_name=@db.internal/crib",
                "postgres://x:[secret]@evil.example/crib?application_name=@db.internal/crib",
            ),
            (
                "postgres://crib:pw@db/crib?password=hun@ter2",
                "postgres://crib:[secret]@db/crib?password=[secret]",
            ),
            ("postgres://hunter2@x@db/crib", "postgres://[secret]@db/crib"),
        ] {
            assert_eq!(without_password(address), shown);
        }
    }
}
