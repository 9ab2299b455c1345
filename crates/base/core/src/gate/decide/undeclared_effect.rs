//! A call that is asked about because its tool does not say what it does: that is told too.

use super::verdict::decide_on;
use crate::call::arguments::Arguments;
use crate::catalog::CatalogTool;
use crate::gate::batch::Batch;
use crate::outcome::messages;
use crate::policy::Verdict;
use crate::tool::effect::Effect;
use crate::tool::spec::ToolSpec;

/// The reason, and where it is the unsaid effect alone that has the call asked about, also that,
/// and by what a person learns how not to be asked again.
pub(crate) async fn told(
    batch: &Batch,
    tool: &CatalogTool,
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
        Verdict::Allow => {
            let declare = batch.gate.marks.hints.declare_effects;
            messages::undeclared(&reason, declare.map(|declare| declare(&spec.origin.source)))
        }
        Verdict::Ask(_) | Verdict::Deny(_) => reason,
    }
}
