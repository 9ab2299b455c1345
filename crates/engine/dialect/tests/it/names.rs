//! Names on the wire and back.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_core::PlanRequest;

use crate::fixture::{plan_of, spec, variants};

fn call(dialect: &str, name: &str) -> Value {
    match dialect {
        "openai-chat" => json!([{"id": "1", "function": {"name": name, "arguments": "{}"}}]),
        "openai-responses" => {
            json!([{"type": "function_call", "call_id": "1", "name": name, "arguments": "{}"}])
        }
        "anthropic" => json!([{"type": "tool_use", "id": "1", "name": name, "input": {}}]),
        _ => json!([{"functionCall": {"name": name, "args": {}}}]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_tool_has_a_legal_name_that_leads_back_to_it(
        names in prop::collection::hash_set("[A-Za-z0-9_.:/-]{1,128}", 1..12),
    ) {
        let specs = names.iter().map(|name| spec(name, "T.", json!({"type": "object"})));
        let plan = plan_of(specs, PlanRequest::default());
        for (folder, dialect) in variants() {
            let rendering = dialect.rendering(&plan);
            prop_assert!(rendering.refused.is_empty());
            for name in &names {
                let wire = rendering.wire_name(name).unwrap();
                prop_assert!(crate::checker::is_legal_name(dialect.name(), wire), "{} {}", folder, wire);
                let calls = dialect.calls(&plan, &call(dialect.name(), wire)).unwrap();
                prop_assert_eq!((calls.len(), &calls[0].name), (1, name));
                prop_assert_eq!(&calls[0].wire.name, wire);
            }
        }
    }
}

#[test]
fn what_models_make_of_names_is_understood_where_it_is_plain() {
    let specs = ["math.add", "now"].map(|name| spec(name, "T.", json!({"type": "object"})));
    let plan = plan_of(specs, PlanRequest::default());
    for (folder, dialect) in variants() {
        let decoded =
            |wire: &str| dialect.calls(&plan, &call(dialect.name(), wire)).unwrap().remove(0).name;
        assert_eq!(decoded("math.add"), "math.add", "{folder}");
        assert_eq!(decoded("functions.now"), "now", "{folder}");
        assert_eq!(decoded("default_api.now"), "now", "{folder}");
        // Another group may have a tool of that name: it is not guessed.
        assert_eq!(decoded("github.now"), "github.now", "{folder}");
        assert_eq!(decoded("nobody"), "nobody", "{folder}");
    }
}
