//! A policy as data: rules in a TOML text, checked and tested before they are used.
//!
//! ```toml
//! allow = ["category:calendar", "github__issues_*"]
//! ask = ["effect:write"]
//! deny = ["source:github effect:destroy"]
//!
//! [[rule]]
//! name = "guests look on"                       # for people; optional
//! when = { scope = "guest", tenant = "acme-*" }  # of the caller: scope, tenant, subject
//! deny = ["effect:write", "effect:destroy"]
//! reason = "guests may read only"                # told to the caller and the model; optional
//!
//! [[tests]]                                       # must hold, or the file is not loaded
//! tool = { name = "github__issues_create", source = "github", effect = "write" }
//! caller = { tenant = "acme-1", subject = "ann", scopes = ["guest"] }
//! expect = "deny"
//! ```
//!
//! A tool that no rule matches is denied. Of the verdicts of all matching rules the strictest
//! wins, so the order of rules and lists means nothing, and no rule can undo a `deny`.
//!
//! A pattern is a glob over the tool's name, or `field:glob` with a field of the tool (`name`,
//! `source`, `category`, `action`, `effect`, `tag`, `toolset`) or of the caller (`scope`, `tenant`,
//! `subject`); several joined by blanks must all match. In a glob `*` is any run of characters
//! and `?` is one (also a blank); all else is itself, and case counts. The first colon ends the
//! field: a tool whose name holds one is `name:ns:tool`. A tool without a category matches no
//! `category:`, and of several actions, tags or scopes one is enough.
//!
//! `when` adds its globs to every pattern of its rule. A `[[tests]]` names a tool, or describes
//! one: what is left out is as in a tool of the host that says nothing, so its effect is
//! `destroy`. Without `caller` it is the local one.

mod explanation;
mod glob;
mod pattern;
mod pattern_index;
mod problem;
mod reader;
mod rule_pattern;
mod rule_test;
mod tool_patterns;
mod toolset_names;
mod unlisted_resource;
mod verdict_kind;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use toml::de::DeTable;
use toolcrib_core::{
    BoxFuture, Caller, Fingerprint, Intent, Policy, ToolSpec, UnlistedAccess, UnlistedResource,
    Verdict,
};

pub use self::explanation::{Explanation, MatchedPattern, WrittenPattern};
pub use self::glob::Glob;
pub use self::problem::{RuleProblem, RuleProblems, instead};
pub use self::verdict_kind::VerdictKind;
use pattern_index::PatternIndex;
use rule_pattern::RulePattern;
pub use tool_patterns::{PatternProblem, ToolPatterns};
pub use toolset_names::{NamedToolset, ToolsetNames};

/// What a caller is told where no rule gives a reason: it names no rule.
const DENIED: &str = "the rules do not permit it";
const ASKED: &str = "the rules ask for consent";

/// A checked rule file.
#[derive(Debug, Clone)]
pub struct Rules {
    sections: Vec<RuleSection>,
    book: PatternIndex,
    fingerprint: Fingerprint,
}

/// What the patterns of one rule share.
#[derive(Debug, Clone)]
struct RuleSection {
    label: String,
    reason: Option<String>,
}

impl Rules {
    /// Reads a rule file of 1 MiB at the most, and runs its tests if all else is right.
    pub fn parse(text: &str) -> Result<Self, RuleProblems> {
        reader::rules(text)
    }

    /// Reads the same out of a table of a larger file: it holds the keys of a rule file and no
    /// others, and `text` is the whole file, for the lines. What stands in no `[[rule]]` is told
    /// as of `label`.
    ///
    /// `toolsets`: those that patterns may name, and that tests go by; `None`: nobody knows them.
    pub fn of_table(
        label: &str,
        table: &DeTable<'_>,
        text: &str,
        toolsets: Option<&ToolsetNames>,
    ) -> Result<Self, RuleProblems> {
        reader::table(label, table, text, toolsets)
    }

    /// Tells which rules decided. Comments, tests and the rest of a larger file are no part of it.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// All patterns, in the order of the file.
    pub fn patterns(&self) -> Vec<WrittenPattern> {
        let written = |entry: &RulePattern| WrittenPattern {
            rule: self.section(entry).map(|section| section.label.clone()).unwrap_or_default(),
            pattern: entry.pattern.clone(),
            verdict: entry.ruling,
            line: entry.line,
        };
        let mut all: Vec<_> = self.book.entries().iter().map(written).collect();
        all.sort_by_key(|pattern| pattern.line);
        all
    }

    /// The verdict on a tool, whatever the arguments.
    pub fn verdict(&self, caller: &Caller, tool: &ToolSpec) -> Verdict {
        let mut ruling = None;
        let mut reasons = BTreeSet::new();
        self.book.matching(caller, tool, |entry| {
            if Some(entry.ruling) > ruling {
                ruling = Some(entry.ruling);
                reasons.clear();
            }
            if Some(entry.ruling) == ruling {
                reasons.extend(self.section(entry).and_then(|section| section.reason.as_deref()));
            }
            ControlFlow::<()>::Continue(())
        });
        // Sorted, so that the order of rules does not change what the caller reads.
        let reason = |otherwise: &str| {
            let reasons: Vec<_> = reasons.into_iter().collect();
            if reasons.is_empty() { otherwise.to_owned() } else { reasons.join("; ") }
        };
        match ruling {
            Some(VerdictKind::Allow) => Verdict::Allow,
            Some(VerdictKind::Ask) => Verdict::Ask(reason(ASKED)),
            Some(VerdictKind::Deny) | None => Verdict::Deny(reason(DENIED)),
        }
    }

    /// Why the verdict is what it is. For operators: callers must not learn of rules.
    pub fn explain(&self, caller: &Caller, tool: &ToolSpec) -> Explanation {
        let mut entries: Vec<&RulePattern> = Vec::new();
        self.book.matching(caller, tool, |entry| {
            entries.push(entry);
            ControlFlow::<()>::Continue(())
        });
        let place =
            |entry: &&RulePattern| (Reverse(entry.ruling), entry.rule, entry.pattern.clone());
        entries.sort_by_cached_key(place);
        entries.dedup_by_key(|entry| place(entry));
        let matched = entries.into_iter().map(|entry| MatchedPattern {
            rule: self.section(entry).map(|section| section.label.clone()).unwrap_or_default(),
            pattern: entry.pattern.clone(),
            verdict: entry.ruling,
        });
        Explanation::new(&tool.name, self.verdict(caller, tool), matched.collect())
    }

    fn section(&self, entry: &RulePattern) -> Option<&RuleSection> {
        self.sections.get(entry.rule)
    }
}

impl Policy for Rules {
    fn sees(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        let mut matched = false;
        let denied = self.book.matching(caller, tool, |entry| {
            matched = true;
            if entry.ruling == VerdictKind::Deny {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        matched && denied.is_none()
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(std::future::ready(self.verdict(intent.caller, intent.tool)))
    }

    fn lets_run(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        self.verdict(caller, tool) == Verdict::Allow
    }

    fn is_per_tool(&self) -> bool {
        self.book.singles_out()
    }

    fn leave(&self, caller: &Caller, unlisted: &UnlistedResource<'_>) -> UnlistedAccess {
        let leave = self.book.leave(caller, unlisted);
        let is_kept = leave == UnlistedAccess::Any || self.sees(caller, unlisted.normal);
        if is_kept { leave } else { UnlistedAccess::Never }
    }

    fn version(&self) -> Option<Fingerprint> {
        Some(self.fingerprint)
    }
}
