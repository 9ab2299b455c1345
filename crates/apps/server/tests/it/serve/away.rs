//! A source that is away, as models, programs and people who search hear of it.

use serde_json::json;

use super::support::{Serving, eventually};
use super::wire::{message, modern};
use crate::process::Folder;

const CONFIGURATION: &str = r#"
discovery = "lazy"
allow = ["*"]
deny = ["source:vault"]

[[source]]
id = "clock"
basics = true

[[source]]
id = "mail"
mcp = { command = ["./no-such-program-of-the-workshop"] }

[[source]]
id = "vault"
mcp = { command = ["./no-such-program-of-the-workshop"] }

[profile.quiet]
sources = ["clock"]
allow = ["*"]
"#;

#[test]
fn a_search_says_which_source_is_away_to_whom_it_concerns() {
    let folder = Folder::new();
    folder.write("crib.toml", CONFIGURATION);
    let serving = Serving::start_in(folder, &[]);
    let away = json!([{ "source": "mail", "reason": "it could not list them" }]);
    let found = |path: &str| serving.ask("GET", path, "").json();
    assert!(eventually(|| found("/v1/tools?q=send%20a%20mail")["away"] == away));
    assert_eq!(found("/v1/tools?source=mail")["away"], away);
    for path in ["/v1/tools?q=time&source=clock", "/v1/tools?q=time&profile=quiet"] {
        assert_eq!(found(path).get("away"), None, "{path}");
    }
    let ask = |path: &str| {
        let call = json!({ "name": "discover_tools", "arguments": { "query": "send a mail" } });
        let told = message(&modern(&serving, &serving.token, path, ("tools/call", call)));
        let structured = told["result"]["structuredContent"]["away"].clone();
        (told["result"]["content"][0]["text"].as_str().unwrap().to_owned(), structured)
    };
    let (text, structured) = ask("/mcp");
    assert!(text.contains("The source `mail` gives no tools now: it could not list"), "{text}");
    assert_eq!(structured, away);
    // What went wrong is for the operator.
    assert!(!text.contains("workshop") && !text.contains("vault"), "{text}");
    let searched = serving.folder.run(&["search", "--json", "send", "a", "mail"]);
    assert_eq!(searched.json()["away"], away);
}
