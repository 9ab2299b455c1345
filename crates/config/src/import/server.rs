//! One server of another program's file as a source.

use serde_json::{Map, Value};
use url::Url;

use super::secrets::Secrets;
use super::{Notes, names, relative};
use crate::suspicion;

/// A source in the making.
#[derive(Debug, Default)]
pub(super) struct Source {
    pub(super) id: String,
    pub(super) is_enabled: bool,
    pub(super) prefix: Option<String>,
    pub(super) include: Vec<String>,
    pub(super) exclude: Vec<String>,
    pub(super) way: Way,
    pub(super) env: Vec<(String, String)>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) cwd: Option<String>,
}

/// How the server is come by.
#[derive(Debug, Default)]
pub(super) enum Way {
    #[default]
    None,
    Command {
        argv: Vec<String>,
        /// As the other program has it.
        original: Vec<String>,
    },
    Url(String),
}

/// Keys that have their own place below, or that say nothing which is not known already.
const KNOWN: [&str; 20] = [
    "args",
    "command",
    "cwd",
    "description",
    "disabled",
    "disabledTools",
    "enabled",
    "env",
    "excludeTools",
    "headers",
    "httpUrl",
    "includeTools",
    "name",
    "path",
    "serverUrl",
    "source",
    "transport",
    "transportType",
    "type",
    "url",
];

/// Parts of an address that open it for whoever has them, besides those that say so.
const SIGNS: [&str; 4] = ["sig", "signature", "code", "access"];

/// Reads one server; `None` if it says nothing of where it is.
pub(super) fn read(
    id: String,
    value: &Value,
    secrets: &mut Secrets<'_>,
    notes: &mut Notes,
) -> Option<Source> {
    let Some(server) = value.as_object() else {
        notes.add("this is no server, and is not taken");
        return None;
    };
    let flag = |key: &str| server.get(key).and_then(Value::as_bool);
    let is_off = flag("disabled") == Some(true) || flag("enabled") == Some(false);
    let mut source = Source { id, is_enabled: !is_off, ..Source::default() };
    // An older form of Zed holds all that belongs to the program within `command`.
    let program = server.get("command").and_then(Value::as_object).unwrap_or(server);
    let command = server.get("command").and_then(Value::as_str);
    let command = command.or_else(|| program.get("path").and_then(Value::as_str));
    let url = ["url", "serverUrl", "httpUrl"].iter().find_map(|key| server.get(*key)?.as_str());
    match (command.filter(|command| !command.is_empty()), url) {
        (Some(command), None) => source.program(command, program, secrets, notes),
        (None, Some(url)) => source.address(url, server, secrets, notes),
        (Some(command), Some(_)) => {
            notes.add("it has a command and an address; the address is not taken");
            source.program(command, program, secrets, notes);
        }
        (None, None) => {
            notes.add("it has neither a command nor an address, and is not taken");
            return None;
        }
    }
    source.tools(server);
    others(server, notes);
    Some(source)
}

impl Source {
    fn program(
        &mut self,
        command: &str,
        program: &Map<String, Value>,
        secrets: &mut Secrets<'_>,
        notes: &mut Notes,
    ) {
        let mut argv = vec![command.to_owned()];
        let arguments = program.get("args").and_then(Value::as_array);
        for argument in arguments.into_iter().flatten() {
            match word(argument) {
                Some(word) => argv.push(word),
                None => self.turn_off("an argument that is no text is left out", notes),
            }
        }
        let original = argv.clone();
        for (index, word) in argv.iter_mut().enumerate() {
            let before = index.checked_sub(1).and_then(|before| original.get(before));
            self.argument(index, before.map_or("", String::as_str), word, notes);
        }
        if command.contains(char::is_whitespace) && argv.len() == 1 {
            notes.add("the command holds blanks and no shell splits it: make a list of its words");
        }
        let mut here =
            original.iter().enumerate().skip(1).filter(|(_, word)| relative::is_path(word));
        let mut reason =
            here.next().map(|(index, word)| format!("argument {index} (`{}`)", names::shown(word)));
        self.way = Way::Command { argv, original };
        let env = program.get("env").and_then(Value::as_object);
        for (name, value) in env.into_iter().flatten() {
            let Some(value) = word(value).filter(|value| !value.contains('\0')) else {
                notes.add(format!(
                    "the variable `{}` is not taken: it is no text",
                    names::shown(name)
                ));
                continue;
            };
            if name.is_empty() || name.contains(['=', '\0']) {
                notes.add("a variable without a legal name is not taken");
                continue;
            }
            if reason.is_none() && relative::starts_here(&value) {
                reason = Some(format!("the variable `{}`", names::shown(name)));
            }
            let value = secrets.variable(&self.id, name, &value, notes);
            self.env.push((name.clone(), value));
        }
        self.folder(program, reason, notes);
    }

    /// Where it runs. `reason`: what means something in the folder of the other program alone; it
    /// most likely lies beside that program's file, and not in an empty folder.
    fn folder(&mut self, program: &Map<String, Value>, reason: Option<String>, notes: &mut Notes) {
        let cwd = program.get("cwd").and_then(Value::as_str).filter(|cwd| !cwd.is_empty());
        if let Some(cwd) = cwd {
            if cwd.contains("${") || cwd.contains('\0') {
                self.turn_off("its folder is known to the other program alone: set `cwd`", notes);
            } else {
                self.cwd = Some(cwd.to_owned());
            }
        } else if let Some(reason) = reason {
            self.cwd = Some(".".to_owned());
            notes.add(format!(
                "it runs in the folder of this `crib.toml` because of {reason}: correct `cwd` if \
                 that is elsewhere"
            ));
        }
    }

