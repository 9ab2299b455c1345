//! How far rules let a resource be asked for that no list names: it may be another spelling of one
//! that they keep out.

use toolcrib_core::{Caller, Leave, Named, Unlisted};

use super::Ruling;
use super::pattern::Field;
use super::pattern_index::Entry;

/// `entries`: each with its patterns over names.
pub(super) fn of<'a>(
    entries: impl Iterator<Item = (&'a Entry, &'a [Named])>,
    caller: &Caller,
    unlisted: &Unlisted<'_>,
) -> Leave {
    let Unlisted { spec, stem, address, .. } = unlisted;
    let (mut is_whole, mut is_parted) = (false, false);
    let mut leave = Leave::Fitting;
    for (entry, named) in entries {
        let is_name = |field: Field| field == Field::Name;
        let mut others = entry.terms.iter().filter(|term| !is_name(term.field));
        if !others.all(|term| term.matches(caller, spec)) {
            continue;
        }
        let may_be = |name: &Named| address.may_be(stem, name);
        let mut names = entry.terms.iter().filter(|term| is_name(term.field));
        let is_of_all = named.iter().all(|name| name.is_of_all(stem));
        let mut matches = || names.all(|term| term.matches(caller, spec));
        match entry.ruling {
            Ruling::Allow | Ruling::Ask if is_of_all => is_whole = true,
            // Nothing of the source is had.
            Ruling::Deny if is_of_all => return Leave::Never,
            Ruling::Allow if matches() => leave = leave.max(Leave::Named),
            Ruling::Allow => {}
            Ruling::Ask | Ruling::Deny => {
                is_parted |= named.iter().all(|name| name.may_be_address(stem));
                // What it says of the address itself is heard elsewhere.
                if !matches() && named.iter().all(may_be) {
                    return Leave::Never;
                }
            }
        }
    }
    if is_whole && !is_parted {
        return Leave::Any;
    }
    if address.normal().is_none() { Leave::Never } else { leave }
}
