//! Where runs are on record: in the files of this machine, and at a server.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use toolcrib_agent::Cassette;
use toolcrib_config::Config;
use toolcrib_store::{self as store, RunArchive};

use super::row::row;
use crate::cli::args::{CONFIG, GlobalArgs, RemoteArgs};
use crate::cli::control::client::BlockingClient;
use crate::cli::output::Output;
use crate::config;
use crate::config::record::is_of_postgres;
use crate::http::agents::live::live_run::is_edit;

/// Runs that are looked at in one file, of those that a word may not fit.
const MOST: usize = 10_000;
/// Runs that are read at a time.
const PAGE: usize = 100;

/// All places that are asked.
pub(super) struct RunPlaces {
    archives: Vec<(PathBuf, RunArchive)>,
    server: Option<BlockingClient>,
}

/// A run by its id or in a file.
pub(super) fn cassette(
    global: &GlobalArgs,
    remote: &RemoteArgs,
    output: &Output,
    run: &str,
) -> Result<Cassette> {
    let path = Path::new(run);
    let text = match run {
        "-" => Some(config::standard_input()?),
        _ if path.is_file() => Some(config::file(path)?),
        _ => None,
    };
    match text {
        Some(text) => Cassette::read(&text).with_context(|| format!("cannot use `{run}`")),
        None => RunPlaces::open(global, remote, output)?.find(run),
    }
}

impl RunPlaces {
    pub(super) fn open(global: &GlobalArgs, remote: &RemoteArgs, output: &Output) -> Result<Self> {
        if remote.url.is_some() || remote.token_file.is_some() {
            let server = Some(BlockingClient::open(global, remote)?);
            return Ok(Self { archives: Vec::new(), server });
        }
        let stored = store_path(global)?;
        // Without a store, what a server did is in its memory.
        let server =
            if stored.is_none() { BlockingClient::open(global, remote).ok() } else { None };
        let mut archives = Vec::new();
        for path in stored.into_iter().filter(|path| path.exists()).chain(chats()) {
            match RunArchive::open(&path) {
                Ok(archive) => archives.push((path, archive)),
                Err(error) => output.warn(&[format!("{error}")]),
            }
        }
        Ok(Self { archives, server })
    }

    /// Runs, newest first.
    pub(super) fn list(&self, limit: usize, wanted: &dyn Fn(&Value) -> bool) -> Result<Vec<Value>> {
        let mut runs = Vec::new();
        for (path, archive) in &self.archives {
            runs.extend(of_archive((path, archive), limit, wanted)?);
        }
        if let Some(server) = &self.server {
            match of_server(server, limit, wanted) {
                Ok(found) => runs.extend(found),
                // It was not asked for by name, and need not be there.
                Err(_) if !self.is_remote() => {}
                Err(error) => return Err(error),
            }
        }
        runs.sort_by_key(|run| std::cmp::Reverse(run.get("created_at").and_then(Value::as_u64)));
        runs.truncate(limit);
        Ok(runs)
    }

    /// Whether a server is asked and nothing else.
    fn is_remote(&self) -> bool {
        self.archives.is_empty()
    }

    /// The one run whose id begins so.
    pub(super) fn find(&self, named: &str) -> Result<Cassette> {
        let named = named.strip_prefix("resp_").unwrap_or(named);
        let mut ids = Vec::new();
        for (path, archive) in &self.archives {
            for id in each_id(archive)? {
                if id == named {
                    return of_file((path, archive), &id);
                }
                if !named.is_empty() && id.starts_with(named) {
                    ids.push((path, archive, id));
                }
            }
        }
        match ids.as_slice() {
            [(path, archive, id)] => return of_file((path, archive), id),
            [] => {}
            several => {
                let several: Vec<_> = several.iter().map(|(_, _, id)| id.as_str()).collect();
                bail!("several runs begin with `{named}`: {}", several.join(", "));
            }
        }
        let absent = || anyhow!("no run is called `{named}`: `toolcrib runs` lists them");
        let Some(server) = &self.server else { return Err(absent()) };
        let at = |id: &str| {
            let id = utf8_percent_encode(id, NON_ALPHANUMERIC);
            let answer = server.ask(Method::GET, &format!("/v1/runs/{id}/record"), None)?;
            Ok(Cassette::read(&answer.to_string())?)
        };
        let refused = match at(named) {
            Ok(cassette) => return Ok(cassette),
            Err(error) => error,
        };
        let begins = |run: &Value| {
            let id = run.get("id").and_then(Value::as_str);
            id.is_some_and(|id| !named.is_empty() && id.starts_with(named))
        };
        let found = of_server(server, 2, &begins);
        let found = if self.is_remote() { found? } else { found.unwrap_or_default() };
        match found.as_slice() {
            [one] => at(one.get("id").and_then(Value::as_str).unwrap_or_default()),
            [] if self.is_remote() => Err(refused),
            [] => Err(absent()),
            _ => bail!("several runs begin with `{named}`: `toolcrib runs` lists them"),
        }
    }
}

