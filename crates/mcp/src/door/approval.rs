//! A parked call, put to the person at the client.

use serde_json::Value;
pub(super) use toolcrib_core::approval::{decision, shown};
use toolcrib_core::{Parked, Pending, approval};

/// The key of the question where several may be open.
pub(super) const KEY: &str = "approval";

/// The question as a form. `parked` is what will run: that is shown and not what was sent.
pub(super) fn form(tool: &str, pending: &Pending, parked: Option<&Parked>) -> Value {
    let tool = parked.map_or(tool, |parked| parked.tool.as_str());
    let arguments = parked.map(|parked| parked.arguments.clone().into_value());
    let arguments = arguments.map(|arguments| shown(&arguments.to_string()));
    let message = format!(
        "May `{}` run? {}. Arguments: {}",
        shown(tool),
        shown(&pending.reason),
        arguments.as_deref().unwrap_or("(not shown)")
    );
    approval::form(&message, "Run it", "Yes runs this call once; no refuses it")
}
