//! From TOML to rules: every fault is collected with its line, and none stops the reading.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toolcrib_core::{
    Caller, Effect, Fingerprint, MembershipReason, SourceId, ToolSpec, ToolsetInfo,
    ToolsetMembership,
};
use toolcrib_json::invisible::exact;

use super::pattern::{self, PatternFault, PatternField, PatternTerm};
use super::pattern_index::PatternIndex;
use super::problem::{RuleProblem, RuleProblems, instead};
use super::rule_pattern::RulePattern;
use super::rule_test::RuleTest;
use super::toolset_names::ToolsetNames;
use super::verdict_kind::VerdictKind;
use super::{RuleSection, Rules};

/// Largest rule file, in bytes.
const LARGEST_FILE: usize = 1 << 20;

const LISTS: [(&str, VerdictKind); 3] =
    [("allow", VerdictKind::Allow), ("ask", VerdictKind::Ask), ("deny", VerdictKind::Deny)];

/// What rules say: tests decide nothing.
const SAID: [&str; 4] = ["allow", "ask", "deny", "rule"];

type TomlTable<'t> = DeTable<'t>;
type TomlItem<'t> = Spanned<DeValue<'t>>;

pub(super) fn rules(text: &str) -> Result<Rules, RuleProblems> {
    let mut reading = RuleReader::new(text, None);
    if text.len() > LARGEST_FILE {
        let what = format!("the file is larger than {LARGEST_FILE} bytes");
        reading.problem(0, what, "use patterns instead of names");
        RuleProblems::or_none(std::mem::take(&mut reading.problems))?;
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    // What could be made of broken TOML may not be what was meant: it is not looked at. Of a
    // line only the first error counts, the others mostly follow from it.
    for error in errors {
        let at = error.span().map_or(0, |span| span.start);
        reading.problem(at, format!("not TOML: {}", error.message()), "correct the syntax");
    }
    reading.problems.sort_by_key(|problem| problem.line);
    reading.problems.dedup_by_key(|problem| problem.line);
    RuleProblems::or_none(std::mem::take(&mut reading.problems))?;
    reading.finish("the top of the file", table.get_ref())
}

pub(super) fn table(
    label: &str,
    table: &TomlTable<'_>,
    text: &str,
    toolsets: Option<&ToolsetNames>,
) -> Result<Rules, RuleProblems> {
    RuleReader::new(text, toolsets).finish(label, table)
}

/// What counts of a rule file, as JSON.
fn said(table: &TomlTable<'_>) -> Value {
    let found = SAID.iter().filter_map(|key| Some(((*key).to_owned(), value(table.get(*key)?))));
    Value::Object(found.collect())
}

/// What is no text, list or table is refused before it counts.
fn value(item: &TomlItem<'_>) -> Value {
    match item.get_ref() {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Array(items) => items.iter().map(value).collect(),
        DeValue::Table(table) => {
            let fields = table.iter().map(|(key, item)| (key.get_ref().to_string(), value(item)));
            Value::Object(fields.collect())
        }
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {
            Value::Null
        }
    }
}

struct RuleReader<'n> {
    /// `None`: any may be named.
    toolsets: Option<&'n ToolsetNames>,
    /// Where each line starts, in bytes.
    lines: Vec<usize>,
    problems: Vec<RuleProblem>,
    sections: Vec<RuleSection>,
    /// The line of each rule's name.
    names: HashMap<String, usize>,
    entries: Vec<RulePattern>,
    trials: Vec<RuleTest>,
}

