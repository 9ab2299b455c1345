//! A tool of the catalog with all that is computed once.

use std::sync::{Arc, OnceLock};

use serde_json::Value;
use toolcrib_json::schema::{self, Schema};

use super::quarantine::QuarantineReason;
use crate::observe::observer::ToolIdentity;
use crate::tool::Tool;
use crate::tool::fingerprint::Fingerprint;
use crate::tool::spec::ToolSpec;

/// A tool of the catalog with all that is computed once.
#[derive(Clone)]
pub struct CatalogTool {
    pub spec: Arc<ToolSpec>,
    pub tool: Arc<dyn Tool>,
    /// Most tools of a large catalog are never called, and a compiled schema is larger than the
    /// rest of its tool.
    pub(super) compiled: OnceLock<Option<Schema>>,
    pub fingerprint: Fingerprint,
    /// From the last good list of a source that does not answer now.
    pub stale: bool,
    /// What its schema may cost.
    pub(super) within: Arc<schema::SchemaBounds>,
}

impl CatalogTool {
    /// A tool that stands in no catalog. `None`: its schema cannot be used.
    pub fn alone(tool: Arc<dyn Tool>) -> Option<Self> {
        let spec = tool.shared_spec();
        let within = Arc::default();
        try_to_compile(&spec.input.value(), &within).ok()?;
        let fingerprint = spec.fingerprint();
        Some(Self { spec, tool, compiled: OnceLock::new(), fingerprint, stale: false, within })
    }

    /// Which tool it is, for whoever sees its calls.
    pub fn identity(&self) -> ToolIdentity<'_> {
        ToolIdentity { spec: &self.spec, fingerprint: self.fingerprint }
    }

    /// The schema of the arguments, compiled when it is first asked for. It is there: whether it
    /// compiles was tried before the tool was listed.
    pub fn schema(&self) -> Option<&Schema> {
        let compile = || Schema::compile_within(&self.spec.input.value(), &self.within).ok();
        self.compiled.get_or_init(compile).as_ref()
    }
}

/// Arguments are an object, in every API and every protocol.
pub(super) fn try_to_compile(
    input: &Value,
    within: &schema::SchemaBounds,
) -> Result<(), QuarantineReason> {
    let is_object = |kind: &Value| kind == "object";
    let admits = |kind: &Value| {
        kind.as_array().map_or_else(|| is_object(kind), |kinds| kinds.iter().any(is_object))
    };
    if let Some(kind) = input.get("type").filter(|kind| !admits(kind)) {
        let problem = format!(
            "its arguments are of type `{}`: take an object with a named field for each of them",
            crate::call::name::shown(kind.as_str().unwrap_or("unknown"))
        );
        return Err(QuarantineReason::BadSchema { problem });
    }
    if let Some(shown) = crate::tool::sanitize::hidden(input) {
        let problem = format!("its `{shown}` holds characters that nobody sees");
        return Err(QuarantineReason::BadSchema { problem });
    }
    let compiled = Schema::compile_within(input, within).map(|_| ());
    compiled.map_err(|error| QuarantineReason::BadSchema { problem: error.to_string() })
}
