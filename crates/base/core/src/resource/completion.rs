//! Values that complete a template: what would lead to a resource that the caller may not know of
//! is not told.

use serde_json::Value;

use super::catalog::ResourceCatalog;
use super::resources::{ResourceOperation, ResourceRequest};
use crate::call::caller::Caller;
use crate::call::json_fields::JsonFields;
use crate::policy::Policy;

impl ResourceCatalog {
    /// The answer to an inquiry, of a completion without the values that name what is kept from
    /// this caller.
    pub(crate) fn known(
        &self,
        inquiry: &ResourceRequest,
        mut answer: JsonFields,
        caller: &Caller,
        policy: &dyn Policy,
    ) -> JsonFields {
        let Some((before, after)) = around(inquiry) else { return answer };
        let values = answer.get_mut("completion").and_then(|all| all.get_mut("values"));
        let Some(Value::Array(values)) = values else { return answer };
        let said = values.len();
        values.retain(|value| {
            let Some(value) = value.as_str() else { return true };
            let uri = format!("{before}{}{after}", written(value));
            let params = JsonFields::from_iter([("uri".to_owned(), Value::from(uri))]);
            let inquiry = ResourceRequest { about: ResourceOperation::Resource, params };
            self.seek(&inquiry, caller, policy, None).is_ok()
        });
        let left = values.len();
        if left < said
            && let Some(Value::Object(completion)) = answer.get_mut("completion")
        {
            // How many there are in all would tell of them.
            completion.shift_remove("total");
        }
        answer
    }
}

/// What stands around the argument of a template that has no other.
fn around(inquiry: &ResourceRequest) -> Option<(&str, &str)> {
    if inquiry.about != ResourceOperation::Completion {
        return None;
    }
    let about = inquiry.params.get("ref")?;
    let is_resource = about.get("type").is_some_and(|kind| kind == "ref/resource");
    let template = about.get("uri").filter(|_| is_resource)?.as_str()?;
    let argument = inquiry.params.get("argument")?.get("name")?.as_str()?;
    let (before, rest) = template.split_once('{')?;
    let (expression, after) = rest.split_once('}')?;
    let name = expression.trim_start_matches('+').trim_end_matches('*');
    (name == argument && !after.contains('{')).then_some((before, after))
}

/// As it stands in an address.
fn written(value: &str) -> String {
    value.replace(' ', "%20")
}