impl<'n> RuleReader<'n> {
    fn new(text: &str, toolsets: Option<&'n ToolsetNames>) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            toolsets,
            lines: std::iter::once(0).chain(breaks).collect(),
            problems: Vec::new(),
            sections: Vec::new(),
            names: HashMap::new(),
            entries: Vec::new(),
            trials: Vec::new(),
        }
    }

    fn finish(mut self, label: &str, table: &TomlTable<'_>) -> Result<Rules, RuleProblems> {
        self.file(label, table);
        let Self { sections, entries, trials, mut problems, .. } = self;
        let fingerprint = Fingerprint::of(&said(table));
        let rules = Rules { sections, book: PatternIndex::new(entries), fingerprint };
        // Rules that were not understood keep no promise: the tests wait until they are.
        if problems.is_empty() {
            problems = trials.iter().filter_map(|trial| trial.run(&rules)).collect();
        }
        RuleProblems::or_none(problems)?;
        Ok(rules)
    }

    fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at)
    }

    fn problem(&mut self, at: usize, what: impl Into<String>, cure: impl Into<String>) {
        let problem = RuleProblem { line: self.line(at), at, what: what.into(), cure: cure.into() };
        self.problems.push(problem);
    }

    fn file(&mut self, label: &str, table: &TomlTable<'_>) {
        self.keys(table, "the file", &["allow", "ask", "deny", "rule", "tests"]);
        self.rule(table, label.to_owned(), &[], None);
        for item in self.tables(table, "rule") {
            self.named_rule(&item);
        }
        for item in self.tables(table, "tests") {
            self.test(&item);
        }
    }

    fn named_rule(&mut self, item: &Spanned<&TomlTable<'_>>) {
        let (at, table) = (item.span().start, *item.get_ref());
        self.keys(table, "a rule", &["name", "when", "allow", "ask", "deny", "reason"]);
        let mut label = format!("the rule at line {}", self.line(at));
        if let Some(name) = table.get("name").and_then(|name| self.text(name, "name")) {
            label = format!("rule `{name}`");
            if let Some(first) = self.names.insert(name.clone(), self.line(at)) {
                let what = format!("line {first} has a rule `{name}` already");
                self.problem(at, what, "rename one of them");
            }
        }
        if !LISTS.iter().any(|(list, _)| table.contains_key(*list)) {
            self.problem(at, "the rule says nothing", "give it `allow`, `ask` or `deny`");
        }
        let when = table.get("when").map(|when| self.when(when)).unwrap_or_default();
        let reason = table.get("reason").and_then(|reason| self.text(reason, "reason"));
        self.rule(table, label, &when, reason);
    }

    fn rule(
        &mut self,
        table: &TomlTable<'_>,
        label: String,
        when: &[PatternTerm],
        reason: Option<String>,
    ) {
        let rule = self.sections.len();
        self.sections.push(RuleSection { label, reason });
        for (list, ruling) in LISTS {
            let Some(item) = table.get(list) else { continue };
            for (at, pattern) in self.texts(item, list) {
                match pattern::read(&pattern) {
                    Ok(mut terms) => {
                        let unknown = self.toolsets.and_then(|toolsets| toolsets.unknown(&terms));
                        if let Some(fault) = unknown {
                            self.fault(at, fault);
                        }
                        terms.extend_from_slice(when);
                        let line = self.line(at);
                        self.entries.push(RulePattern { rule, ruling, pattern, line, terms });
                    }
                    Err(fault) => self.fault(at, fault),
                }
            }
        }
    }

    fn when(&mut self, item: &TomlItem<'_>) -> Vec<PatternTerm> {
        let Some(table) = self.table(item, "when") else { return Vec::new() };
        self.keys(table, "`when`", &PatternField::OF_CALLER.map(PatternField::as_str));
        let mut terms = Vec::new();
        for field in PatternField::OF_CALLER {
            let Some(item) = table.get(field.as_str()) else { continue };
            let Some(glob) = self.text(item, field.as_str()) else { continue };
            match pattern::field_term(field, &glob) {
                Ok(term) => terms.push(term),
                Err(fault) => self.fault(item.span().start, fault),
            }
        }
        terms
    }

    fn test(&mut self, item: &Spanned<&TomlTable<'_>>) {
        let (at, table) = (item.span().start, *item.get_ref());
        self.keys(table, "a test", &["tool", "caller", "expect"]);
        let expected = self.needed(table, "expect", at).and_then(|item| self.ruling(item));
        let tool = self.needed(table, "tool", at).and_then(|item| self.tool(item));
        let caller = match table.get("caller") {
            Some(item) => self.caller(item),
            None => Some(Caller::local()),
        };
        if let (Some(expected), Some(tool), Some(caller)) = (expected, tool, caller) {
            let line = self.line(at);
            self.trials.push(RuleTest { line, at, tool, caller, expected });
        }
    }

    fn ruling(&mut self, item: &TomlItem<'_>) -> Option<VerdictKind> {
        let text = self.text(item, "expect")?;
        let known = LISTS.iter().find(|(name, _)| *name == text);
        if known.is_none() {
            let cure = instead(&text, &LISTS.map(|(name, _)| name));
            self.problem(item.span().start, format!("`{text}` is no verdict"), cure);
        }
        known.map(|(_, ruling)| *ruling)
    }

    fn tool(&mut self, item: &TomlItem<'_>) -> Option<ToolSpec> {
        let at = item.span().start;
        if let DeValue::String(name) = item.get_ref() {
            return self.spec(at, name).map(|spec| self.in_toolsets(spec));
        }
        let table = self.table(item, "tool")?;
        let known = ["name", "source", "category", "actions", "effect", "tags", "toolsets"];
        self.keys(table, "`tool`", &known);
        let name = table.get("name").and_then(|name| self.text(name, "name"));
        let mut spec = self.spec(at, name.as_deref().unwrap_or("unnamed"))?;
        if let Some(source) = table.get("source").and_then(|source| self.text(source, "source")) {
            spec.origin.source = SourceId::new(source);
        }
        spec.category = table.get("category").and_then(|item| self.text(item, "category"));
        if let Some(item) = table.get("effect") {
            spec.effect = self.effect(item)?;
        }
        for (key, values) in [("actions", &mut spec.actions), ("tags", &mut spec.tags)] {
            if let Some(item) = table.get(key) {
                *values = self.texts(item, key).into_iter().map(|(_, text)| text).collect();
            }
        }
        let toolsets = table.get("toolsets").map(|item| self.texts(item, "toolsets"));
        for (at, id) in toolsets.into_iter().flatten() {
            let unknown = self.toolsets.filter(|toolsets| !toolsets.may_have(&id));
            if unknown.is_some() {
                let cure = "name one of the file, or take it out";
                self.problem(at, format!("there is no toolset `{id}`"), cure);
            }
            let toolset = ToolsetInfo { id, for_rules: true, ..ToolsetInfo::default() };
            let because = MembershipReason::All;
            spec.toolsets.push(ToolsetMembership { toolset: Arc::new(toolset), because });
        }
        Some(self.in_toolsets(spec))
    }

    /// With the sets that are written by hand.
    fn in_toolsets(&self, mut spec: ToolSpec) -> ToolSpec {
        let named = self.toolsets.into_iter().flat_map(|toolsets| &toolsets.named);
        let own: Vec<_> = named.filter_map(|named| named.membership(&spec)).collect();
        spec.toolsets.extend(own);
        spec
    }

    fn spec(&mut self, at: usize, name: &str) -> Option<ToolSpec> {
        let spec = ToolSpec::new(name, "", Effect::default());
        if let Err(error) = &spec {
            self.problem(at, "a test names no tool", error.to_string());
        }
        spec.ok()
    }

    fn effect(&mut self, item: &TomlItem<'_>) -> Option<Effect> {
        let text = self.text(item, "effect")?;
        let all = [Effect::Read, Effect::Write, Effect::Destroy];
        let known = all.into_iter().find(|effect| effect.as_str() == text);
        if known.is_none() {
            let cure = instead(&text, &all.map(Effect::as_str));
            self.problem(item.span().start, format!("`{text}` is no effect"), cure);
        }
        known
    }

    fn caller(&mut self, item: &TomlItem<'_>) -> Option<Caller> {
        let table = self.table(item, "caller")?;
        self.keys(table, "`caller`", &["tenant", "subject", "scopes"]);
        let mut caller = Caller::local();
        for (key, value) in [("tenant", &mut caller.tenant), ("subject", &mut caller.subject)] {
            if let Some(item) = table.get(key) {
                *value = self.text(item, key)?;
            }
        }
        let scopes = table.get("scopes").map(|item| self.texts(item, "scopes"));
        Some(caller.with_scopes(scopes.unwrap_or_default().into_iter().map(|(_, scope)| scope)))
    }
}

