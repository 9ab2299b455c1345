//! A call that is asked about because its tool does not say what it does: that is told too.

use super::decide::decide_on;
use super::shared::Batch;
use crate::advice;
use crate::arguments::Arguments;
use crate::catalog::Listed;
use crate::effect::Effect;
use crate::policy::Verdict;
use crate::spec::ToolSpec;

/// The reason, and where it is the unsaid effect alone that has the call asked about, also that,
/// and by what a person learns how not to be asked again.
pub(super) async fn told(
    batch: &Batch,
    tool: &Listed,
    arguments: &Arguments,
    reason: String,
) -> String {
    let spec = &tool.spec;
    if !spec.origin.undeclared || spec.approval.is_some() || batch.reading.is_some() {
        return reason;
    }
    // A rule that goes by the name asks whatever the effect is.
    let mut reader = ToolSpec::clone(spec);
    reader.effect = Effect::Read;
    match decide_on(batch, &reader, arguments).await {
        Verdict::Allow => advice::undeclared(&reason, &spec.origin.source),
        Verdict::Ask(_) | Verdict::Deny(_) => reason,
    }
}
