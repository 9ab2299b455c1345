//! `toolcrib import`, `check`, `trust` and `login`: what comes before the first call.

pub(crate) mod freeze;
pub(crate) mod overlay;

use std::path::Path;

use anyhow::{Context, Error, Result, bail};
use serde_json::json;
use toolcrib_config::{Config, import as read_foreign, schema};
use toolcrib_core::BoxFuture;
#[cfg(feature = "google")]
use toolcrib_desk::google::GoogleBackend;
use toolcrib_mcp as mcp;

use super::serve;
use crate::cli::CommandExit;
use crate::cli::args::{CONFIG, GlobalArgs, ServeArgs};
use crate::cli::context::CommandContext;
use crate::cli::context::DEFAULT;
use crate::cli::output::Output;
use crate::cli::signals::told_to_end;
use crate::config::trust::{OverFile, TrustRequest};
use crate::config::{self, overlays};
use crate::gateway::serve_config::ServeConfig;

pub(crate) fn import(output: &Output, path: &Path) -> Result<CommandExit> {
    let text = if path == Path::new("-") { config::standard_input()? } else { config::file(path)? };
    let imported =
        read_foreign(&text, None).with_context(|| format!("cannot import `{}`", path.display()))?;
    if output.json {
        output.value(&json!({ "toml": imported.toml, "notes": imported.notes }))?;
        return Ok(CommandExit::Done);
    }
    output.text(&imported.toml)?;
    for note in &imported.notes {
        let about = note.source.as_ref().map(|source| format!("`{source}`: ")).unwrap_or_default();
        let export = note.export.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        output.note(&format!("note: {about}{}{export}", note.text));
    }
    Ok(CommandExit::Done)
}

pub(crate) fn check(
    global: &GlobalArgs,
    output: &Output,
    words: &ServeArgs,
) -> Result<CommandExit> {
    let path = words.file.clone().or_else(|| global.config.clone());
    let path = path.unwrap_or_else(|| CONFIG.into());
    let (shown, text) = (path.display().to_string(), config::file(&path)?);
    let held = (!words.no_overlay).then(|| overlays::overlay(&path)).transpose()?;
    let held = held.unwrap_or_default();
    let now = overlays::now();
    let read = Config::read_over(&text, &shown, &held, now);
    let (problems, warnings) = read.examine(&config::ProcessLookup);
    let (mut refusals, mut failed) = (Vec::new(), Vec::new());
    if let Some(checked) = read.config {
        let file = ServeConfig {
            path,
            folded: Some(held.folded(&text, &shown, now)),
            text: Some(text),
            default: DEFAULT,
            checked,
            is_found: false,
            overlay: None,
            held,
        };
        (refusals, failed) = serve::refusals(global, words, &file);
    }
    if !problems.is_empty() {
        // They say why.
        failed.clear();
    }
    let is_good = problems.is_empty() && refusals.is_empty() && failed.is_empty();
    let told = refusals.iter().map(told).chain(failed);
    if output.json {
        let refused = told.map(|message| json!({ "file": shown, "message": message }));
        let problems = problems.iter().map(|problem| json!(problem)).chain(refused);
        let problems: Vec<_> = problems.collect();
        output.value(&json!({ "problems": problems, "warnings": warnings }))?;
    } else {
        output.warn(&warnings);
        for problem in &problems {
            output.text(&problem.to_string())?;
        }
        for refused in told {
            output.text(&format!("{shown}: {refused}"))?;
        }
        if is_good {
            output.note(&format!("`{shown}` is good"));
        }
    }
    Ok(if is_good { CommandExit::Done } else { CommandExit::Failed })
}

/// An error with its causes, each once, as it would be told at the start.
fn told(error: &Error) -> String {
    let mut told = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // Some errors tell their cause themselves.
        if !told.contains(&cause) {
            told = format!("{told}\n  because {cause}");
        }
    }
    told
}

/// Shows what a file starts and sends, and remembers that it may.
pub(crate) fn trust(output: &Output, path: &Path, forget: bool) -> Result<CommandExit> {
    let shown = path.display().to_string();
    let (held, text, at) = (overlays::overlay(path)?, config::file(path)?, overlays::now());
    let read = Config::read_over(&text, &shown, &held, at);
    let mut checked =
        read.config.with_context(|| format!("`{shown}` cannot be used: `toolcrib check`"))?;
    let added = OverFile { text: &text, held: &held, at }.added(path);
    let wishes = TrustRequest::of(path, &mut checked, &added);
    match &wishes {
        Some(wishes) if forget => wishes.forget()?,
        Some(wishes) => wishes.trust()?,
        None => {}
    }
    let lines = wishes.as_ref().map(TrustRequest::lines).unwrap_or_default();
    if output.json {
        let trusted = !forget || lines.is_empty();
        output.value(&json!({ "file": shown, "does": lines, "trusted": trusted }))?;
        return Ok(CommandExit::Done);
    }
    if !lines.is_empty() {
        output.text(&lines.join("\n"))?;
    }
    output.note(&match (lines.is_empty(), forget) {
        (true, _) => format!("`{shown}` starts nothing and sends no secret: it needs no trust"),
        (false, true) => format!("`{shown}` is trusted no longer"),
        (false, false) => format!("`{shown}` is trusted while it says this"),
    });
    Ok(CommandExit::Done)
}

pub(crate) fn print_schema(output: &Output) -> Result<CommandExit> {
    output.value(&schema())?;
    Ok(CommandExit::Done)
}

/// The sign-in at Google of a desk.
#[cfg(feature = "google")]
fn at_google<'a>(
    context: &CommandContext,
    source: &str,
    show: impl Fn(&str) + Send + 'a,
) -> Result<BoxFuture<'a, Result<()>>> {
    let Some(settings) = context.sources.google(source) else {
        bail!(
            "`{source}` is no MCP server over HTTP and no desk with an account of Google: there is \
             nothing to sign in to"
        );
    };
    Ok(Box::pin(async move {
        let given = GoogleBackend::sign_in(&settings, show).await;
        given.map(drop).map_err(|fault| match fault.cause {
            Some(cause) => anyhow::anyhow!("{}: {cause}", fault.message),
            None => anyhow::anyhow!(fault.message),
        })
    }))
}

#[cfg(not(feature = "google"))]
fn at_google<'a>(
    _: &CommandContext,
    source: &str,
    _: impl Fn(&str) + Send + 'a,
) -> Result<BoxFuture<'a, Result<()>>> {
    bail!(
        "`{source}` is no MCP server over HTTP, and this program was built without Google (the \
         feature `google`): there is nothing to sign in to"
    )
}

/// Has the person sign in where the source says, and keeps what they were given.
pub(crate) fn login(
    context: &CommandContext,
    output: &Output,
    source: &str,
) -> Result<CommandExit> {
    let show = |address: &str| output.note(&format!("Open this address and sign in:\n{address}"));
    let signing_in: BoxFuture<'_, Result<()>> = match context.sources.http(source) {
        Some(settings) => Box::pin(async move {
            let show = |address: url::Url| show(address.as_str());
            Ok(mcp::login(&settings, &context.caller, show).await?)
        }),
        None => at_google(context, source, show)?,
    };
    let signed_in = context.runtime.block_on(async {
        tokio::select! {
            signed_in = signing_in => signed_in.map(|()| true),
            _ = told_to_end() => Ok(false),
        }
    });
    if !signed_in? {
        return Ok(CommandExit::Interrupted);
    }
    if output.json {
        output.value(&json!({ "source": source, "signed_in": true }))?;
    } else {
        output.note(&format!("signed in to `{source}`"));
    }
    Ok(CommandExit::Done)
}
