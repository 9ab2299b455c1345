//! `GET /v1/overlay/export`: the changes as words of the file, as a patch of it, or the file with
//! them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::json;
use toolcrib_config::{Overlay, OverlayRow, without_secrets};

use super::overlay_answer::unreadable;
use super::overlay_edit::on_disk;
use super::unified_diff::unified_diff;
use crate::config::overlays::now;
use crate::config::overlays::overlaid_config::OverlaidConfig;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;
use crate::secrets;

pub(crate) const FORMS: [&str; 3] = ["toml", "patch", "file"];

pub(crate) fn export(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        on_disk(&Arc::new(asked), |asked, over| {
            let overlay = over.read().map_err(|error| unreadable(&error))?;
            let form = asked.query.get("form").unwrap_or("toml");
            let (own, all) = (Overlay::default(), over.folded(&overlay));
            let folded = match form {
                "patch" | "file" => all,
                _ => fragment(&over, &overlay),
            };
            let told = shown(&folded)?;
            let mut is_masked = told != folded;
            let text = match form {
                "patch" => {
                    let before = own.folded(&over.text, over.shown(), now());
                    let shown_before = shown(&before)?;
                    is_masked |= shown_before != before;
                    unified_diff(over.shown(), &shown_before, &told)
                }
                _ => told,
            };
            // What the file has in another place than an argument or an address.
            let masked = secrets::masked(&text);
            is_masked |= masked != text;
            Ok(reply(&json!({
                "form": form,
                "version": overlay.version,
                "text": masked,
                "masked": is_masked,
            })))
        })
        .await
    })
}

/// Without the secrets that stand in it word for word.
fn shown(text: &str) -> Result<String, HttpProblem> {
    without_secrets(text).ok_or_else(|| {
        let detail = "the file is no TOML: `toolcrib check` says where; put it right first";
        HttpProblem::new(ProblemKind::Unavailable, detail)
    })
}

/// What somebody would write into the file. A source stands in a list there, in which a table of its
/// own would be another source, so that its fields are only told; one that is added stands whole.
fn fragment(over: &OverlaidConfig, overlay: &Overlay) -> String {
    let is_of = |table: &str, row: &&OverlayRow| {
        row.path.keys().first().is_some_and(|first| first == table)
    };
    let named = overlay.rows.iter().filter(|row| is_of("profile", row));
    let profiles: BTreeSet<_> = named.filter_map(|row| row.path.keys().get(1)).collect();
    let mut seed = toml_tables(&profiles);
    let is_field = |row: &&OverlayRow| is_of("source", row) && !row.path.is_source();
    let rows = overlay.rows.iter().filter(|row| !is_field(row)).cloned().collect();
    seed = Overlay { version: overlay.version, rows }.folded(&seed, "crib.toml", now());
    let standings = over.standings(overlay);
    for (row, standing) in overlay.rows.iter().zip(standings).filter(|(row, _)| is_field(row)) {
        let [_, id, field] = row.path.keys() else { continue };
        let (id, value) = (json!(id), &row.value);
        let state = json!(standing);
        let state = state.as_str().unwrap_or_default();
        let _ =
            writeln!(seed, "\n# At the [[source]] with id = {id} ({state}):\n# {field} = {value}");
    }
    seed.trim_start().to_owned()
}

/// Empty tables of these profiles.
fn toml_tables(profiles: &BTreeSet<&String>) -> String {
    // A text of JSON is one of TOML.
    profiles.iter().fold(String::new(), |mut all, name| {
        let _ = writeln!(all, "[profile.{}]", json!(name));
        all
    })
}
