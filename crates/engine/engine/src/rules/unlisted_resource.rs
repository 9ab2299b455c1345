//! How far rules let a resource be asked for that no list names: it may be another spelling of one
//! that they keep out.

use toolcrib_core::{AddressPattern, Caller, UnlistedAccess, UnlistedResource};

use super::pattern::PatternField;
use super::rule_pattern::RulePattern;
use super::verdict_kind::VerdictKind;

/// `entries`: each with its patterns over names.
pub(super) fn of<'a>(
    entries: impl Iterator<Item = (&'a RulePattern, &'a [AddressPattern])>,
    caller: &Caller,
    unlisted: &UnlistedResource<'_>,
) -> UnlistedAccess {
    let UnlistedResource { spec, stem, address, .. } = unlisted;
    let (mut is_whole, mut is_parted) = (false, false);
    let mut leave = UnlistedAccess::Fitting;
    for (entry, named) in entries {
        let is_name = |field: PatternField| field == PatternField::Name;
        let mut others = entry.terms.iter().filter(|term| !is_name(term.field));
        if !others.all(|term| term.matches(caller, spec)) {
            continue;
        }
        let may_be = |name: &AddressPattern| address.may_be(stem, name);
        let mut names = entry.terms.iter().filter(|term| is_name(term.field));
        let is_of_all = named.iter().all(|name| name.is_of_all(stem));
        let mut matches = || names.all(|term| term.matches(caller, spec));
        match entry.ruling {
            VerdictKind::Allow | VerdictKind::Ask if is_of_all => is_whole = true,
            // Nothing of the source is had.
            VerdictKind::Deny if is_of_all => return UnlistedAccess::Never,
            VerdictKind::Allow if matches() => leave = leave.max(UnlistedAccess::Named),
            VerdictKind::Allow => {}
            VerdictKind::Ask | VerdictKind::Deny => {
                is_parted |= named.iter().all(|name| name.may_be_address(stem));
                // What it says of the address itself is heard elsewhere.
                if !matches() && named.iter().all(may_be) {
                    return UnlistedAccess::Never;
                }
            }
        }
    }
    if is_whole && !is_parted {
        return UnlistedAccess::Any;
    }
    if address.normal().is_none() { UnlistedAccess::Never } else { leave }
}
