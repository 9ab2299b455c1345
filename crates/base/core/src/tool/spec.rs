//! What a caller may see of a tool, and what the gate must know of it.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::compact_json::CompactJson;
use super::effect::Effect;
use super::fingerprint::Fingerprint;
use super::membership::ToolsetMembership;
use super::verify::Verify;
use crate::call::name::{InvalidName, SourceId, ToolName};

/// A tool as data: three texts (summary, description, schema) and the rules it lives under.
///
/// Public fields and no builder: any combination is a spec, and `ToolSpec::new` fills what is
/// rarely said. What a field means for a request is written in `ARCHITECTURE.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: ToolName,
    /// For people, where the name is not good enough.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub title: Option<String>,
    /// One line, what a list shows while the tool is not loaded.
    pub summary: String,
    pub description: String,
    /// JSON Schema of the arguments: always an object.
    pub input: CompactJson,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub output: Option<CompactJson>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub category: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub actions: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub tags: Vec<String>,
    /// Other names by which it is looked for; it is called by none of them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub aliases: Vec<String>,
    /// Questions that it serves, as people ask them: it is found by them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub examples: Vec<String>,
    #[serde(default)]
    pub effect: Effect,
    /// Repeating a call is harmless; a reader always is.
    #[serde(default)]
    pub idempotent: bool,
    #[serde(default)]
    pub traits: ToolTraits,
    #[serde(default)]
    /// Shared: what a source says of its tools is the same for all of them.
    pub guidance: Arc<Guidance>,
    /// Evaluation checks that a host should run on an answer that used this tool.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub checks: Vec<String>,
    #[serde(default)]
    pub limits: ToolLimits,
    #[serde(default)]
    pub validation: Validation,
    /// Whose word that is.
    #[serde(skip)]
    pub validation_said: ValidationOrigin,
    /// Why a person must be asked before every call, whatever the policy says; `None`: the
    /// policy alone decides.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub approval: Option<String>,
    /// What tells whether a call took effect of which nobody knows how it ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verify: Option<Arc<Verify>>,
    /// The admin's switch.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub enabled: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deprecated: bool,
    /// A tool that a model API has a form of its own for: its definition under each dialect's name.
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    pub builtin: Map<String, Value>,
    /// The provider of the model runs it, and nobody else can: what stands in its place.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hosted: Option<Arc<HostedTool>>,
    pub origin: ToolOrigin,
    /// What the origin said besides, kept whole for those who pass it on (icons, notes for programs).
    #[serde(skip_serializing_if = "CompactJson::is_empty", default)]
    pub extra: CompactJson<Map<String, Value>>,
    /// The toolsets that it is in. They say nothing of what it does, so the fingerprint leaves them
    /// out.
    #[serde(skip)]
    pub toolsets: Vec<ToolsetMembership>,
}

/// What most tools add to the prompts, kept once.
static UNGUIDED: LazyLock<Arc<Guidance>> = LazyLock::new(Arc::default);

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_yes(flag: &bool) -> bool {
    *flag
}

impl ToolSpec {
    /// A spec with an empty argument list, of the host's own code.
    pub fn new(
        name: impl AsRef<str>,
        description: impl Into<String>,
        effect: Effect,
    ) -> Result<Self, InvalidName> {
        Ok(Self::named(ToolName::new(name)?, description, effect))
    }

    /// The same of a name that is one.
    pub fn named(name: ToolName, description: impl Into<String>, effect: Effect) -> Self {
        let description = description.into();
        let mut spec = Self::bare(name, effect, SourceId::code());
        spec.summary = first_sentence(&description);
        spec.description = description;
        spec
    }

    /// Of something that is read and is no tool; its name may be longer than one of a tool.
    pub(crate) fn reader(name: ToolName, source: &SourceId) -> Self {
        let mut spec = Self::bare(name, Effect::Read, source.clone());
        spec.input = serde_json::json!({ "type": "object" }).into();
        spec
    }

