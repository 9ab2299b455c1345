//! `/v1/tools`, `/v1/tools/{name}` and `/v1/why/{tool}`: what this caller may see.

use std::collections::HashSet;

use serde_json::{Value, json};
use toolcrib::auth::is_operator;
use toolcrib::{Caller, Crib, Listed, Plan, Request, ToolName, ToolSpec, Why};

use crate::http::asked::{Asked, Query};
use crate::http::problem::{Kind, Problem};
use crate::http::reply::json as reply;
use crate::http::routes::Answered;

const DEFAULT_PAGE: usize = 100;
pub(crate) const LARGEST_PAGE: usize = 1000;

pub(crate) fn list(asked: Asked) -> Answered {
    Box::pin(async move {
        let plan = plan(&asked)?;
        let query = &asked.query;
        let limit = query.number("limit", DEFAULT_PAGE);
        let words = words(query);
        let fitting = plan.tools().map(|tool| tool.listed);
        let fitting: Vec<_> = fitting.filter(|tool| fits(&tool.spec, query, &words)).collect();
        let start = match query.get("cursor").filter(|cursor| !cursor.is_empty()) {
            None => 0,
            Some(cursor) => fitting
                .iter()
                .position(|tool| tool.spec.name.as_str() == cursor)
                .map(|last| last + 1)
                .ok_or_else(|| {
                    let detail = "the cursor is none of this list: begin without one";
                    Problem::new(Kind::UnknownCursor, detail)
                })?,
        };
        let page: Vec<_> = fitting.iter().skip(start).take(limit).collect();
        let mut answer = json!({
            "tools": page.iter().map(|tool| brief(tool)).collect::<Vec<_>>(),
            "total": fitting.len(),
        });
        let more = start + page.len() < fitting.len();
        if let (true, Some(last), Value::Object(fields)) = (more, page.last(), &mut answer) {
            fields.insert("cursor".to_owned(), last.spec.name.as_str().into());
        }
        Ok(reply(&answer))
    })
}

pub(crate) fn show(asked: Asked) -> Answered {
    Box::pin(async move {
        let plan = plan(&asked)?;
        let name = asked.segment();
        let listed = plan.get(name).ok_or_else(|| unknown(name))?.listed;
        let mut value = listed.spec.to_json();
        if let Value::Object(fields) = &mut value {
            fields.insert("signature".to_owned(), signature(listed).into());
            fields.insert("fingerprint".to_owned(), json!(listed.fingerprint));
            fields.insert("stale".to_owned(), listed.stale.into());
        }
        Ok(reply(&value))
    })
}

pub(crate) fn why(asked: Asked) -> Answered {
    Box::pin(async move {
        let list = |name: &str| -> Vec<String> {
            let names = asked.query.get(name).unwrap_or_default().split(',');
            names.filter(|name| !name.is_empty()).map(ToOwned::to_owned).collect()
        };
        let (choices, disabled) = (list("choices"), list("disabled"));
        let request = Request { choices, disabled, ..Request::default() };
        let crib = asked.crib(asked.query.get("profile"))?;
        let plan = crib.plan(&asked.caller, request);
        let plan = plan.map_err(|error| Problem::new(Kind::NothingLeft, error.to_string()))?;
        let name = asked.segment();
        let known = Known::of(&crib, &asked.caller)?;
        let why = plan.why(name).filter(|why| known.has(&why.tool));
        Ok(reply(&json!(why.ok_or_else(|| unknown(name))?)))
    })
}

/// The tools that a caller may hear of, whatever a request says of them.
pub(crate) enum Known {
    /// To the operator nothing is hidden.
    All,
    These(HashSet<ToolName>),
}

impl Known {
    pub(crate) fn of(crib: &Crib, caller: &Caller) -> Result<Self, Problem> {
        if is_operator(caller) {
            return Ok(Self::All);
        }
        let plan = crib.plan(caller, Request::default());
        let plan = plan.map_err(|error| Problem::new(Kind::NothingLeft, error.to_string()))?;
        // To a caller whom policy keeps from it, and where it is kept out, it does not exist.
        let hidden = |why: &Why| matches!(why.rule, "denied" | "quarantined" | "disabled");
        let heard_of = plan.reasons().into_iter().filter(|why| !hidden(why));
        Ok(Self::These(heard_of.map(|why| why.tool).collect()))
    }

    pub(crate) fn has(&self, tool: &ToolName) -> bool {
        match self {
            Self::All => true,
            Self::These(tools) => tools.contains(tool),
        }
    }
}

/// One text for what is not there and for what is denied.
fn unknown(name: &str) -> Problem {
    let shown: String = name.chars().take(80).collect();
    let detail = format!("there is no tool `{shown}`: `/v1/tools` lists what is there");
    Problem::new(Kind::UnknownTool, detail)
}

/// A request without wishes.
fn plan(asked: &Asked) -> Result<Plan, Problem> {
    let crib = asked.crib(asked.query.get("profile"))?;
    let plan = crib.plan(&asked.caller, Request::default());
    plan.map_err(|error| Problem::new(Kind::NothingLeft, error.to_string()))
}

/// The words of a search, in lower case.
fn words(query: &Query) -> Vec<String> {
    let text = query.get("q").unwrap_or_default().to_lowercase();
    text.split_whitespace().map(ToOwned::to_owned).collect()
}

fn fits(spec: &ToolSpec, query: &Query, words: &[String]) -> bool {
    let is = |name: &str, value: &str| query.get(name).is_none_or(|wish| wish == value);
    let action = query.get("action");
    let text = || {
        let texts = [spec.name.as_str(), &spec.summary, &spec.description, &spec.tags.join(" ")];
        texts.join("\n").to_lowercase()
    };
    is("category", spec.category.as_deref().unwrap_or_default())
        && is("source", spec.origin.source.as_str())
        && is("effect", spec.effect.as_str())
        && action.is_none_or(|wish| spec.actions.iter().any(|action| action == wish))
        && (words.is_empty() || {
            let text = text();
            words.iter().all(|word| text.contains(word.as_str()))
        })
}

fn signature(tool: &Listed) -> String {
    toolcrib::json::schema::signature(tool.spec.name.as_str(), &tool.spec.input.value())
}

fn brief(tool: &Listed) -> Value {
    let spec = &tool.spec;
    json!({
        "name": spec.name,
        "title": spec.title,
        "summary": spec.summary,
        "category": spec.category,
        "actions": spec.actions,
        "effect": spec.effect,
        "source": spec.origin.source,
        "signature": signature(tool),
        "fingerprint": tool.fingerprint,
        "stale": tool.stale,
    })
}
