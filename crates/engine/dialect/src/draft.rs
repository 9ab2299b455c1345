//! The visible tools of a plan on their way to a dialect: named, described, compiled.

use std::collections::HashSet;

use serde_json::{Map, Value};
use toolcrib_core::plan::InclusionReason;
use toolcrib_core::{Exposure, Plan, PlannedTool, ToolName, ToolSpec};

use crate::names::{NameAlphabet, WireNames};
use crate::rendering::{Builtins, Loss, RefusedTool, Rendering};
use crate::schema::{DialectSchema, UnsupportedReason, annotated};

/// A tool that is ready to be written.
pub(crate) enum ToolDraft<'a> {
    Function(FunctionDraft<'a>),
    /// The API's own tool, as the spec defines it.
    Builtin(&'a Value),
}

pub(crate) struct FunctionDraft<'a> {
    pub(crate) spec: &'a ToolSpec,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: Value,
    pub(crate) strict: bool,
    /// The API may hold the definition back. A forced tool is always there.
    pub(crate) deferred: bool,
}

/// The ways of a dialect.
pub(crate) struct DialectRules {
    pub(crate) dialect: &'static str,
    pub(crate) names: NameAlphabet,
    /// The name by which a model calls a built-in tool, if it does.
    pub(crate) builtin_name: fn(&Value) -> Option<&str>,
    pub(crate) defers: bool,
}

/// All drafts of a plan.
pub(crate) struct ToolDrafts<'a> {
    pub(crate) tools: Vec<ToolDraft<'a>>,
    pub(crate) builtins: Builtins<'a>,
    pub(crate) losses: Vec<Loss>,
    refused: Vec<RefusedTool>,
    pub(crate) names: WireNames,
    altered: HashSet<ToolName>,
}

impl<'a> ToolDrafts<'a> {
    pub(crate) fn of(
        plan: &'a Plan,
        ways: &DialectRules,
        mut compile: impl FnMut(&ToolSpec) -> Result<DialectSchema, UnsupportedReason>,
    ) -> Self {
        let mut drafts = Self {
            tools: Vec::with_capacity(plan.tools().len()),
            builtins: Builtins::new(),
            losses: Vec::new(),
            refused: Vec::new(),
            names: WireNames::default(),
            altered: HashSet::new(),
        };
        let shown = plan.tools().filter(|tool| tool.exposure != Exposure::Hidden);
        for tool in shown {
            let spec = tool.listed.spec.as_ref();
            // What the model has to ask for is told as a function until then.
            let is_asked_for = tool.because == InclusionReason::OnDemand;
            let added = if spec.builtin.is_empty() || is_asked_for {
                compile(spec).and_then(|compiled| drafts.function(tool, ways, compiled))
            } else {
                drafts.builtin(spec, ways)
            };
            if let Err(reason) = added {
                drafts.refused.push(RefusedTool { tool: spec.name.clone(), reason });
            }
        }
        drafts
    }

    fn function(
        &mut self,
        tool: PlannedTool<'a>,
        ways: &DialectRules,
        compiled: DialectSchema,
    ) -> Result<(), UnsupportedReason> {
        let spec: &'a ToolSpec = &tool.listed.spec;
        let name = ways.names.encode(spec.name.as_str()).into_owned();
        self.take(&name, &spec.name)?;
        let DialectSchema { schema, lost, notes, strict, altered, .. } = compiled;
        self.losses.extend(lost.into_iter().map(|lost| Loss {
            tool: spec.name.clone(),
            path: lost.path,
            what: lost.what,
            cure: lost.cure.to_owned(),
        }));
        let held_back = tool.exposure == Exposure::Deferred && !tool.forced;
        if held_back && !ways.defers {
            self.lose(&spec.name, "deferral", "its definition is sent in full");
        }
        if altered {
            self.altered.insert(spec.name.clone());
        }
        let texts = [&spec.description, &spec.summary];
        let text = texts.into_iter().find(|text| !text.is_empty());
        self.tools.push(ToolDraft::Function(FunctionDraft {
            spec,
            name,
            description: annotated(text.map_or("", String::as_str), &notes),
            schema,
            strict,
            deferred: held_back && ways.defers,
        }));
        Ok(())
    }

    fn builtin(
        &mut self,
        spec: &'a ToolSpec,
        ways: &DialectRules,
    ) -> Result<(), UnsupportedReason> {
        let Some(definition) = spec.builtin.get(ways.dialect) else {
            self.lose(&spec.name, "builtin", "left out: this API does not run it");
            return Ok(());
        };
        if !definition.is_object() {
            return Err("its definition for this API is no object".to_owned());
        }
        if let Some(name) = (ways.builtin_name)(definition) {
            self.take(name, &spec.name)?;
        }
        self.builtins.insert(&spec.name, definition);
        self.tools.push(ToolDraft::Builtin(definition));
        Ok(())
    }

    fn take(&mut self, wire: &str, tool: &ToolName) -> Result<(), UnsupportedReason> {
        if self.names.take(wire, tool) {
            return Ok(());
        }
        Err(format!("the API has another tool of the name `{wire}` in this request: rename one"))
    }

    pub(crate) fn lose(&mut self, tool: &ToolName, what: &str, cure: &str) {
        self.losses.push(Loss {
            tool: tool.clone(),
            path: String::new(),
            what: what.to_owned(),
            cure: cure.to_owned(),
        });
    }

    /// The rendering with these definitions; the choice is the dialect's to add.
    pub(crate) fn rendering(self, tools: Vec<Value>) -> Rendering {
        Rendering {
            tools: Value::Array(tools),
            tool_choice: None,
            extra: Map::new(),
            forced: Vec::new(),
            losses: self.losses,
            refused: self.refused,
            choice_field: "tool_choice",
            names: self.names,
            altered: self.altered,
        }
    }
}
