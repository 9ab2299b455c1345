//! Where each field of a tool comes from that a file may say: from its source, from the file, or
//! from what is changed over it.

use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_auth::is_operator;
use toolcrib_config::{Overlay, OverlayRow, OverlayStanding, WrittenField};
use toolcrib_core::{ToolSpec, ValidationOrigin};

use crate::http::changes::overlay_answer::time;
use crate::http::changes::overlay_door::ServedFile;
use crate::http::routes::request::GatewayRequest;

/// What the tables of tools may say, each with the value that a spec has of it.
fn fields(spec: &ToolSpec) -> [(&'static str, Value); 27] {
    let (traits, limits, guidance) = (&spec.traits, &spec.limits, &spec.guidance);
    [
        ("enabled", json!(spec.enabled)),
        ("exclusive", json!(traits.exclusive)),
        ("capability", json!(traits.capability)),
        ("takes_control", json!(traits.takes_control)),
        ("companions", json!(traits.companions)),
        ("effect", json!(spec.effect)),
        ("idempotent", json!(spec.idempotent)),
        ("timeout", json!(limits.timeout.map(pause))),
        ("max_result", json!(limits.max_result_bytes)),
        ("retries", json!(limits.retries)),
        ("title", json!(spec.title)),
        ("summary", json!(spec.summary)),
        ("description", json!(spec.description)),
        ("category", json!(spec.category)),
        ("actions", json!(spec.actions)),
        ("tags", json!(spec.tags)),
        ("aliases", json!(spec.aliases)),
        ("examples", json!(spec.examples)),
        ("checks", json!(spec.checks)),
        ("approval", json!(spec.approval)),
        ("verify", json!(spec.verify)),
        ("validation", json!(spec.validation)),
        ("guidance.system", json!(guidance.system)),
        ("guidance.user", json!(guidance.user)),
        ("guidance.system_format", json!(guidance.system_format)),
        ("guidance.user_format", json!(guidance.user_format)),
        ("guidance.reminder", json!(guidance.reminder)),
    ]
}

/// As a file writes it.
fn pause(pause: Duration) -> String {
    let millis = pause.as_millis();
    if millis.is_multiple_of(1_000) {
        format!("{}s", pause.as_secs())
    } else {
        format!("{millis}ms")
    }
}

/// Of each field what holds, and where it comes from; by whom and in which line is for the
/// operator. `given`: the tool as its source has it; `None`: it is kept out, and nobody knows.
pub(super) fn provenance(
    asked: &GatewayRequest,
    spec: &ToolSpec,
    given: Option<&ToolSpec>,
) -> Value {
    let held = fields(spec);
    let is_told = is_operator(&asked.caller);
    let given = given.map(fields);
    // Whoever looks at a tool sees it also where the file cannot be read.
    let file = asked.gateway.overlay.served().unwrap_or_default();
    // What the text says now is not what holds as long as it is refused.
    let is_followed = asked.gateway.refused_file().is_empty();
    let file = file.filter(|_| is_followed);
    let origins = file.as_ref().map(|file| FieldOrigins::of(file, spec, &held));
    let rows = held.iter().enumerate().map(|(place, (field, value))| {
        let origin = origins.as_ref().map(|origins| origins.at(place));
        let given = given.as_ref().and_then(|given| given.get(place)).map(|(_, value)| value);
        let (given, file, overlay) = match &origin {
            Some(origin) if is_told => (given, origin.told_file(), origin.told_overlay()),
            None if is_told => (given, Value::Null, Value::Null),
            Some(_) | None => (None, Value::Null, Value::Null),
        };
        json!({
            "field": field,
            "value": value,
            "from": origin.as_ref().map(FieldOrigin::word),
            "given": given,
            "file": file,
            "overlay": overlay,
        })
    });
    rows.collect()
}

/// What a file and the changes over it say of each field of a tool.
struct FieldOrigins<'f> {
    shown: &'f str,
    written: Vec<Option<WrittenField>>,
    /// By field, what is changed there and holds.
    changed: Vec<Option<&'f OverlayRow>>,
}

/// The same of one field.
struct FieldOrigin<'f> {
    shown: &'f str,
    written: Option<&'f WrittenField>,
    changed: Option<&'f OverlayRow>,
}

impl<'f> FieldOrigins<'f> {
    fn of(file: &'f ServedFile, spec: &ToolSpec, fields: &[(&'static str, Value)]) -> Self {
        let tool = spec.name.as_str();
        let places: Vec<Vec<&str>> = fields
            .iter()
            .map(|(field, _)| ["tool", tool].into_iter().chain(field.split('.')).collect())
            .collect();
        let of_source = ["source", spec.origin.source.as_str(), "validate"];
        let mut all: Vec<&[&str]> = places.iter().map(Vec::as_slice).collect();
        all.push(&of_source);
        let mut written = Overlay::written_at(&all, &file.text, &file.shown);
        let of_source = written.pop().flatten();
        for ((field, _), own) in fields.iter().zip(&mut written) {
            // What is said of all tools of a source holds where nothing is said of this one.
            if *field == "validation" && spec.validation_said == ValidationOrigin::Source {
                own.clone_from(&of_source);
            }
        }
        let changed = places.iter().map(|place| changed(file, place)).collect();
        Self { shown: &file.shown, written, changed }
    }

    fn at(&self, place: usize) -> FieldOrigin<'_> {
        FieldOrigin {
            shown: self.shown,
            written: self.written.get(place).and_then(Option::as_ref),
            changed: self.changed.get(place).copied().flatten(),
        }
    }
}

/// The last row in force at a place, above it, or below it.
fn changed<'f>(file: &'f ServedFile, place: &[&str]) -> Option<&'f OverlayRow> {
    let rows = file.overlay.rows.iter().zip(&file.standings);
    let holds = |standing: &OverlayStanding| {
        matches!(standing, OverlayStanding::InForce | OverlayStanding::FileDiffers)
    };
    let meets = |row: &OverlayRow| row.path.keys().iter().zip(place).all(|(own, key)| own == key);
    let mut all = rows.rev().filter(|(row, standing)| holds(standing) && meets(row));
    all.next().map(|(row, _)| row)
}

impl FieldOrigin<'_> {
    fn word(&self) -> &'static str {
        match (self.changed, self.written) {
            (Some(_), _) => "overlay",
            (None, Some(_)) => "file",
            (None, None) => "source",
        }
    }

    fn told_file(&self) -> Value {
        let Some(WrittenField { value, line }) = self.written else { return Value::Null };
        json!({ "name": self.shown, "line": line, "value": value })
    }

    fn told_overlay(&self) -> Value {
        let Some(row) = self.changed else { return Value::Null };
        json!({
            "row": row.id,
            "by": row.by,
            "at": time(row.at),
            "until": row.until.map(time),
            "why": row.why,
        })
    }
}