    fn bare(name: ToolName, effect: Effect, source: SourceId) -> Self {
        Self {
            name,
            title: None,
            summary: String::new(),
            description: String::new(),
            input: serde_json::json!({ "type": "object", "properties": {} }).into(),
            output: None,
            category: None,
            actions: Vec::new(),
            tags: Vec::new(),
            aliases: Vec::new(),
            examples: Vec::new(),
            effect,
            idempotent: false,
            traits: ToolTraits::default(),
            guidance: Arc::clone(&UNGUIDED),
            checks: Vec::new(),
            limits: ToolLimits::default(),
            validation: Validation::default(),
            validation_said: ValidationOrigin::default(),
            approval: None,
            verify: None,
            enabled: true,
            deprecated: false,
            builtin: Map::new(),
            hosted: None,
            origin: ToolOrigin { source, name: None, path: None, undeclared: false },
            extra: CompactJson::default(),
            toolsets: Vec::new(),
        }
    }

    /// Whether a call may be made again without asking anybody.
    pub fn harmless_to_repeat(&self) -> bool {
        self.idempotent || self.effect == Effect::Read
    }

    /// Whether it is in the toolset of this id.
    pub fn is_in(&self, toolset: &str) -> bool {
        self.toolsets.iter().any(|membership| membership.toolset.id == toolset)
    }

    /// SHA-256 of the canonical spec: every field but where it came from and the admin's switch.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut value = self.to_json();
        if let Value::Object(fields) = &mut value {
            fields.remove("origin");
            fields.remove("enabled");
        }
        Fingerprint::of(&value)
    }

    /// The spec as JSON, in the order of its fields.
    pub fn to_json(&self) -> Value {
        // A spec holds JSON, strings, numbers and flags: nothing of it can fail to serialise.
        serde_json::to_value(self).unwrap_or(Value::Null)
    }
}

/// The first sentence of a text on one line, 120 characters at most.
fn first_sentence(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let sentence = line.split_once(". ").map_or(line, |(first, _)| first);
    let mut summary: String = sentence.chars().take(120).collect();
    if summary.len() < sentence.len() {
        summary.push('…');
    }
    summary
}

/// Where a tool stands among others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolTraits {
    /// If chosen, it alone is shown (with capabilities and its companions); never shown unchosen.
    pub exclusive: bool,
    /// Shown whenever it is enabled, whatever was chosen.
    pub capability: bool,
    /// Its answer is the answer: it ends the turn and must be called alone.
    pub takes_control: bool,
    /// Tools that stay beside this one when it is the chosen exclusive tool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub companions: Vec<ToolName>,
}

/// How a tool is shown that the provider of a model runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostedTool {
    /// The tool that stands in its place where the model API has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<ToolName>,
    /// A model is shown a function in its place until it calls that.
    pub on_demand: bool,
}

/// What a tool adds to the prompts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Guidance {
    /// What the source says about all of its tools; shown once for all that are visible.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub system: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub user: String,
    /// How to write about its results in the system prompt; shown once the tool was used.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub system_format: String,
    /// The same for the user prompt.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub user_format: String,
    /// Repeated with every turn.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reminder: String,
}

impl Guidance {
    /// Each text of it.
    pub fn texts_mut(&mut self) -> [&mut String; 6] {
        let Self { source, system, user, system_format, user_format, reminder } = self;
        [source, system, user, system_format, user_format, reminder]
    }
}

/// Bounds of one tool; `None` takes the crib's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolLimits {
    /// How long one call may run, all attempts together.
    #[serde(with = "milliseconds", rename = "timeout_ms", skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// Largest result that a model is shown, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_result_bytes: Option<usize>,
    /// How often a call that is harmless to repeat is tried again after a passing fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<u32>,
}

mod milliseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::ref_option, reason = "the form that serde asks for")]
    pub(crate) fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match duration.map(|duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)) {
            Some(milliseconds) => serializer.serialize_u64(milliseconds),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
    }
}

/// How arguments meet the schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Validation {
    /// What the schema refuses is refused, and broken JSON is not repaired.
    Strict,
    /// What is plainly meant is put right and noted.
    #[default]
    Coerce,
    /// The tool checks for itself.
    Off,
}

/// Who said how the arguments of a tool meet its schema; the one that knows it best holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValidationOrigin {
    /// Nobody did: it is as it is with any tool.
    #[default]
    Nobody,
    /// The configuration, of all tools of the source.
    Source,
    /// The configuration, of this tool.
    Tool,
}

/// Where a tool comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOrigin {
    pub source: SourceId,
    /// Its name there, if it was renamed on the way.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// The path of the operation, where it is one of an API: `/repos/{owner}/issues`.
    #[serde(skip)]
    pub path: Option<String>,
    /// It does not say what a call does, and nobody has said it since: the effect is the safe
    /// guess.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub undeclared: bool,
}
