//! Sources that give no tools now, as a caller may hear of them: what is missing in a search may be
//! theirs, and is not to be taken for what nobody has.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Serialize;
use toolcrib_core::{Caller, Effect, Policy, SourceId, ToolName, ToolSpec};

use crate::catalog::{Absence, AbsentSource};

/// A source without tools, and why, in words that a model may read: the cause is for the operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnavailableSource {
    pub source: SourceId,
    pub reason: &'static str,
}

/// Sources that a text names.
const MOST: usize = 5;

/// Those that this caller may know of. Of a source that is away no tool is known, so the policy is
/// asked about the plainest one that it could have: one that reads, of which nothing is said.
pub(crate) fn known_to(
    caller: &Caller,
    policy: &dyn Policy,
    absent: Vec<AbsentSource>,
) -> Vec<UnavailableSource> {
    let sees = |spec: &ToolSpec| {
        // Who cannot tell hides it.
        catch_unwind(AssertUnwindSafe(|| policy.sees(caller, spec))).unwrap_or(false)
    };
    let absent = absent.into_iter().filter(|absent| sees(&plainest(absent)));
    absent
        .map(|AbsentSource { source, why, .. }| UnavailableSource { source, reason: reason(why) })
        .collect()
}

/// The source that would have a tool of this name and gives none now, if the caller may know of it,
/// with whether it is still being loaded; and whether the name begins as those of one do.
pub(crate) fn owner_away(
    caller: &Caller,
    policy: &dyn Policy,
    name: &str,
    absent: Vec<AbsentSource>,
) -> (Option<(UnavailableSource, bool)>, bool) {
    let owners = absent.into_iter().filter(|absent| name.starts_with(&absent.stem));
    let Some(owner) = owners.max_by_key(|absent| absent.stem.len()) else { return (None, false) };
    let (is_loading, is_named) = (owner.why == Absence::Loading, !owner.stem.is_empty());
    let known = known_to(caller, policy, vec![owner]).pop();
    (known.map(|away| (away, is_loading)), is_named)
}

fn plainest(absent: &AbsentSource) -> ToolSpec {
    let name = ToolName::sanitize(&format!("{}list", absent.stem));
    let mut spec = ToolSpec::named(name, "", Effect::Read);
    spec.origin.source = absent.source.clone();
    spec
}

fn reason(why: Absence) -> &'static str {
    match why {
        Absence::Loading => "it is still being loaded",
        Absence::Failed => "it could not list them",
        Absence::Slow => "it did not list them in time",
        Absence::Broken => "it broke down while it listed them",
    }
}

/// Those that a search could have found something of: it may be about some sources alone.
pub(super) fn of_interest(
    away: Vec<UnavailableSource>,
    sources: &[String],
) -> Vec<UnavailableSource> {
    let wanted: BTreeSet<_> = sources.iter().map(|name| name.to_lowercase()).collect();
    let is_wanted = |away: &UnavailableSource| {
        wanted.is_empty() || wanted.contains(away.source.as_str().to_lowercase().as_str())
    };
    away.into_iter().filter(is_wanted).collect()
}

/// As data for a model: as many as a text names.
pub(super) fn data(away: &[UnavailableSource]) -> &[UnavailableSource] {
    away.get(..MOST).unwrap_or(away)
}

/// What a model is told of them; empty if there are none.
pub(super) fn told(away: &[UnavailableSource]) -> String {
    let mut text = String::new();
    for UnavailableSource { source, reason } in away.iter().take(MOST) {
        let _ = write!(text, "\nThe source `{}` gives no tools now: {reason}.", short(source));
    }
    if away.len() > MOST {
        let _ = write!(text, "\n{} more sources give none.", away.len() - MOST);
    }
    if !text.is_empty() {
        text.push_str(
            "\nWhat you miss may be there: search again later, or tell the user, before you say that \
             no tool does it.",
        );
    }
    text
}

fn short(source: &SourceId) -> String {
    source.as_str().chars().filter(|letter| !letter.is_control()).take(48).collect()
}