/// The ids of a file, newest first.
fn each_id(archive: &RunArchive) -> Result<Vec<String>> {
    let all = archive.runs(None, MOST)?;
    Ok(all.into_iter().filter(|run| !is_edit(&run.agent)).map(|run| run.id).collect())
}

fn of_file((path, archive): (&Path, &RunArchive), id: &str) -> Result<Cassette> {
    let found = archive.run(id)?;
    // It may have been forgotten meanwhile.
    let (stored, log) = found.with_context(|| format!("`{}` has no `{id}`", path.display()))?;
    Ok(Cassette::of(stored, log))
}

fn of_archive(
    place: (&Path, &RunArchive),
    limit: usize,
    wanted: &dyn Fn(&Value) -> bool,
) -> Result<Vec<Value>> {
    let (mut rows, mut before, mut seen) = (Vec::new(), None, 0);
    while rows.len() < limit && seen < MOST {
        let page = place.1.runs(before, PAGE)?;
        let Some(last) = page.last() else { break };
        (before, seen) = (Some(last.number), seen + page.len());
        for run in &page {
            // What is wished of it is in its row alone, and reading all of it is not cheap.
            let plain = serde_json::json!({ "agent": run.agent, "state": run.stage.as_str() });
            if rows.len() < limit && !is_edit(&run.agent) && wanted(&plain) {
                rows.push(marked(row(&of_file(place, &run.id)?), &place.0.display().to_string()));
            }
        }
    }
    Ok(rows)
}

fn of_server(
    server: &BlockingClient,
    limit: usize,
    wanted: &dyn Fn(&Value) -> bool,
) -> Result<Vec<Value>> {
    let (mut rows, mut path, mut seen) = (Vec::new(), format!("/v1/runs?limit={PAGE}"), 0);
    while rows.len() < limit && seen < MOST {
        let page = server.ask(Method::GET, &path, None)?;
        let runs = page.get("runs").and_then(Value::as_array).cloned().unwrap_or_default();
        seen += runs.len();
        for run in runs.iter().filter(|run| wanted(run)) {
            let id = run.get("id").and_then(Value::as_str).unwrap_or_default();
            let id = utf8_percent_encode(id, NON_ALPHANUMERIC);
            if rows.len() < limit {
                let shown = server.ask(Method::GET, &format!("/v1/runs/{id}"), None)?;
                rows.push(marked(with_tokens(shown), server.base()));
            }
        }
        let Some(cursor) = page.get("cursor").and_then(Value::as_str) else { break };
        path = format!(
            "/v1/runs?limit={PAGE}&cursor={}",
            utf8_percent_encode(cursor, NON_ALPHANUMERIC)
        );
    }
    Ok(rows)
}

/// What was used, in one number.
fn with_tokens(mut run: Value) -> Value {
    let used = |key: &str| run.pointer(&format!("/usage/{key}")).and_then(Value::as_u64);
    let tokens = used("input_tokens").zip(used("output_tokens"));
    if let (Value::Object(fields), Some((read, written))) = (&mut run, tokens) {
        fields.insert("tokens".to_owned(), read.saturating_add(written).into());
    }
    run
}

/// Says where it was found.
fn marked(mut row: Value, at: &str) -> Value {
    if let Value::Object(fields) = &mut row {
        fields.insert("at".to_owned(), at.into());
    }
    row
}

/// The file that the configuration has its runs kept in, if it names one.
fn store_path(global: &GlobalArgs) -> Result<Option<PathBuf>> {
    let path = global.config.as_deref().unwrap_or(Path::new(CONFIG));
    let text = match &global.config {
        Some(path) => Some(config::file(path)?),
        None => config::file_if_any(path)?,
    };
    let Some(text) = text else { return Ok(None) };
    let name = path.display().to_string();
    let checked = Config::read(&text, &name).config;
    let checked = checked.with_context(|| format!("`{name}` cannot be used: `toolcrib check`"))?;
    let address = checked.store(&config::ProcessLookup).map_err(|missing| {
        let lines: Vec<_> = missing.iter().map(ToString::to_string).collect();
        anyhow!("the address of the store is not there: {}", lines.join("; "))
    })?;
    // What is in a database, the server is asked for.
    let address = address.filter(|address| !is_of_postgres(address.expose()));
    let Some(address) = address else { return Ok(None) };
    let stored = store::path(address.expose())?;
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(Some(folder.join(stored)))
}

/// The files of the chats of this user.
fn chats() -> Vec<PathBuf> {
    let folder = config::state_folder().map(|state| state.join("chats"));
    let files = folder.and_then(|folder| fs::read_dir(folder).ok());
    let mut files: Vec<_> = files
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|kind| kind == "db"))
        .collect();
    files.sort();
    files
}
