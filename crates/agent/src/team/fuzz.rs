//! What models want of a team, for the fuzz target.

use toolcrib_core::Call;

use super::wish::TeamWish;

/// Who is given which task by a call, if it gives one.
///
/// # Errors
/// What the model is told that is wrong with the call.
pub fn delegated_task(call: &Call) -> Result<Option<(String, String)>, String> {
    Ok(match TeamWish::read(call)? {
        TeamWish::Delegate { specialist, task } | TeamWish::HandOver { specialist, task } => {
            Some((specialist, task.task))
        }
        TeamWish::Find { .. } | TeamWish::ReportMissing { .. } | TeamWish::Route { .. } => None,
    })
}
