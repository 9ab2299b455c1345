//! Patterns over a tool and its caller, read once.

use toolcrib_core::{Caller, Effect, ToolSpec};
use toolcrib_json::invisible::exact;

use super::glob::Glob;
use super::problem::instead;

/// Longest pattern, in characters.
const LONGEST_PATTERN: usize = 256;

/// What a pattern looks at. The order is that of how much a value narrows down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PatternField {
    Name,
    Tag,
    Action,
    /// A set that rules go by.
    Toolset,
    /// Any set, also one that a model made.
    AnyToolset,
    Category,
    Source,
    Effect,
    Scope,
    Tenant,
    Subject,
}

impl PatternField {
    /// The fields of the tool, by which patterns are indexed.
    pub(super) const OF_TOOL: [Self; 7] = [
        Self::Name,
        Self::Tag,
        Self::Action,
        Self::Toolset,
        Self::Category,
        Self::Source,
        Self::Effect,
    ];
    pub(super) const OF_CALLER: [Self; 3] = [Self::Scope, Self::Tenant, Self::Subject];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Tag => "tag",
            Self::Action => "action",
            Self::Toolset | Self::AnyToolset => "toolset",
            Self::Category => "category",
            Self::Source => "source",
            Self::Effect => "effect",
            Self::Scope => "scope",
            Self::Tenant => "tenant",
            Self::Subject => "subject",
        }
    }

    fn named(name: &str) -> Option<Self> {
        let mut all = Self::OF_TOOL.into_iter().chain(Self::OF_CALLER);
        all.find(|field| field.as_str() == name)
    }

    /// Whether any value of the field passes: a tool has several tags, a caller several scopes.
    pub(super) fn any(
        self,
        caller: &Caller,
        tool: &ToolSpec,
        mut test: impl FnMut(&str) -> bool,
    ) -> bool {
        match self {
            Self::Name => test(tool.name.as_str()),
            Self::Tag => tool.tags.iter().any(|tag| test(tag)),
            Self::Action => tool.actions.iter().any(|action| test(action)),
            Self::Toolset => {
                let mut sets = tool.toolsets.iter().map(|membership| &membership.toolset);
                sets.any(|set| set.for_rules && test(&set.id))
            }
            Self::AnyToolset => tool.toolsets.iter().any(|membership| test(&membership.toolset.id)),
            Self::Category => tool.category.as_deref().is_some_and(test),
            Self::Source => test(tool.origin.source.as_str()),
            Self::Effect => test(tool.effect.as_str()),
            Self::Scope => caller.scopes.iter().any(|scope| test(scope)),
            Self::Tenant => test(&caller.tenant),
            Self::Subject => test(&caller.subject),
        }
    }
}

/// `field:glob`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PatternTerm {
    pub(super) field: PatternField,
    pub(super) glob: Glob,
}

impl PatternTerm {
    pub(super) fn matches(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        self.field.any(caller, tool, |value| self.glob.matches(value))
    }
}

/// What is wrong with a pattern, and the cure.
pub(super) type PatternFault = (String, String);

/// Reads the terms of a pattern; all of them must match.
pub(super) fn read(pattern: &str) -> Result<Vec<PatternTerm>, PatternFault> {
    if pattern.chars().nth(LONGEST_PATTERN).is_some() {
        let what = format!("a pattern is longer than {LONGEST_PATTERN} characters");
        return Err((what, "write several".to_owned()));
    }
    let terms: Vec<_> = pattern.split_whitespace().map(term).collect::<Result<_, _>>()?;
    if terms.is_empty() {
        return Err(("a pattern is empty".into(), "write `*` for every tool, or remove it".into()));
    }
    Ok(terms)
}

fn term(word: &str) -> Result<PatternTerm, PatternFault> {
    let Some((field, glob)) = word.split_once(':') else {
        return field_term(PatternField::Name, word);
    };
    let field = PatternField::named(field).ok_or_else(|| {
        let known = PatternField::OF_TOOL
            .into_iter()
            .chain(PatternField::OF_CALLER)
            .map(PatternField::as_str);
        let known: Vec<_> = known.collect();
        let cure =
            format!("{} (a tool name with a colon is `name:{word}`)", instead(field, &known));
        (format!("`{field}` is no field of a pattern"), cure)
    })?;
    field_term(field, glob)
}

/// A term that can never match is a slip of the pen, and in `deny` a dangerous one.
pub(super) fn field_term(field: PatternField, text: &str) -> Result<PatternTerm, PatternFault> {
    let glob = Glob::new(text);
    if text.is_empty() {
        let cure = format!("write `{}:*` for any, or remove it", field.as_str());
        return Err((format!("nothing follows `{}:`", field.as_str()), cure));
    }
    if field == PatternField::Effect {
        let known = [Effect::Read, Effect::Write, Effect::Destroy].map(Effect::as_str);
        if !known.iter().any(|effect| glob.matches(effect)) {
            return Err((format!("`{text}` is no effect"), instead(text, &known)));
        }
    }
    let stray = |letter: &char| !letter.is_ascii_alphanumeric() && !"_.:/-*?".contains(*letter);
    if let Some(stray) = text.chars().find(|letter| field == PatternField::Name && stray(letter)) {
        let what =
            format!("no tool name holds `{}`, so `{text}` matches none", exact(&stray.to_string()));
        return Err((what, "use letters, digits, `_ . : / -`, `*` and `?`".into()));
    }
    Ok(PatternTerm { field, glob })
}
