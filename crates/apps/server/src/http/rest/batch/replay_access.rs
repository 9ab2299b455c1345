//! Who hears the reply that a request under a key had: only who could make its calls now.

use toolcrib_auth::{AccessLevel, reach};
use toolcrib_core::Caller;

use super::job::BatchJob;

/// Whether a token may hear what came of calls. The same person may have others that open more, and
/// the key is of the person.
pub(crate) fn hears(work: &BatchJob, caller: &Caller) -> bool {
    // What is not there now may be a tool that writes.
    hears_each(work, caller, reach(caller, work.profile.as_deref()) == AccessLevel::All)
}

/// The same where the profile is only one that they may have been made under.
pub(crate) fn hears_anyway(work: &BatchJob, caller: &Caller) -> bool {
    hears_each(work, caller, false)
}

/// `absent`: whether it hears of a tool that is not there now.
fn hears_each(work: &BatchJob, caller: &Caller, absent: bool) -> bool {
    let (catalog, executor) = (work.crib.catalog(), work.crib.executor());
    work.calls.iter().all(|call| {
        let raw = || call.arguments.clone();
        let meant = work.plan.meant(&call.name, raw, &executor.limits().arguments);
        match catalog.get(meant.as_deref().unwrap_or(&call.name)) {
            Some(tool) => executor.policy().sees(caller, &tool.spec),
            None => absent,
        }
    })
}
