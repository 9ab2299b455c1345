//! One server of another program's file as a source.

use serde_json::{Map, Value};
use url::Url;

use super::imported_source::{ImportedSource, ImportedTransport};
use super::notes::ImportNotes;
use super::secrets::ImportSecrets;
use super::server_options::others;
use super::{names, relative_paths, variables};
use crate::secrets::literal_secret;

/// Where an address stands.
const ADDRESSES: [&str; 3] = ["url", "serverUrl", "httpUrl"];

/// Parts of an address that open it for whoever has them, besides those that say so.
const SIGNS: [&str; 4] = ["sig", "signature", "code", "access"];

/// Reads one server; `None` if it says nothing of where it is.
pub(super) fn read(
    id: String,
    value: &Value,
    secrets: &mut ImportSecrets<'_>,
    notes: &mut ImportNotes,
) -> Option<ImportedSource> {
    let Some(server) = value.as_object() else {
        notes.add("this is no server, and is not taken");
        return None;
    };
    let mut source = ImportedSource { id, is_enabled: true, ..ImportedSource::default() };
    source.switches(server, notes);
    // An older form of Zed holds all that belongs to the program within `command`.
    let program = server.get("command").and_then(Value::as_object).unwrap_or(server);
    let command = source.command(server, program, notes);
    let url = source.url(server, notes);
    match (command, url) {
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
    source.tools(server, notes);
    source.way(server, notes);
    source.misplaced(server, program, notes);
    others(server, notes);
    Some(source)
}

impl ImportedSource {
    /// The program and what stands behind it in a list; `None`: there is none.
    fn command(
        &mut self,
        server: &Map<String, Value>,
        program: &Map<String, Value>,
        notes: &mut ImportNotes,
    ) -> Option<Vec<String>> {
        let mut words = Vec::new();
        let path = program.get("path");
        match server.get("command") {
            None | Some(Value::Null | Value::Object(_)) => match path {
                Some(Value::String(path)) => words.push(path.clone()),
                None | Some(Value::Null) => {}
                Some(_) => notes.add("`path` is no text, and is not taken"),
            },
            Some(Value::String(command)) => words.push(command.clone()),
            Some(Value::Array(list)) => self.words(list, &mut words, notes),
            Some(_) => notes.add("`command` is neither a text nor a list, and is not taken"),
        }
        if !words.is_empty()
            && path.is_some()
            && server.get("command").is_some_and(|it| !it.is_object())
        {
            notes.add("`path` is not taken beside `command`");
        }
        Some(words).filter(|words| words.first().is_some_and(|command| !command.is_empty()))
    }

    fn words(&mut self, list: &[Value], words: &mut Vec<String>, notes: &mut ImportNotes) {
        for argument in list {
            match word(argument) {
                Some(word) => words.push(word),
                None => self.turn_off("an argument that is no text is left out", notes),
            }
        }
    }

    /// The first address that is one.
    fn url<'v>(
        &mut self,
        server: &'v Map<String, Value>,
        notes: &mut ImportNotes,
    ) -> Option<&'v str> {
        let mut found = None;
        for key in ADDRESSES {
            match server.get(key) {
                None | Some(Value::Null) => {}
                Some(Value::String(_)) if found.is_some() => {
                    self.turn_off(format!("`{key}` is a second address, and is not taken"), notes);
                }
                Some(Value::String(text)) => found = Some(text.as_str()),
                Some(_) => self.turn_off(format!("`{key}` is no text, and is not taken"), notes),
            }
        }
        found
    }

    fn program(
        &mut self,
        mut argv: Vec<String>,
        program: &Map<String, Value>,
        secrets: &mut ImportSecrets<'_>,
        notes: &mut ImportNotes,
    ) {
        match program.get("args") {
            None | Some(Value::Null) => {}
            Some(Value::Array(list)) => self.words(list, &mut argv, notes),
            Some(Value::String(text)) if text.is_empty() => {}
            Some(Value::String(text)) => {
                argv.push(text.clone());
                self.turn_off("`args` is one text: make a list of its words", notes);
            }
            Some(_) => self.turn_off("`args` is no list, and is not taken", notes),
        }
        let original = argv.clone();
        for (index, word) in argv.iter_mut().enumerate() {
            let before = index.checked_sub(1).and_then(|before| original.get(before));
            self.argument(index, before.map_or("", String::as_str), word, notes);
        }
        let is_split =
            argv.len() > 1 || !argv.iter().any(|word| word.contains(char::is_whitespace));
        if !is_split {
            notes.add("the command holds blanks and no shell splits it: make a list of its words");
        }
        let mut here =
            original.iter().enumerate().skip(1).filter(|(_, word)| relative_paths::is_path(word));
        let mut reason =
            here.next().map(|(index, word)| format!("argument {index} (`{}`)", names::shown(word)));
        self.way = ImportedTransport::Command { argv, original };
        let env = ["env", "environment"].into_iter();
        let env: Vec<_> = env.filter_map(|key| self.members(program, key, notes)).collect();
        for (name, value) in env.into_iter().flatten() {
            if self.env.iter().any(|(known, _)| known == name) {
                self.turn_off(
                    format!("`{}` stands in `env` and `environment`", names::shown(name)),
                    notes,
                );
                continue;
            }
            let Some(value) = word(value).filter(|value| !value.contains('\0')) else {
                let shown = names::shown(name);
                self.turn_off(format!("the variable `{shown}` is not taken: it is no text"), notes);
                continue;
            };
            if name.is_empty() || name.contains(['=', '\0']) {
                notes.add("a variable without a legal name is not taken");
                continue;
            }
            if reason.is_none() && relative_paths::starts_here(&value) {
                reason = Some(format!("the variable `{}`", names::shown(name)));
            }
            let value = secrets.variable(&self.id, name, &value, notes);
            self.env.push((name.clone(), value));
        }
        self.folder(program, reason, notes);
    }

    /// Where it runs. `reason`: what means something in the folder of the other program alone; it
    /// most likely lies beside that program's file, and not in an empty folder.
    fn folder(
        &mut self,
        program: &Map<String, Value>,
        reason: Option<String>,
        notes: &mut ImportNotes,
    ) {
        let cwd = match program.get("cwd") {
            None | Some(Value::Null) => None,
            Some(Value::String(cwd)) => Some(cwd.as_str()).filter(|cwd| !cwd.is_empty()),
            Some(_) => return self.turn_off("`cwd` is no text, and is not taken: set it", notes),
        };
        if let Some(cwd) = cwd {
            if cwd.contains("${") || variables::any(cwd) || cwd.contains('\0') {
                self.turn_off("its folder is known to the other program alone: set `cwd`", notes);
            } else {
                self.cwd = Some(cwd.to_owned());
            }
        } else if let Some(reason) = reason {
            self.cwd = Some(".".to_owned());
            notes.remark(format!(
                "it runs in the folder of this `crib.toml` because of {reason}: correct `cwd` if \
                 that is elsewhere"
            ));
        }
    }

    /// Arguments are copied as they are, but for what the reader of the new file refuses.
    fn argument(&mut self, index: usize, before: &str, word: &mut String, notes: &mut ImportNotes) {
        if word.contains("${") {
            let text = format!(
                "argument {index} (`{}`) is filled in by the other program: write its value",
                names::shown(word)
            );
            self.turn_off(text, notes);
            *word = word.replace("${env:", "${").replace("${file:", "${");
        } else if let Some(variable) = variables::first(word) {
            notes.add(format!(
                "argument {index} holds `{}`, which is handed over as it stands: write its value if \
                 the other program fills it in",
                names::shown(variable)
            ));
        }
        if word.contains('\0') {
            self.turn_off(format!("argument {index} held a zero byte"), notes);
            *word = word.replace('\0', "?");
        }
        if literal_secret::argument_is_secret(before, word) {
            notes.secret(format!(
                "argument {index} looks like a secret, and everybody on the machine can read \
                 arguments: hand it over in `env` if the server can take it there"
            ));
        }
    }

    fn address(
        &mut self,
        text: &str,
        server: &Map<String, Value>,
        secrets: &mut ImportSecrets<'_>,
        notes: &mut ImportNotes,
    ) {
        let url = Url::parse(text).ok().filter(|url| {
            ["http", "https"].contains(&url.scheme())
                && url.has_host()
                && !text.contains("${")
                && !variables::any(text)
        });
        let Some(mut url) = url else {
            self.turn_off("its address cannot be taken as it is: set `url`", notes);
            self.way = ImportedTransport::Url("https://address.invalid/".to_owned());
            return;
        };
        let is_login = !url.username().is_empty() || url.password().is_some();
        let is_secret = |(name, value): &(String, String)| {
            literal_secret::looks_secret(name, value)
                || literal_secret::names_secret(name)
                || SIGNS.contains(&name.as_str())
        };
        // Nobody sends it, so it is there for somebody else.
        url.set_fragment(None);
        if literal_secret::has_random_path(url.as_str().split('?').next().unwrap_or_default()) {
            notes
                .secret("a part of its address looks like a secret: keep the new file to yourself");
        }
        let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        if is_login || pairs.iter().any(is_secret) {
            self.is_enabled = false;
            notes.secret(
                "its address held a secret, which is left out: use `headers`; then set \
                 `enabled = true`",
            );
            // Neither can fail where there is a host.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            let kept: Vec<_> = pairs.into_iter().filter(|pair| !is_secret(pair)).collect();
            url.set_query(None);
            if !kept.is_empty() {
                url.query_pairs_mut().extend_pairs(kept);
            }
            self.way = ImportedTransport::Url(url.into());
        } else {
            self.way = ImportedTransport::Url(url.into());
        }
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let headers = self.members(server, "headers", notes);
        for (name, value) in headers.into_iter().flatten() {
            let value = value.as_str().filter(|value| !value.chars().any(char::is_control));
            let Some(value) = value.filter(|_| !name.is_empty() && name.bytes().all(letter)) else {
                let shown = names::shown(name);
                self.turn_off(
                    format!("the header `{shown}` is not legal, and is not taken"),
                    notes,
                );
                continue;
            };
            let value = secrets.header(&self.id, name, value, notes);
            self.headers.push((name.clone(), value));
        }
    }
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
