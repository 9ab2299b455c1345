//! Tells those who follow the server how its sources, its catalog and what holds over its file
//! change.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::json;
use toolcrib_config::Overlay;
use toolcrib_core::{Catalog, CatalogTool, ToolSpec};
use toolcrib_engine::catalog::SourceState;

use crate::config::history::HistoryEntry;
use crate::config::overlays;
use crate::freeze::FreezeState;
use crate::gateway::notices::Notices;
use crate::telemetry::Telemetry;
use crate::telemetry::feed::EventFeed;

/// Changes over the file that one event and one record name.
const MOST_CHANGES: usize = 100;

/// Tells which fields are changed over the file by now, whoever did it.
pub(super) fn of_overlay(before: &Overlay, now: &Overlay, telemetry: &Telemetry) {
    if before == now {
        return;
    }
    let missing = |here: &Overlay, there: &Overlay| -> Vec<_> {
        let rows = here.rows.iter().filter(|row| !there.rows.contains(row)).take(MOST_CHANGES);
        rows.map(|row| json!({ "id": row.id, "path": row.path, "by": row.by })).collect()
    };
    let (made, gone) = (missing(now, before), missing(before, now));
    let fields = json!({ "version": now.version, "made": made, "gone": gone });
    if let Some(audit) = &telemetry.audit {
        audit.note(json!({ "record": "overlay", "act": "followed", "changes": fields }));
    }
    telemetry.feed.overlay(&fields);
}

/// Tells of each source that is doing otherwise than before.
pub(super) fn of_sources(before: &[SourceState], now: &[SourceState], feed: &EventFeed) {
    for state in now {
        let old = before.iter().find(|old| old.id == state.id);
        // Its age grows with each look, and begins anew with a list that may be the same.
        let is_same = |old: &SourceState| {
            let age_seconds = state.age_seconds;
            old.age_seconds.is_some() == age_seconds.is_some()
                && SourceState { age_seconds, ..old.clone() } == *state
        };
        if !old.is_some_and(is_same) {
            feed.source(state);
        }
    }
    for old in before {
        if !now.iter().any(|state| state.id == old.id) {
            feed.source_removed(old.id.as_str());
        }
    }
}

/// Tells which tools came, went and became others.
pub(super) fn of_catalog(before: &Arc<Catalog>, now: &Arc<Catalog>, feed: &EventFeed) {
    if Arc::ptr_eq(before, now) {
        return;
    }
    let of = |catalog: &Arc<Catalog>| -> HashMap<String, _> {
        let tools = catalog.tools().iter();
        tools.map(|tool| (tool.spec.name.to_string(), (tool.fingerprint, tool.stale))).collect()
    };
    let (old, new) = (of(before), of(now));
    let mut added: Vec<_> = new.keys().filter(|name| !old.contains_key(*name)).collect();
    let mut removed: Vec<_> = old.keys().filter(|name| !new.contains_key(*name)).collect();
    let is_other =
        |(name, tool): &(&String, &_)| old.get(*name).is_some_and(|known| known != *tool);
    let mut changed: Vec<_> = new.iter().filter(is_other).map(|(name, _)| name).collect();
    let kept_out = |catalog: &Arc<Catalog>| catalog.quarantined().len();
    if added.len() + removed.len() + changed.len() == 0 && kept_out(before) == kept_out(now) {
        return;
    }
    let [added, removed, changed] = [&mut added, &mut removed, &mut changed].map(|names| {
        names.sort_unstable();
        names.iter().map(|name| name.as_str()).collect::<Vec<_>>()
    });
    feed.catalog(&added, &removed, &changed);
}

/// The tools whose sources define them otherwise than before: what is changed of them here is no
/// other definition.
pub(super) fn redefined(before: &Arc<Catalog>, now: &Arc<Catalog>) -> Vec<HistoryEntry> {
    if Arc::ptr_eq(before, now) {
        return Vec::new();
    }
    let key = |spec: &ToolSpec| (spec.origin.source.clone(), spec.name.clone());
    let old: HashMap<_, _> = before.loaded().iter().map(|tool| (key(&tool.spec), tool)).collect();
    let given = |tool: &CatalogTool| tool.tool.spec().fingerprint();
    let changed = now.loaded().iter().filter_map(|tool| {
        let known = old.get(&key(&tool.spec))?;
        if known.fingerprint == tool.fingerprint {
            return None;
        }
        let (before, after) = (given(known), given(tool));
        (before != after).then(|| HistoryEntry::redefined(&tool.spec, before, after))
    });
    // One that the pins keep out for it is no more among the tools.
    let kept_out = now.quarantined().iter().filter_map(|tool| {
        let known = old.get(&key(&tool.spec)).filter(|_| tool.reason.is_for_acceptance())?;
        let (before, after) = (known.fingerprint, tool.fingerprint);
        (before != after).then(|| HistoryEntry::redefined(&tool.spec, before, after))
    });
    changed.chain(kept_out).take(MOST_CHANGES).collect()
}

/// Tells what is frozen by now, whoever did it. `known`: what was told last, as numbers or as the
/// fault.
pub(super) fn of_freezes(
    known: &mut Option<Result<Vec<u64>, String>>,
    now: &FreezeState,
    telemetry: &Telemetry,
    notices: &Notices,
) {
    let at = overlays::now();
    let is = match now {
        FreezeState::Known(list) => Ok(list.lasting(at).map(|row| row.id).collect()),
        FreezeState::Unreadable(why) => Err(why.clone()),
    };
    if known.as_ref() == Some(&is) {
        return;
    }
    let was = known.replace(is.clone());
    match (now, &is) {
        (FreezeState::Unreadable(why), _) => notices.warn(&[format!("no call runs: {why}")]),
        (FreezeState::Known(_), Ok(rows)) if rows.is_empty() && was.is_some() => {
            notices.note("nothing is frozen any more");
        }
        (FreezeState::Known(list), _) => {
            let rows = list.lasting(at);
            let lines = rows.map(|row| format!("frozen by {}: {}", row.by, row.words()));
            notices.warn(&lines.collect::<Vec<_>>());
        }
    }
    if was.is_some() {
        telemetry.feed.freeze();
    }
}
