//! Which tools a source would bring: it is started and asked once, beside all that serves, and ended
//! again.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use toolcrib_auth::ProtectedResource;
use toolcrib_config::{AddedSource, AddedSources, Config, Disclosure, added_sources};
use toolcrib_core::Catalog;
use toolcrib_engine::{Crib, CribBuilder};

use super::new_source::{WrittenSources, starts};
use crate::config::ProcessLookup;
use crate::http::page::role::{EXECUTE, executes};
use crate::http::pipeline::authentication::lacking;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::request::GatewayRequest;
use crate::sources;

/// Looks at the same time, for all callers: each may start programs.
static PLACES: Semaphore = Semaphore::const_new(2);
/// Sources of one look.
const MOST_SOURCES: usize = 8;
/// How long one may take.
const PATIENCE: Duration = Duration::from_secs(40);
/// How long programs have to end.
const LAST_WISHES: Duration = Duration::from_secs(5);
/// Tools of each source that are told.
const MOST_TOOLS: usize = 200;
/// Letters of what is said of each.
const LONGEST: usize = 300;

/// What each source would bring.
pub(super) async fn probed(
    asked: &GatewayRequest,
    written: &WrittenSources,
    config: Config,
) -> Result<Value, HttpProblem> {
    let AddedSources { sources: found, others } = added_sources(&written.toml);
    if !others.is_empty() {
        let detail = format!("only sources are looked at: leave out `{}`", others.join("`, `"));
        return Err(HttpProblem::new(ProblemKind::ChangeRefused, detail));
    }
    let uses_machine =
        |value: &Value| AddedSource::of(value).is_none_or(|source| source.uses_machine());
    // What is built is what starts, whatever was read of the text.
    let starts_any = starts(&config.outlines(Disclosure::Whole)).next().is_some();
    let is_within = !starts_any && !found.iter().any(|(_, value)| uses_machine(value));
    if !is_within && !executes(&asked.caller) {
        return Err(lacking(&asked.gateway.guard.access(), ProtectedResource::Whole, EXECUTE));
    }
    if found.len() > MOST_SOURCES {
        let detail = format!("{MOST_SOURCES} sources are looked at together at the most");
        return Err(HttpProblem::new(ProblemKind::ChangeRefused, detail));
    }
    let Ok(place) = PLACES.try_acquire() else {
        let detail = "other sources are being looked at: ask again in a moment";
        return Err(HttpProblem::new(ProblemKind::TooMany, detail));
    };
    // Whoever goes away meanwhile leaves no program behind.
    let looking = tokio::spawn(async move {
        let _place = place;
        looked_at(&config).await
    });
    looking.await.map_err(|error| HttpProblem::new(ProblemKind::Broken, error.to_string()))
}

async fn looked_at(config: &Config) -> Value {
    let maker = sources::ours();
    let built = config.build(&ProcessLookup, &maker);
    let redactor = Arc::clone(&built.redactor);
    // Without a policy nothing of it can be called.
    let builder = built.sources.into_iter().fold(Crib::builder(), CribBuilder::placed);
    let crib = builder.open();
    let is_in_time = tokio::time::timeout(PATIENCE, crib.start()).await.is_ok();
    let catalog = crib.catalog();
    let rows = crib.sources();
    let rows = rows.iter().map(|state| {
        let slow = || (!is_in_time).then(|| "it took too long to answer".to_owned());
        let error = state.error.clone();
        json!({
            "source": state.id,
            "error": error.or_else(|| state.age_seconds.is_none().then(slow).flatten()),
            "tools": tools(&catalog, state.id.as_str()),
            "total": state.tools,
        })
    });
    let mut told = Value::Array(rows.collect());
    redactor.value(&mut told);
    drop(crib);
    let _ = tokio::time::timeout(LAST_WISHES, maker.stop()).await;
    told
}

fn tools(catalog: &Catalog, source: &str) -> Vec<Value> {
    let own = catalog.loaded().iter().filter(|tool| tool.spec.origin.source.as_str() == source);
    let told = own.take(MOST_TOOLS).map(|tool| {
        let description: String = tool.spec.description.chars().take(LONGEST).collect();
        json!({
            "name": tool.spec.name,
            "description": description,
            "effect": tool.spec.effect.as_str(),
        })
    });
    told.collect()
}