    /// Arguments are copied as they are, but for what the reader of the new file refuses.
    fn argument(&mut self, index: usize, before: &str, word: &mut String, notes: &mut Notes) {
        if word.contains("${") {
            let text = format!(
                "argument {index} (`{}`) is filled in by the other program: write its value",
                names::shown(word)
            );
            self.turn_off(text, notes);
            *word = word.replace("${env:", "${").replace("${file:", "${");
        }
        if word.contains('\0') {
            self.turn_off(format!("argument {index} held a zero byte"), notes);
            *word = word.replace('\0', "?");
        }
        if is_secret(before, word) {
            notes.add(format!(
                "argument {index} looks like a secret, and everybody on the machine can read \
                 arguments: hand it over in `env` if the server can take it there"
            ));
        }
    }

    fn address(
        &mut self,
        text: &str,
        server: &Map<String, Value>,
        secrets: &mut Secrets<'_>,
        notes: &mut Notes,
    ) {
        let url = Url::parse(text).ok().filter(|url| {
            ["http", "https"].contains(&url.scheme()) && url.has_host() && !text.contains("${")
        });
        let Some(mut url) = url else {
            self.turn_off("its address cannot be taken as it is: set `url`", notes);
            self.way = Way::Url("https://address.invalid/".to_owned());
            return;
        };
        let is_login = !url.username().is_empty() || url.password().is_some();
        let is_secret = |(name, value): &(String, String)| {
            suspicion::looks_secret(name, value)
                || suspicion::names_secret(name)
                || SIGNS.contains(&name.as_str())
        };
        // Nobody sends it, so it is there for somebody else.
        url.set_fragment(None);
        if suspicion::has_random_path(url.as_str().split('?').next().unwrap_or_default()) {
            notes.add("a part of its address looks like a secret: keep the new file to yourself");
        }
        let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        if is_login || pairs.iter().any(is_secret) {
            self.turn_off("its address held a secret, which is left out: use `headers`", notes);
            // Neither can fail where there is a host.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            let kept: Vec<_> = pairs.into_iter().filter(|pair| !is_secret(pair)).collect();
            url.set_query(None);
            if !kept.is_empty() {
                url.query_pairs_mut().extend_pairs(kept);
            }
            self.way = Way::Url(url.into());
        } else {
            self.way = Way::Url(url.into());
        }
        let kind = ["type", "transport", "transportType"].iter().find_map(|key| server.get(*key));
        if kind.is_some_and(|kind| kind == "sse") {
            notes.add("it speaks the older SSE transport: ask for its streamable HTTP address");
        }
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let headers = server.get("headers").and_then(Value::as_object);
        for (name, value) in headers.into_iter().flatten() {
            let value = value.as_str().filter(|value| !value.chars().any(char::is_control));
            let Some(value) = value.filter(|_| !name.is_empty() && name.bytes().all(letter)) else {
                notes.add(format!(
                    "the header `{}` is not legal, and is not taken",
                    names::shown(name)
                ));
                continue;
            };
            let value = secrets.header(&self.id, name, value, notes);
            self.headers.push((name.clone(), value));
        }
    }

    /// Which tools are wanted.
    fn tools(&mut self, server: &Map<String, Value>) {
        let names = |key: &str| -> Vec<String> {
            let list = server.get(key).and_then(Value::as_array);
            let names = list.into_iter().flatten().filter_map(Value::as_str);
            let is_legal = |name: &&str| toolcrib_core::ToolName::new(name).is_ok();
            names.filter(is_legal).map(str::to_owned).collect()
        };
        self.include = names("includeTools");
        self.exclude = [names("excludeTools"), names("disabledTools")].concat();
    }

    /// The source is kept, and not used before a person looked at it.
    fn turn_off(&mut self, text: impl Into<String>, notes: &mut Notes) {
        self.is_enabled = false;
        notes.add(format!("{}; then set `enabled = true`", text.into()));
    }
}

/// Keys that have no place in the new file.
fn others(server: &Map<String, Value>, notes: &mut Notes) {
    for (key, value) in server.iter().filter(|(key, _)| !KNOWN.contains(&key.as_str())) {
        match (key.as_str(), value) {
            ("autoApprove" | "alwaysAllow" | "trust", value) if is_nothing(value) => {}
            ("autoApprove" | "alwaysAllow" | "trust", _) => notes.add(format!(
                "`{key}` is not taken: what runs without a question is said by `allow`"
            )),
            ("timeout", Value::Number(number)) => notes.add(format!(
                "`timeout = {number}` is not taken, since programs count it differently: set \
                 `call_timeout`"
            )),
            ("envFile", _) => {
                notes.add("`envFile` is not taken: export what stands in that file");
            }
            (key, _) => notes.add(format!("`{}` is not taken", names::shown(key))),
        }
    }
}

fn is_nothing(value: &Value) -> bool {
    value.is_null() || value == &Value::Bool(false) || value.as_array().is_some_and(Vec::is_empty)
}

/// Whether an argument looks like a secret by itself, or by the option that it belongs to.
fn is_secret(before: &str, word: &str) -> bool {
    let (option, value) = match word.split_once('=').filter(|_| word.starts_with('-')) {
        Some((option, value)) => (option, value),
        None => (before, word),
    };
    let is_named = option.starts_with('-') && suspicion::names_secret(option);
    suspicion::looks_secret("", value) || (is_named && !value.starts_with('-'))
}

/// A text, or what is one when a program gets it.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
