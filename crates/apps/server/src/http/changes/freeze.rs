//! `/v1/freeze`: what does not run while somebody wants it so. Whoever may approve sets it, and the
//! operator lifts it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_auth::{LOCAL, ProtectedResource, is_operator};
use toolcrib_core::{Caller, Effect};

use crate::config::freezes::{
    FreezeRow, FreezeScope, LONGEST_FREEZE, LONGEST_NAME, LONGEST_WHY, TooManyFreezes,
};
use crate::config::overlays::now;
use crate::freeze::{FreezeGuard, FreezeState};
use crate::http::page::role::{APPROVE, approves};
use crate::http::pipeline::authentication::lacking;
use crate::http::rest::tools::VisibleTools;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// What is not to run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FreezeBody {
    scope: FreezeScope,
    /// Of the source, caller, tenant or tool; left out of `all`.
    #[schemars(length(min = 1, max = 256))]
    name: Option<String>,
    /// Only calls of this tenant; whoever is no operator freezes those of its own alone.
    #[schemars(length(min = 1, max = 256))]
    tenant: Option<String>,
    /// Only calls of tools of these effects; `write` and `destroy` if not set.
    #[serde(default = "changing")]
    #[schemars(with = "Vec<String>", extend("items" = { "enum": ["read", "write", "destroy"] }, "minItems" = 1))]
    effects: Vec<Effect>,
    /// For whoever reads it later; models are told as well.
    #[schemars(length(max = 500))]
    why: Option<String>,
    /// When it ends by itself, as RFC 3339 writes it.
    #[schemars(extend("format" = "date-time"))]
    until: Option<String>,
}

fn changing() -> Vec<Effect> {
    vec![Effect::Write, Effect::Destroy]
}

pub(crate) fn list(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move { Ok(reply(&told(&asked)?)) })
}

pub(crate) fn set(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: FreezeBody = asked.json()?;
        if !approves(&asked.caller) {
            let access = asked.gateway.guard.access();
            return Err(lacking(&access, ProtectedResource::Whole, APPROVE));
        }
        let row = row(body, &asked.caller)?;
        let (asked, row) =
            written(asked, move |asked, record| set_or_held(asked, row, record)).await?;
        answer(&asked, Some(&row))
    })
}

pub(crate) fn lift(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let unknown = || {
            let shown: String = asked.segment().chars().take(40).collect();
            let detail = format!("there is no freeze `{shown}`: `GET /v1/freeze` lists them");
            HttpProblem::new(ProblemKind::UnknownFreeze, detail)
        };
        let Ok(id) = asked.segment().parse() else { return Err(unknown()) };
        let unknown = unknown();
        let (asked, row) = written(asked, move |asked, record| {
            if FreezeGuard::is_held(id) {
                let row = asked.gateway.freezes.let_go(id).ok_or(unknown)?;
                // It is over, also where not even this can be written.
                let _ = record("lifted", &row);
                return Ok(row);
            }
            let file = asked.gateway.freezes.file().ok_or_else(nowhere)?;
            let lifted = file.lift(id, |row| record("lifted", row)).map_err(unchanged)?;
            lifted.ok_or(unknown)
        })
        .await?;
        answer(&asked, Some(&row))
    })
}

/// Writes a line of the record of decisions about what is done to a freeze.
type FreezeRecord<'r> = &'r dyn Fn(&str, &FreezeRow) -> anyhow::Result<()>;

/// Sets it in the file; where nothing can be written now, it holds in memory: whoever wants calls
/// to stop must not be told that there is no room on a disk.
fn set_or_held(
    asked: &GatewayRequest,
    row: FreezeRow,
    record: FreezeRecord<'_>,
) -> Result<FreezeRow, HttpProblem> {
    let freezes = &asked.gateway.freezes;
    let Some(file) = freezes.file() else { return Err(nowhere()) };
    let error = match file.set(row.clone(), |row| record("set", row)) {
        Ok(row) => return Ok(row),
        Err(error) => error,
    };
    // Where nobody can say what is frozen no call runs as it is.
    let is_known = matches!(&*freezes.state(), FreezeState::Known(_));
    if error.is::<TooManyFreezes>() || !is_known {
        return Err(unchanged(error));
    }
    let held = freezes.hold(row, asked.caller.clone()).ok_or_else(|| unchanged(error))?;
    // It holds, also where not even this can be written.
    let _ = record("held", &held);
    Ok(held)
}

