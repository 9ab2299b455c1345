//! What is changed of one tool.

use std::sync::Arc;
use std::time::Duration;

use toolcrib_core::{Effect, ToolName, ToolSpec, Validation, ValidationOrigin, Verify};

/// Each field that is there takes the place of the tool's own.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOverride {
    pub enabled: Option<bool>,
    pub exclusive: Option<bool>,
    pub capability: Option<bool>,
    pub takes_control: Option<bool>,
    pub companions: Option<Vec<ToolName>>,
    pub effect: Option<Effect>,
    pub idempotent: Option<bool>,
    pub timeout: Option<Duration>,
    pub max_result_bytes: Option<usize>,
    pub retries: Option<u32>,
    pub title: Option<String>,
    pub summary: Option<String>,
    pub description: Option<String>,
    pub category: Option<String>,
    pub actions: Option<Vec<String>>,
    pub tags: Option<Vec<String>>,
    pub aliases: Option<Vec<String>>,
    pub examples: Option<Vec<String>>,
    pub checks: Option<Vec<String>>,
    /// The empty text takes the tool's own reason away.
    pub approval: Option<String>,
    pub verify: Option<Arc<Verify>>,
    pub validation: Option<Validation>,
    pub guidance: GuidanceOverride,
}

/// The same of what a tool adds to the prompts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GuidanceOverride {
    pub system: Option<String>,
    pub user: Option<String>,
    pub system_format: Option<String>,
    pub user_format: Option<String>,
    pub reminder: Option<String>,
}

impl ToolOverride {
    pub(super) fn apply(&self, spec: &mut ToolSpec) {
        set(&mut spec.enabled, self.enabled);
        set(&mut spec.traits.exclusive, self.exclusive);
        set(&mut spec.traits.capability, self.capability);
        set(&mut spec.traits.takes_control, self.takes_control);
        set(&mut spec.traits.companions, self.companions.clone());
        set(&mut spec.effect, self.effect);
        spec.origin.undeclared &= self.effect.is_none();
        set(&mut spec.idempotent, self.idempotent);
        set(&mut spec.limits.timeout, self.timeout.map(Some));
        set(&mut spec.limits.max_result_bytes, self.max_result_bytes.map(Some));
        set(&mut spec.limits.retries, self.retries.map(Some));
        set(&mut spec.title, self.title.clone().map(Some));
        set(&mut spec.summary, self.summary.clone());
        set(&mut spec.description, self.description.clone());
        set(&mut spec.category, self.category.clone().map(Some));
        set(&mut spec.actions, self.actions.clone());
        set(&mut spec.tags, self.tags.clone());
        set(&mut spec.aliases, self.aliases.clone());
        set(&mut spec.examples, self.examples.clone());
        set(&mut spec.checks, self.checks.clone());
        let approval = self.approval.clone();
        set(
            &mut spec.approval,
            approval.map(|reason| Some(reason).filter(|text| !text.is_empty())),
        );
        set(&mut spec.verify, self.verify.clone().map(Some));
        if let Some(validation) = self.validation {
            (spec.validation, spec.validation_said) = (validation, ValidationOrigin::Tool);
        }
        let mut guidance = toolcrib_core::Guidance::clone(&spec.guidance);
        set(&mut guidance.system, self.guidance.system.clone());
        set(&mut guidance.user, self.guidance.user.clone());
        set(&mut guidance.system_format, self.guidance.system_format.clone());
        set(&mut guidance.user_format, self.guidance.user_format.clone());
        set(&mut guidance.reminder, self.guidance.reminder.clone());
        if guidance != *spec.guidance {
            spec.guidance = Arc::new(guidance);
        }
    }
}

fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}
