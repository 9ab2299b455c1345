//! What a host asks a plan for.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::presentation::Discovery;
use crate::outcome::run::Run;

/// The wishes of one request. Where tools are named, `toolset:ID` is all of a toolset.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlanRequest {
    /// Tools that the user chose; the order decides between exclusive ones. Of a toolset a model
    /// need not call any, and its exclusive tools are not chosen.
    pub choices: Vec<String>,
    pub choice_scope: ChoiceScope,
    /// Tools that are out for this request.
    pub disabled: Vec<String>,
    /// Tools whose definitions a model API may hold back until they are found.
    pub deferred: Vec<String>,
    /// Tools that may be called only after they were found by a search of ours.
    pub hidden: Vec<String>,
    /// How the tools are shown; `None`: as the crib, or the profile, has it.
    pub discovery: Option<Discovery>,
    /// Whether the model API can hold definitions back itself, so that in lazy mode it does.
    pub defers: bool,
    /// The dialect in which a model is told of the plan, by its name. `None`: no model is, so that
    /// what only a model's provider runs is out.
    pub dialect: Option<String>,
    /// How that API takes what its provider runs.
    pub hosted: HostedPlacement,
    /// Calls of one batch that run, and no more than the crib's limit allows.
    pub max_calls: Option<usize>,
    /// The host's name for the conversation, for tools that keep state in one.
    pub session: Option<Arc<str>>,
    #[serde(skip)]
    pub run: Run,
}

/// How long the choices bind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChoiceScope {
    /// The first turn only: then the model has what it was told to fetch.
    #[default]
    FirstTurn,
    Run,
}

/// How a model API takes tools that its provider runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostedPlacement {
    #[default]
    BesideFunctions,
    /// Only where there are no functions.
    Alone,
    /// There are functions of which this plan does not know, and the API does not take both.
    Nowhere,
}

impl PlanRequest {
    #[must_use]
    pub fn choose(mut self, tool: impl Into<String>) -> Self {
        self.choices.push(tool.into());
        self
    }

    #[must_use]
    pub fn choices_bind(mut self, scope: ChoiceScope) -> Self {
        self.choice_scope = scope;
        self
    }

    #[must_use]
    pub fn disable(mut self, tool: impl Into<String>) -> Self {
        self.disabled.push(tool.into());
        self
    }

    #[must_use]
    pub fn defer(mut self, tool: impl Into<String>) -> Self {
        self.deferred.push(tool.into());
        self
    }

    #[must_use]
    pub fn hide(mut self, tool: impl Into<String>) -> Self {
        self.hidden.push(tool.into());
        self
    }

    #[must_use]
    pub fn show(mut self, discovery: Discovery) -> Self {
        self.discovery = Some(discovery);
        self
    }

    /// For a model API that can hold definitions back.
    #[must_use]
    pub fn api_defers(mut self, defers: bool) -> Self {
        self.defers = defers;
        self
    }

    /// For a model that is told of the plan in this dialect.
    #[must_use]
    pub fn told_in(mut self, dialect: impl Into<String>) -> Self {
        self.dialect = Some(dialect.into());
        self
    }

    /// How the model API takes what its provider runs.
    #[must_use]
    pub fn takes_hosted(mut self, hosted: HostedPlacement) -> Self {
        self.hosted = hosted;
        self
    }

    #[must_use]
    pub fn max_calls(mut self, calls: usize) -> Self {
        self.max_calls = Some(calls);
        self
    }

    #[must_use]
    pub fn in_session(mut self, session: impl Into<Arc<str>>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Whether it wishes nothing of its own, and is the first of its run.
    pub(crate) fn is_plain(&self) -> bool {
        let lists = [&self.choices, &self.disabled, &self.deferred, &self.hidden];
        lists.iter().all(|names| names.is_empty())
            && self.choice_scope == ChoiceScope::FirstTurn
            && self.discovery.is_none()
            && self.max_calls.is_none()
            && self.run.is_new()
    }

    /// The request comes after these turns.
    #[must_use]
    pub fn after(mut self, run: &Run) -> Self {
        self.run = run.clone();
        self
    }
}
