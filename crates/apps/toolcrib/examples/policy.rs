//! Rules as data, with tests of their own: rules that do not keep their promises are refused.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use toolcrib::prelude::*;
use toolcrib::rules::Rules;
use toolcrib::serde_json::json;
use toolcrib::{Call, RawArguments, Verdict};

const RULES: &str = r#"
allow = ["effect:read"]
ask = ["effect:write"]

[[rule]]
name = "guests look on"
when = { scope = "guest" }
deny = ["effect:write"]
reason = "a guest changes nothing"

[[tests]]
tool = { name = "list_files", effect = "read" }
expect = "allow"

[[tests]]
tool = { name = "write_file", effect = "write" }
expect = "ask"

[[tests]]
tool = { name = "write_file", effect = "write" }
caller = { scopes = ["guest"] }
expect = "deny"
"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wrong = RULES.replace("expect = \"deny\"", "expect = \"allow\"");
    let Err(refused) = Rules::parse(&wrong) else { return Err("a broken promise passed".into()) };
    println!("Rules that break a promise: {refused}");

    let rules = Rules::parse(RULES)?;
    let list = tool("list_files", "Lists files.", Effect::Read, |(): ()| async { Ok("a.txt") })?;
    let write = tool("write_file", "Writes a file.", Effect::Write, |(): ()| async { Ok("done") })?;
    for tool in [&list, &write] {
        println!("{}", rules.explain(&Caller::local(), tool.spec()).sentence);
    }
    assert!(matches!(rules.verdict(&Caller::local(), write.spec()), Verdict::Ask(_)));

    let crib = Crib::builder().policy(rules).build_fixed(Toolset::of([list, write])?);
    let guest = Caller { scopes: ["guest".into()].into(), ..Caller::local() };
    let plan = crib.plan(&guest, PlanRequest::default())?;
    let call = |id: &str, name: &str| Call::new(id, name, RawArguments::Value(json!({})));
    let report = crib.run(&plan, vec![call("1", "list_files"), call("2", "write_file")]).await;
    let texts: Vec<_> = report.responses.iter().map(toolcrib::Response::text).collect();
    println!("A guest is told: {texts:?}");
    assert_eq!(texts.first().map(String::as_str), Some("a.txt"));
    // What a caller may not use does not exist for it.
    assert!(plan.get("write_file").is_none());
    assert!(texts.last().is_some_and(|told| told.contains("write_file")), "{texts:?}");
    Ok(())
}

#[test]
fn it_runs() -> Result<(), Box<dyn std::error::Error>> {
    main()
}
