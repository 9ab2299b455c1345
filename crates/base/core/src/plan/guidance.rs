//! What the visible tools add to the prompts.

use serde::Serialize;

use super::tools::Plan;
use super::visibility::Exposure;

/// Texts for a host to put into its prompts; empty where no tool says anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct GuidanceText {
    pub system: String,
    pub user: String,
    /// One for each tool that reminds, to be repeated with every turn.
    pub reminders: Vec<String>,
}

impl GuidanceText {
    /// Format information stands there only for tools that were used in the run: before, it
    /// costs tokens and says nothing yet.
    pub(super) fn of(plan: &Plan) -> Self {
        let mut text = Self::default();
        let mut introduced = Vec::new();
        for tool in plan.tools().filter(|tool| tool.exposure != Exposure::Hidden) {
            let spec = &tool.listed.spec;
            let used = plan.run().used(&spec.name);
            let guidance = &spec.guidance;
            let introduction = (&spec.origin.source, guidance.source.as_str());
            if !introduced.contains(&introduction) {
                introduced.push(introduction);
                section(&mut text.system, spec.origin.source.as_str(), [&guidance.source, ""]);
            }
            let formats = [(&guidance.system_format, used), (&guidance.user_format, used)];
            let [system_format, user_format] =
                formats.map(|(format, shown)| if shown { format.as_str() } else { "" });
            section(&mut text.system, spec.name.as_str(), [&guidance.system, system_format]);
            section(&mut text.user, spec.name.as_str(), [&guidance.user, user_format]);
            if !guidance.reminder.is_empty() {
                text.reminders.push(guidance.reminder.clone());
            }
        }
        text
    }
}

impl Plan {
    /// What the visible tools add to the prompts, as texts.
    pub fn guidance(&self) -> GuidanceText {
        GuidanceText::of(self)
    }
}

fn section(prompt: &mut String, heading: &str, texts: [&str; 2]) {
    let texts: Vec<_> = texts.into_iter().map(str::trim).filter(|text| !text.is_empty()).collect();
    if texts.is_empty() {
        return;
    }
    if !prompt.is_empty() {
        prompt.push_str("\n\n");
    }
    prompt.push_str("## ");
    prompt.push_str(heading);
    for text in texts {
        prompt.push('\n');
        prompt.push_str(text);
    }
}