/// The shapes of TOML, with a problem for every other shape.
impl RuleReader<'_> {
    fn fault(&mut self, at: usize, (what, cure): PatternFault) {
        self.problem(at, what, cure);
    }

    fn keys(&mut self, table: &TomlTable<'_>, place: &str, known: &[&str]) {
        for key in table.keys() {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                let what = format!("{place} has no key `{}`", exact(name));
                self.problem(key.span().start, what, instead(name, known));
            }
        }
    }

    fn needed<'i, 't>(
        &mut self,
        table: &'i TomlTable<'t>,
        key: &str,
        at: usize,
    ) -> Option<&'i TomlItem<'t>> {
        let item = table.get(key);
        if item.is_none() {
            self.problem(at, format!("a test has no `{key}`"), format!("add `{key} = ...`"));
        }
        item
    }

    fn wrong(&mut self, item: &TomlItem<'_>, key: &str, wanted: &str) {
        let what = format!("`{key}` has a value of type {}", item.get_ref().type_str());
        self.problem(item.span().start, what, format!("write {wanted}"));
    }

    fn text(&mut self, item: &TomlItem<'_>, key: &str) -> Option<String> {
        let text = item.get_ref().as_str().map(str::to_owned);
        if text.is_none() {
            self.wrong(item, key, "a string");
        }
        text
    }

    /// The strings of a list, each with its place.
    fn texts(&mut self, item: &TomlItem<'_>, key: &str) -> Vec<(usize, String)> {
        let Some(items) = item.get_ref().as_array() else {
            self.wrong(item, key, "a list of strings");
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in &**items {
            match item.get_ref().as_str() {
                Some(text) => texts.push((item.span().start, text.to_owned())),
                None => self.wrong(item, key, "a list of strings"),
            }
        }
        texts
    }

    fn table<'i, 't>(&mut self, item: &'i TomlItem<'t>, key: &str) -> Option<&'i TomlTable<'t>> {
        let table = item.get_ref().as_table();
        if table.is_none() {
            self.wrong(item, key, "a table, as in `{ .. }`");
        }
        table
    }

    fn tables<'i, 't>(
        &mut self,
        table: &'i TomlTable<'t>,
        key: &str,
    ) -> Vec<Spanned<&'i TomlTable<'t>>> {
        let Some(item) = table.get(key) else { return Vec::new() };
        let Some(items) = item.get_ref().as_array() else {
            self.wrong(item, key, &format!("`[[{key}]]` before each"));
            return Vec::new();
        };
        let wanted = format!("`[[{key}]]` before each");
        let mut tables = Vec::new();
        for item in &**items {
            match item.get_ref().as_table() {
                Some(table) => tables.push(Spanned::new(item.span(), table)),
                None => self.wrong(item, key, &wanted),
            }
        }
        tables
    }
}
