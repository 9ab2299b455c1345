//! `toolcrib lock`: accepts the tools as they are, or tells what changed.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use serde_json::json;
use toolcrib_core::{Catalog, QuarantineReason, SourceId, ToolSpec};
use toolcrib_engine::pins::PinFile;

use crate::cli::CommandExit;
use crate::cli::context::CommandContext;
use crate::cli::output::Output;
use crate::config;

pub(crate) fn lock(
    context: &CommandContext,
    output: &Output,
    path: Option<&Path>,
    check: bool,
) -> Result<CommandExit> {
    // Another place than the one that is looked at would pin nothing.
    let path = path.unwrap_or(&context.lock);
    let away = context.crib.sources().into_iter().filter(|source| source.error.is_some());
    let away: Vec<_> = away.map(|source| format!("`{}`", source.id)).collect();
    if !away.is_empty() {
        // Their pins would be lost, and whatever they are afterwards accepted unseen.
        anyhow::bail!(
            "the tools of {} cannot be looked at: mend it (`toolcrib doctor` tells how), or write \
             `enabled = false` for it",
            away.join(", ")
        );
    }
    let (all, shown) = (ProfileTools::all(context), path.display());
    let old = config::file_if_any(path)?
        .map(|text| PinFile::parse(&text).with_context(|| format!("cannot use `{shown}`")))
        .transpose()?;
    let drift = old.as_ref().map(|old| old.drift(specs(&all, Some(old)))).unwrap_or_default();
    if check && old.is_none() {
        anyhow::bail!("there is no `{shown}`: `toolcrib lock` writes it");
    }
    let mut lock = PinFile::default();
    if !check {
        for shown in &all {
            lock.add(&shown.catalog, |source| shown.has(source));
        }
        config::write(path, &lock.to_text())?;
    }
    if output.json {
        output.value(&json!({ "file": shown.to_string(), "written": !check, "drift": drift }))?;
    } else {
        for drift in &drift {
            output.text(&drift.to_string())?;
        }
        if !check {
            let (count, be) = (lock.len(), if lock.len() == 1 { "tool is" } else { "tools are" });
            output.note(&format!("{count} {be} accepted in `{shown}`"));
            note_unusable(&all, &lock, output);
        } else if drift.is_empty() {
            output.note("nothing changed");
        }
    }
    Ok(if check && !drift.is_empty() { CommandExit::Failed } else { CommandExit::Done })
}

/// Tells which tools acceptance does not help, and why.
fn note_unusable(all: &[ProfileTools], lock: &PinFile, output: &Output) {
    let mut told = BTreeSet::new();
    let kept_out = all.iter().flat_map(|shown| {
        let own = shown.catalog.quarantined().iter();
        own.filter(|tool| shown.has(&tool.spec.origin.source))
    });
    for tool in kept_out.filter(|tool| !lock.has(&tool.spec)) {
        let is_new = told.insert((&tool.spec.name, &tool.spec.origin.source));
        if is_new && told.len() <= MOST_TOLD {
            output.note(&format!("`{}` is not accepted: {}", tool.spec.name, tool.reason));
        }
    }
    let more = told.len().saturating_sub(MOST_TOLD);
    if more > 0 {
        output.note(&format!("and {more} more are not: `toolcrib doctor --json` tells all"));
    }
}

/// Tools that are told one by one.
const MOST_TOLD: usize = 20;

/// What a profile shows, or the whole file.
struct ProfileTools {
    catalog: Arc<Catalog>,
    /// `None`: of all sources.
    sources: Option<BTreeSet<SourceId>>,
}

impl ProfileTools {
    fn all(context: &CommandContext) -> Vec<Self> {
        let whole = Self { catalog: context.crib.catalog(), sources: None };
        let profiles = context.profiles().into_iter().zip(context.named.values());
        let profiles =
            profiles.map(|((_, catalog), of)| Self { catalog, sources: Some(of.clone()) });
        [whole].into_iter().chain(profiles).collect()
    }

    fn has(&self, source: &SourceId) -> bool {
        self.sources.as_ref().is_none_or(|of| of.contains(source))
    }

    /// Every tool that could be accepted: the listed ones, and those that only a pin keeps out; and
    /// what an old pin file has accepted and cannot be used any more. One whose name another has is
    /// shown elsewhere, or nowhere.
    fn specs(&self, old: Option<&PinFile>) -> Vec<&ToolSpec> {
        let listed = self.catalog.tools().iter().map(|tool| &*tool.spec);
        let kept_out = self.catalog.quarantined().iter();
        let kept_out = kept_out
            .filter(|tool| {
                let is_elsewhere = matches!(
                    tool.reason,
                    QuarantineReason::NameTaken { .. } | QuarantineReason::Unusable { .. }
                );
                let is_accepted = || old.is_some_and(|old| old.has(&tool.spec));
                !is_elsewhere && (tool.reason.is_for_acceptance() || is_accepted())
            })
            .map(|tool| &*tool.spec);
        let mut names = BTreeSet::new();
        let own = listed.chain(kept_out).filter(|spec| self.has(&spec.origin.source));
        own.filter(|spec| names.insert(&spec.name)).collect()
    }
}

/// All of them, each once.
fn specs<'a>(shown: &'a [ProfileTools], old: Option<&PinFile>) -> Vec<&'a ToolSpec> {
    let mut known = BTreeSet::new();
    let all = shown.iter().flat_map(|shown| shown.specs(old));
    all.filter(|spec| known.insert((&spec.name, &spec.origin.source))).collect()
}
