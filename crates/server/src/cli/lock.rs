//! `toolcrib lock`: accepts the tools as they are, or tells what changed.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;
use toolcrib::lock::Lock;
use toolcrib::{Catalog, ToolSpec};

use super::End;
use super::output::Output;
use super::room::Room;
use crate::config;

pub(super) fn lock(room: &Room, output: &Output, path: Option<&Path>, check: bool) -> Result<End> {
    // Another place than the one that is looked at would pin nothing.
    let path = path.unwrap_or(&room.lock);
    let away = room.crib.sources().into_iter().filter(|source| source.error.is_some());
    let away: Vec<_> = away.map(|source| format!("`{}`", source.id)).collect();
    if !away.is_empty() {
        // Their pins would be lost, and whatever they are afterwards accepted unseen.
        anyhow::bail!(
            "the tools of {} cannot be looked at: mend it (`toolcrib doctor` tells how), or write \
             `enabled = false` for it",
            away.join(", ")
        );
    }
    let catalog = room.crib.catalog();
    let shown = path.display();
    let old = config::file_if_any(path)?
        .map(|text| Lock::parse(&text).with_context(|| format!("cannot use `{shown}`")))
        .transpose()?;
    let drift = old.as_ref().map(|old| old.drift(specs(&catalog))).unwrap_or_default();
    if check && old.is_none() {
        anyhow::bail!("there is no `{shown}`: `toolcrib lock` writes it");
    }
    if !check {
        config::write(path, &Lock::of(&catalog).to_text())?;
    }
    if output.json {
        output.value(&json!({ "file": shown.to_string(), "written": !check, "drift": drift }))?;
    } else {
        for drift in &drift {
            output.text(&drift.to_string())?;
        }
        if !check {
            let count = specs(&catalog).count();
            output.note(&format!("{count} tools are accepted in `{shown}`"));
        } else if drift.is_empty() {
            output.note("nothing changed");
        }
    }
    Ok(if check && !drift.is_empty() { End::Failed } else { End::Done })
}

/// Every tool that could be accepted: the listed ones, and those that only a pin keeps out.
fn specs(catalog: &Catalog) -> impl Iterator<Item = &ToolSpec> {
    let listed = catalog.tools().iter().map(|tool| &*tool.spec);
    listed.chain(catalog.quarantined().iter().map(|tool| &*tool.spec))
}
