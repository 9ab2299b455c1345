//! One MCP server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use toolcrib_core::FormFallback;
use toolcrib_mcp::{
    ConnectionScope, HttpAuthorization, HttpSettings, McpBounds, McpEra, McpSourceSettings,
    McpTimeouts, McpTransport, OAuthSettings, ProgramLimits, StdioSettings,
};

use crate::check::ConfigChecker;
use crate::file::toml_path::TomlPath;
use crate::raw::{self, SecretText};
use crate::secrets::template::Template;
use crate::settings::McpServerTemplate;

/// Limits of a program.
const PROGRAM: [&str; 3] = ["open_files", "file_size", "address_space"];

/// Open files that a program needs to begin at all.
const LEAST_FILES: u32 = 16;

/// The byte that ends a text for the system.
const NUL: char = '\0';

impl ConfigChecker<'_, '_, '_> {
    pub(crate) fn server(
        &mut self,
        raw: &raw::McpTable,
        place: &TomlPath,
    ) -> Option<McpServerTemplate> {
        let has = |key: &str| self.document().has(&place.key(key));
        let transport = match (has("command"), has("url")) {
            (true, false) => {
                self.foreign(place, "command", &["headers", "bearer", "oauth", "private"]);
                raw.command.as_ref().and_then(|command| self.program(raw, command, place))
            }
            (false, true) => {
                self.foreign(place, "url", &["env", "cwd"]);
                self.foreign(&place.key("limits"), "url", &PROGRAM);
                raw.url.as_ref().and_then(|url| self.address_of(raw, url, place))
            }
            (true, true) => {
                let message = "a server is started or reached, not both";
                self.problem(&place.key("url"), message, "remove `command` or `url`");
                None
            }
            // What is meant may be written wrong: that was told already.
            (false, false) if self.findings.is_wrong(place) => None,
            (false, false) => {
                let cure = "add `command = [\"program\", \"argument\"]` or `url = \"https://..\"`";
                self.problem(place, "the server is neither started nor reached", cure);
                None
            }
        };
        let environment = self.variables(&raw.env, &place.key("env"));
        let headers = self.headers(&raw.headers, &place.key("headers"));
        let bearer = raw.bearer.as_ref().and_then(|text| self.template(text, &place.key("bearer")));
        let place_of_secret = place.key("oauth").key("client_secret");
        let secret = raw.oauth.as_ref().and_then(|oauth| oauth.client_secret.as_ref());
        let client_secret = secret.and_then(|text| self.template(text, &place_of_secret));
        let timeouts = self.timeouts(raw, place);
        let bounds = self.server_bounds(&raw.limits, &place.key("limits"));
        let poll = self.timeout(raw.poll.as_ref(), &place.key("poll"));
        let idle_stop = self.timeout(raw.idle_stop.as_ref(), &place.key("idle_stop"));
        let plain = McpSourceSettings {
            share: match raw.share {
                Some(raw::ShareWord::Session) => ConnectionScope::Session,
                Some(raw::ShareWord::Caller) => ConnectionScope::Caller,
                Some(raw::ShareWord::Shared) | None => ConnectionScope::Shared,
            },
            revision: raw.revision.map(|revision| match revision {
                raw::RevisionWord::Legacy => McpEra::Legacy,
                raw::RevisionWord::Modern => McpEra::Modern,
            }),
            timeouts,
            bounds,
            program: self.program_limits(&raw.limits, &place.key("limits")),
            poll,
            idle_stop,
            questions: match raw.questions {
                Some(raw::QuestionsWord::Cancel) => FormFallback::PutAway,
                Some(raw::QuestionsWord::Ticket) | None => FormFallback::Ticket,
            },
            instructions: raw.instructions.unwrap_or(true),
            ..McpSourceSettings::new(transport?)
        };
        Some(McpServerTemplate { plain, environment, headers, bearer, client_secret })
    }

    /// Keys that mean nothing beside another.
    fn foreign(&mut self, place: &TomlPath, beside: &str, keys: &[&str]) {
        for key in keys {
            if self.document().has(&place.key(key)) {
                let message = format!("this means nothing beside `{beside}`");
                self.problem(&place.key(key), message, "remove it");
            }
        }
    }

    fn program(
        &mut self,
        raw: &raw::McpTable,
        command: &[String],
        place: &TomlPath,
    ) -> Option<McpTransport> {
        let at = place.key("command");
        for (index, _) in command.iter().enumerate().filter(|(_, word)| word.contains(NUL)) {
            let message = format!("argument {index} holds a zero byte");
            self.problem(&at.index(index), message, "remove it");
        }
        let place_of_folder = place.key("cwd");
        let folder = raw.cwd.as_ref().and_then(|cwd| self.path(cwd, &place_of_folder));
        if let Some(folder) = &folder {
            self.needs_folder(folder, &place_of_folder);
        }
        let Some((program, arguments)) =
            command.split_first().filter(|(first, _)| !first.is_empty())
        else {
            let cure = "write the program and its arguments, as in `[\"npx\", \"-y\", \"server\"]`";
            self.problem(&at, "the command names no program", cure);
            return None;
        };
        // A name without a folder is looked up in `PATH`, any other one beside the file.
        let program = if program.contains('/') {
            self.path(program, &at.index(0))?
        } else {
            PathBuf::from(program)
        };
        self.needs_program(&program, &at.index(0));
        Some(McpTransport::Stdio(StdioSettings {
            command: program,
            arguments: arguments.to_vec(),
            environment: Vec::new(),
            folder,
        }))
    }

    fn address_of(
        &mut self,
        raw: &raw::McpTable,
        url: &str,
        place: &TomlPath,
    ) -> Option<McpTransport> {
        let url = self.url(url, &place.key("url"));
        let network = self.network(&raw.private, &place.key("private"));
        let is_signed = raw.oauth.is_some() || raw.bearer.is_some() || !raw.headers.is_empty();
        self.in_the_open(url.as_ref(), is_signed, &place.key("url"));
        if raw.oauth.is_some() && raw.bearer.is_some() {
            let message = "two ways to say who we are";
            self.problem(&place.key("bearer"), message, "remove `bearer` or `oauth`");
        }
        let named = raw.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        if named && (raw.oauth.is_some() || raw.bearer.is_some()) {
            let message = "two ways to say who we are";
            let cure = "remove the header `Authorization`, or `bearer` and `oauth`";
            self.problem(&place.key("headers"), message, cure);
        }
        let authorization = match &raw.oauth {
            Some(oauth) => HttpAuthorization::OAuth(self.oauth(oauth, &place.key("oauth"))),
            None => HttpAuthorization::None,
        };
        let headers = Vec::new();
        Some(McpTransport::Http(Box::new(HttpSettings {
            url: url?,
            headers,
            authorization,
            network,
        })))
    }

    fn oauth(&mut self, raw: &raw::OAuthTable, place: &TomlPath) -> OAuthSettings {
        let place_of_url = place.key("client_metadata");
        let metadata = raw.client_metadata.as_ref();
        let client_metadata = metadata.and_then(|url| self.url(url, &place_of_url));
        let tokens = raw.tokens.as_ref().and_then(|path| self.path(path, &place.key("tokens")));
        if raw.machine && (raw.client_id.is_none() || raw.client_secret.is_none()) {
            let message = "a program that signs in as itself has a name and a secret";
            self.problem(place, message, "add `client_id` and `client_secret`");
        }
        OAuthSettings {
            client_id: raw.client_id.clone(),
            client_secret: None,
            client_metadata,
            scopes: raw.scopes.clone(),
            tokens,
            machine: raw.machine,
            document: None,
            learned: None,
        }
    }

    fn timeouts(&mut self, raw: &raw::McpTable, place: &TomlPath) -> McpTimeouts {
        let default = McpTimeouts::default();
        let mut time = |text, key, default| self.timeout(text, &place.key(key)).unwrap_or(default);
        McpTimeouts {
            connect: time(raw.connect_timeout.as_ref(), "connect_timeout", default.connect),
            list: default.list,
            call: time(raw.call_timeout.as_ref(), "call_timeout", default.call),
            longest_call: time(raw.longest_call.as_ref(), "longest_call", default.longest_call),
        }
    }

    fn server_bounds(&mut self, raw: &raw::McpLimitsTable, place: &TomlPath) -> McpBounds {
        let default = McpBounds::default();
        let message = self.size(raw.message.as_ref(), &place.key("message"));
        let entries = self.count(raw.entries, &place.key("entries"), default.entries);
        McpBounds { message: message.unwrap_or(default.message), entries, ..default }
    }

    fn program_limits(&mut self, raw: &raw::McpLimitsTable, place: &TomlPath) -> ProgramLimits {
        let default = ProgramLimits::default();
        // Below this it could not open its three pipes, its libraries and anything else.
        if raw.open_files.is_some_and(|files| files < LEAST_FILES) {
            let cure = format!("write {LEAST_FILES} or more");
            self.problem(&place.key("open_files"), "no program starts with so few files", cure);
        }
        let mut size = |text, key| {
            let size = self.size(text, &place.key(key));
            size.and_then(|size| u64::try_from(size).ok())
        };
        let file_size = size(raw.file_size.as_ref(), "file_size").unwrap_or(default.file_size);
        let address_space = size(raw.address_space.as_ref(), "address_space");
        let open_files = raw.open_files.map_or(default.open_files, u64::from);
        ProgramLimits { open_files, file_size, address_space, ..default }
    }

    fn variables(
        &mut self,
        raw: &BTreeMap<String, SecretText>,
        place: &TomlPath,
    ) -> Vec<(String, Template)> {
        let mut variables = Vec::new();
        for (name, text) in raw {
            let place = place.key(name);
            if name.is_empty() || name.contains(['=', '\0']) || text.0.contains('\0') {
                let cure = "use a name without `=`, and no zero byte";
                self.problem(&place, "no variable can be so", cure);
            }
            variables.extend(self.template(text, &place).map(|text| (name.clone(), text)));
        }
        variables
    }

    pub(crate) fn headers(
        &mut self,
        raw: &BTreeMap<String, SecretText>,
        place: &TomlPath,
    ) -> Vec<(String, Template)> {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let mut headers = Vec::new();
        for (name, text) in raw {
            let place = place.key(name);
            if name.is_empty() || !name.bytes().all(letter) {
                let cure = "use letters, digits and `-`, as in `X-Api-Key`";
                self.problem(&place, "this cannot name a header", cure);
            }
            if text.0.chars().any(char::is_control) {
                let cure = "remove line breaks and other control characters";
                self.problem(&place, "no header can hold this", cure);
            }
            headers.extend(self.template(text, &place).map(|text| (name.clone(), text)));
        }
        headers
    }
}
