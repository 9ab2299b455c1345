//! Tools that are set aside because another source has their name, told in words with the profiles
//! that serve them all the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolcrib_core::{Catalog, QuarantineReason, QuarantinedTool, SourceId, ToolName};

/// Names of one source that are told.
const TOLD: usize = 5;

/// A line for every two sources. `profiles`: what each profile shows.
pub fn set_aside(all: &Catalog, profiles: &[(String, Arc<Catalog>)]) -> Vec<String> {
    let lost = all
        .quarantined()
        .iter()
        .filter(|tool| matches!(tool.reason, QuarantineReason::NameTaken { .. }));
    let mut pairs: BTreeMap<(&SourceId, &SourceId), Vec<&ToolName>> = BTreeMap::new();
    for spec in lost.map(|tool| &tool.spec) {
        if let Some(owner) = all.owner(&spec.name) {
            pairs.entry((&spec.origin.source, owner)).or_default().push(&spec.name);
        }
    }
    let line = |((of, owner), names): (&(&SourceId, &SourceId), &Vec<&ToolName>)| {
        told((of, owner), names, &serving(of, names, profiles))
    };
    pairs.iter().map(line).collect()
}

/// A line for every source of which tools are kept out, with the reason of each that is named;
/// those whose names others have are told by [`set_aside`].
pub fn kept_out(all: &Catalog) -> Vec<String> {
    let mut sources: BTreeMap<&SourceId, Vec<&QuarantinedTool>> = BTreeMap::new();
    for tool in all.quarantined() {
        if !matches!(tool.reason, QuarantineReason::NameTaken { .. }) {
            sources.entry(&tool.spec.origin.source).or_default().push(tool);
        }
    }
    let line = |(source, tools): (&&SourceId, &Vec<&QuarantinedTool>)| {
        let named = tools.iter().take(TOLD);
        let named: Vec<_> =
            named.map(|tool| format!("`{}` ({})", tool.spec.name, tool.reason)).collect();
        let (are, more) = match tools.len() {
            1 => ("tool of", String::new()),
            count if count <= TOLD => ("tools of", String::new()),
            count => ("tools of", format!(", and {} more that `doctor` tells", count - TOLD)),
        };
        let be = if tools.len() == 1 { "is" } else { "are" };
        format!("{} {are} `{source}` {be} kept out: {}{more}", tools.len(), named.join(", "))
    };
    sources.iter().map(line).collect()
}

/// The profiles where all of these are this source's.
fn serving(of: &SourceId, names: &[&ToolName], profiles: &[(String, Arc<Catalog>)]) -> Vec<String> {
    let serves = |catalog: &Catalog| {
        let mut owners = names.iter().map(|name| catalog.get(name.as_str()));
        owners.all(|tool| tool.is_some_and(|tool| tool.spec.origin.source == *of))
    };
    let serving = profiles.iter().filter(|(_, catalog)| serves(catalog));
    serving.map(|(name, _)| format!("`{name}`")).collect()
}

fn told((of, owner): (&SourceId, &SourceId), names: &[&ToolName], serving: &[String]) -> String {
    let mut shown: Vec<_> = names.iter().take(TOLD).map(|name| format!("`{name}`")).collect();
    if names.len() > TOLD {
        shown.push(format!("{} more", names.len() - TOLD));
    }
    let what = format!("{} of `{of}`", shown.join(", "));
    let why = format!("tools of `{owner}` have the same names");
    match serving {
        [] => format!(
            "nobody is shown {what}: {why}. Give one of the two a `prefix`, or `{of}` a profile of \
             its own"
        ),
        [one] => format!("only the profile {one} shows {what}: elsewhere {why}"),
        more => format!("only the profiles {} show {what}: elsewhere {why}", more.join(", ")),
    }
}