/// Writes down what is held in memory, as far as that can be done by now.
pub(crate) fn keep_held(freezes: &FreezeGuard, record: impl Fn(Value) -> anyhow::Result<()>) {
    let Some(file) = freezes.file() else { return };
    for held in freezes.held() {
        if !held.row.lasts(now()) {
            freezes.let_go(held.row.id);
            continue;
        }
        // The next one may be of somebody who has fewer of them.
        let Ok(row) = file.keep(held.row.clone()) else { continue };
        freezes.look();
        if freezes.let_go(held.row.id).is_some() {
            // It holds already, whether this can be written or not.
            let _ = record(recorded(&row, "set", &held.by));
        } else if file.lift(row.id, |_| Ok(())).is_ok() {
            // Somebody lifted it meanwhile.
            freezes.look();
        }
    }
}

fn nowhere() -> HttpProblem {
    let detail = "there is no place to keep a freeze: set `HOME` or `XDG_STATE_HOME`";
    HttpProblem::new(ProblemKind::Unavailable, detail)
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn unchanged(error: anyhow::Error) -> HttpProblem {
    HttpProblem::new(ProblemKind::Unavailable, format!("nothing was changed: {error:#}"))
}

/// Changes what is frozen, and looks at it: from now on it holds. Whoever goes away meanwhile does
/// not leave it half done.
async fn written(
    asked: GatewayRequest,
    edit: impl FnOnce(&GatewayRequest, FreezeRecord<'_>) -> Result<FreezeRow, HttpProblem>
    + Send
    + 'static,
) -> Result<(GatewayRequest, FreezeRow), HttpProblem> {
    let runtime = tokio::runtime::Handle::current();
    // Files are locked, read and written to the disk.
    let writing = tokio::task::spawn_blocking(move || {
        let record = |act: &str, row: &FreezeRow| {
            let Some(audit) = &asked.gateway.telemetry.audit else { return Ok(()) };
            let line = recorded(row, act, &asked.caller);
            Ok(runtime.block_on(audit.changed(vec![line]))?)
        };
        let row = edit(&asked, &record)?;
        asked.gateway.freezes.look();
        Ok((asked, row))
    });
    writing.await.unwrap_or_else(|_| {
        let detail = "it broke off: look at what is frozen, and do it again if it is not there";
        Err(HttpProblem::new(ProblemKind::Broken, detail))
    })
}

fn recorded(row: &FreezeRow, act: &str, by: &Caller) -> Value {
    json!({
        "record": "freeze",
        "act": act,
        "freeze": row.id,
        "scope": row.scope,
        "name": row.name,
        "of_tenant": row.tenant,
        "effects": row.effects,
        "why": row.why,
        "until": row.until,
        "changed_by": { "tenant": by.tenant, "subject": by.subject },
    })
}

fn row(body: FreezeBody, by: &Caller) -> Result<FreezeRow, HttpProblem> {
    let invalid = |detail: String| Err(HttpProblem::new(ProblemKind::InvalidBody, detail));
    let FreezeBody { scope, name, tenant, mut effects, why, until } = body;
    if (scope == FreezeScope::All) != name.is_none() {
        let told = "`name` says of which source, caller, tenant or tool, and `all` has none";
        return Err(HttpProblem::new(ProblemKind::ChangeRefused, told));
    }
    let is_bad = |text: &String| text.is_empty() || text.chars().count() > LONGEST_NAME;
    if [&name, &tenant].into_iter().flatten().any(is_bad) {
        return invalid(format!("`name` and `tenant` have from 1 to {LONGEST_NAME} characters"));
    }
    effects.sort_unstable();
    effects.dedup();
    if effects.is_empty() {
        return invalid("`effects` must have one of: read, write, destroy".into());
    }
    if why.as_ref().is_some_and(|why| why.chars().count() > LONGEST_WHY) {
        return invalid(format!("`why` has more than {LONGEST_WHY} characters: make it shorter"));
    }
    let at = now();
    let until = match until.map(|until| until.parse::<Timestamp>()) {
        None => None,
        Some(Ok(until)) => Some(u64::try_from(until.as_second()).unwrap_or(0)),
        Some(Err(_)) => {
            return invalid("`until` must be a time as RFC 3339 writes it".into());
        }
    };
    if until.is_some_and(|until| until <= at || until - at > LONGEST_FREEZE) {
        let told = "`until` must be later than now, and within ten years";
        return Err(HttpProblem::new(ProblemKind::ChangeRefused, told));
    }
    // What others do in other organisations is none of an approver's business.
    let tenant = if is_operator(by) { tenant } else { Some(by.tenant.clone()) };
    let subject = &by.subject;
    let by =
        if by.tenant == LOCAL { subject.clone() } else { format!("{subject} of {}", by.tenant) };
    let why = why.filter(|why| !why.is_empty());
    Ok(FreezeRow { id: 0, scope, name, tenant, effects, by, at, why, until })
}

fn answer(
    asked: &GatewayRequest,
    row: Option<&FreezeRow>,
) -> Result<crate::http::routes::reply::HttpReply, HttpProblem> {
    let mut all = told(asked)?;
    let tools = row.map_or(0, |row| touched(asked, row));
    if let Value::Object(fields) = &mut all {
        fields.insert("freeze".to_owned(), row.map_or(Value::Null, shown));
        fields.insert("tools".to_owned(), tools.into());
    }
    Ok(reply(&all))
}

/// How many tools there are now that it may be about.
fn touched(asked: &GatewayRequest, row: &FreezeRow) -> usize {
    let catalog = asked.gateway.live.crib().catalog();
    let is_it = |tool: &&toolcrib_core::CatalogTool| {
        let name = row.name.as_deref().unwrap_or_default();
        let is_of = match row.scope {
            FreezeScope::Source => tool.spec.origin.source.as_str() == name,
            FreezeScope::Tool => tool.spec.name.as_str() == name,
            FreezeScope::All | FreezeScope::Caller | FreezeScope::Tenant => true,
        };
        is_of && row.effects.contains(&tool.spec.effect)
    };
    catalog.loaded().iter().filter(is_it).count()
}

/// What the caller may know of what is frozen.
pub(crate) fn told(asked: &GatewayRequest) -> Result<Value, HttpProblem> {
    let state = asked.gateway.freezes.state();
    let list = match &*state {
        FreezeState::Known(list) => list,
        FreezeState::Unreadable(why) => {
            let why = is_operator(&asked.caller).then_some(why.as_str());
            return Ok(json!({ "freezes": [], "unreadable": why.unwrap_or("it cannot be read") }));
        }
    };
    let rows = list.lasting(now());
    let rows: Vec<_> = if is_operator(&asked.caller) {
        rows.map(shown).collect()
    } else {
        of_caller(asked, rows)?
    };
    Ok(json!({ "freezes": rows, "unreadable": null }))
}

/// Those that hold for a caller, without the names of what rules hide from it.
fn of_caller<'r>(
    asked: &GatewayRequest,
    rows: impl Iterator<Item = &'r FreezeRow>,
) -> Result<Vec<Value>, HttpProblem> {
    let (crib, caller) = (asked.gateway.live.crib(), &asked.caller);
    let known = VisibleTools::of(crib, caller)?;
    let catalog = crib.catalog();
    let sees = |row: &FreezeRow| {
        let is = |own: &str| row.name.as_deref() == Some(own);
        let any = |is_it: &dyn Fn(&toolcrib_core::CatalogTool) -> bool| {
            catalog.loaded().iter().any(|tool| is_it(tool) && known.has(&tool.spec.name))
        };
        let is_own = row.tenant.as_ref().is_none_or(|tenant| *tenant == caller.tenant);
        is_own
            && match row.scope {
                FreezeScope::All => true,
                FreezeScope::Caller => is(&caller.subject),
                FreezeScope::Tenant => is(&caller.tenant),
                FreezeScope::Tool => any(&|tool| is(tool.spec.name.as_str())),
                FreezeScope::Source => any(&|tool| is(tool.spec.origin.source.as_str())),
            }
    };
    Ok(rows.filter(|row| sees(row)).map(shown).collect())
}

fn shown(row: &FreezeRow) -> Value {
    json!({
        "id": row.id,
        "scope": row.scope,
        "name": row.name,
        "tenant": row.tenant,
        "effects": row.effects,
        "by": row.by,
        "at": super::overlay_answer::time(row.at),
        "why": row.why,
        "until": row.until.map(super::overlay_answer::time),
        "kept": !FreezeGuard::is_held(row.id),
    })
}
