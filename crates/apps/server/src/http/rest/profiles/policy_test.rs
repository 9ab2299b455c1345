//! `POST /v1/policy/test`: which calls of the last day other rules would have decided otherwise.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_core::{Caller, Catalog, Policy, ToolSpec};
use toolcrib_engine::rules::Rules;
use toolcrib_store::{CallFilter, CallRecord};

use crate::http::rest::records::listing::{record, silent};
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// Bytes of the rules.
const LONGEST: usize = 256 * 1024;
/// Calls of the record that are looked at, and how many at a time.
const MOST_CALLS: usize = 10_000;
const PAGE: usize = 500;
/// Changes that are told, those of most calls first.
const MOST_CHANGES: usize = 200;
const DAY: Duration = Duration::from_hours(24);

/// Rules in the place of those at the top of the file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyTestBody {
    /// As a rule file has them: `allow`, `ask`, `deny` and `[[rule]]`.
    #[schemars(length(max = LONGEST))]
    rules: String,
}

/// Whose calls of which tool: tenant, subject, source, tool.
type CallGroup = (String, String, String, String);

/// How many calls there were, and when the last of them began.
struct GroupedCalls {
    calls: usize,
    last: SystemTime,
}

pub(crate) fn test(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: PolicyTestBody = asked.json()?;
        if body.rules.len() > LONGEST {
            let detail = format!("`rules` are longer than {LONGEST} bytes: use patterns");
            return Err(HttpProblem::new(ProblemKind::InvalidBody, detail));
        }
        let file = super::file(&asked)?;
        record(&asked)?;
        let after = match Rules::parse(&body.rules) {
            Ok(rules) => rules,
            Err(problems) => return Ok(reply(&told(&json!(problems), &Difference::default()))),
        };
        let (groups, has_more) = grouped(&asked).await?;
        let catalog = asked.gateway.live.crib().catalog();
        let compared = tokio::task::spawn_blocking(move || {
            let before = file.policy(None);
            let before = before.as_deref();
            let mut found = Difference { has_more, ..Difference::default() };
            for (group, of) in groups {
                found.add(group, &of, &catalog, (before, &after));
            }
            found.changes.sort_by_key(|(calls, _)| std::cmp::Reverse(*calls));
            told(&json!([]), &found)
        });
        let compared = compared.await;
        compared
            .map(|told| reply(&told))
            .map_err(|error| HttpProblem::new(ProblemKind::Broken, error.to_string()))
    })
}

/// The calls of the last day, by whose they are and of which tool; and whether there are more.
async fn grouped(
    asked: &GatewayRequest,
) -> Result<(BTreeMap<CallGroup, GroupedCalls>, bool), HttpProblem> {
    let store = record(asked)?;
    let since = SystemTime::now().checked_sub(DAY);
    let mut groups: BTreeMap<CallGroup, GroupedCalls> = BTreeMap::new();
    let (mut after, mut seen) = (None, 0);
    loop {
        let filter = CallFilter { since, ..CallFilter::default() };
        let page = store.calls_of_all(filter, after, PAGE).await;
        let page = page.map_err(|error| silent(asked, error))?;
        // The newest come first, and behind a page without one all are older.
        if page.calls.is_empty() {
            return Ok((groups, false));
        }
        seen += page.calls.len();
        for CallRecord { tenant, subject, source, tool, planned, .. } in page.calls {
            let group = groups.entry((tenant, subject, source, tool));
            let group = group.or_insert(GroupedCalls { calls: 0, last: planned });
            group.calls += 1;
            group.last = group.last.max(planned);
        }
        match page.next {
            Some(next) if seen < MOST_CALLS => after = Some(next),
            next => return Ok((groups, next.is_some())),
        }
    }
}

#[derive(Default)]
struct Difference {
    /// With how many calls each is.
    changes: Vec<(usize, Value)>,
    calls: usize,
    /// Calls of tools that are there no more.
    of_gone: usize,
    has_more: bool,
}

impl Difference {
    fn add(
        &mut self,
        (tenant, subject, source, tool): CallGroup,
        of: &GroupedCalls,
        catalog: &Catalog,
        (before, after): (Option<&dyn Policy>, &Rules),
    ) {
        self.calls += of.calls;
        let listed =
            catalog.get(&tool).filter(|listed| listed.spec.origin.source.as_str() == source);
        let Some(listed) = listed else {
            self.of_gone += of.calls;
            return;
        };
        let caller = Caller::new(&tenant, &subject);
        let before = before.map_or("deny", |before| word(before, &caller, &listed.spec));
        let after = word(after, &caller, &listed.spec);
        if before == after {
            return;
        }
        let last = Timestamp::try_from(of.last).ok().map(|at| at.to_string());
        self.changes.push((
            of.calls,
            json!({
                "tenant": tenant,
                "caller": subject,
                "tool": tool,
                "source": source,
                "before": before,
                "after": after,
                "calls": of.calls,
                "last": last,
            }),
        ));
    }
}

fn word(policy: &dyn Policy, caller: &Caller, tool: &ToolSpec) -> &'static str {
    if !policy.sees(caller, tool) {
        "deny"
    } else if policy.lets_run(caller, tool) {
        "allow"
    } else {
        "ask"
    }
}

fn told(problems: &Value, found: &Difference) -> Value {
    let changes = found.changes.iter().take(MOST_CHANGES).map(|(_, change)| change);
    json!({
        "problems": problems,
        "changes": changes.collect::<Vec<_>>(),
        "changed": found.changes.iter().map(|(calls, _)| calls).sum::<usize>(),
        "calls": found.calls,
        "of_gone": found.of_gone,
        "has_more": found.has_more || found.changes.len() > MOST_CHANGES,
    })
}
