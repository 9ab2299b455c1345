//! What is checked, in the order in which it is asked: what ends connections comes last.

mod calls;
mod faults;
mod flow;
mod greeting;
mod library;
mod lists;
mod questions;
mod sessions;

use super::check::Check;

/// All of both revisions.
pub(super) fn all() -> Vec<Check> {
    let mut all = greeting::checks();
    all.extend(lists::checks());
    all.extend(calls::checks());
    all.extend(questions::checks());
    all.extend(library::checks());
    all.extend(flow::checks());
    all.extend(sessions::checks());
    all.extend(faults::checks());
    all
}
