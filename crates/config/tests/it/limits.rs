//! The words of limits: each comes where it counts, and what is no limit is refused.

use std::sync::{Arc, Mutex};

use toolcrib_config::{Config, Maker};
use toolcrib_core::{CribLimits, Source};
use toolcrib_json::repair::Bounds;
use toolcrib_mcp::{ServerBounds, ServerSettings};
use toolcrib_openapi::ApiSettings;

use crate::workshop::{Workshop, config};

/// Keeps what servers are made of.
#[derive(Default)]
struct Kept(Mutex<Vec<ServerSettings>>, Workshop);

impl Maker for Kept {
    fn mcp(&self, id: &str, settings: ServerSettings) -> Arc<dyn Source> {
        self.0.lock().unwrap().push(settings.clone());
        self.1.mcp(id, settings)
    }

    fn api(&self, id: &str, settings: ApiSettings) -> Arc<dyn Source> {
        self.1.api(id, settings)
    }
}

fn problems(text: &str) -> Vec<String> {
    Config::read(text, "crib.toml").problems.iter().map(ToString::to_string).collect()
}

#[test]
fn what_a_server_may_say_is_set_for_each_and_safe_if_not() {
    let text = r#"
[[source]]
id = "a"
[source.mcp]
command = ["a"]
limits = { message = "1MiB", depth = 120, pages = 2, entries = 3, definition = "16KiB" }

[[source]]
id = "b"
mcp = { command = ["b"] }
"#;
    let (kept, file) = (Kept::default(), config(text));
    file.build(&kept.1, &kept);
    let bounds: Vec<_> = kept.0.lock().unwrap().iter().map(|settings| settings.bounds).collect();
    let own = ServerBounds {
        message: 1024 * 1024,
        depth: 120,
        pages: 2,
        entries: 3,
        definition: 16 * 1024,
    };
    assert_eq!(bounds, [own, ServerBounds::default()]);
}

#[test]
fn no_limit_of_a_server_is_nothing_and_its_depth_has_a_hard_stop() {
    let text = r#"
[[source]]
id = "a"
[source.mcp]
command = ["a"]
[source.mcp.limits]
message = 0
depth = 121
pages = 0
entries = 0
definition = "0KiB"
"#;
    let size = "this is no size; write `64KiB`, `8MiB` or a number of bytes from 1";
    let count = "nothing is within a limit of 0; write 1 or more";
    let depth = "what reads JSON here stops at 128 levels, those of envelopes among them; write 120 or less";
    let expected = [
        format!("crib.toml:7:11: source[0].mcp.limits.message: {size}"),
        format!("crib.toml:8:9: source[0].mcp.limits.depth: {depth}"),
        format!("crib.toml:9:9: source[0].mcp.limits.pages: {count}"),
        format!("crib.toml:10:11: source[0].mcp.limits.entries: {count}"),
        format!("crib.toml:11:14: source[0].mcp.limits.definition: {size}"),
    ];
    assert_eq!(problems(text), expected);
}

#[test]
fn what_is_read_of_json_is_set_and_safe_if_not() {
    let text = r#"
[server.limits]
body = "8MiB"
depth = 20
values = 1000

[limits]
arguments = "2MiB"
depth = 120
values = 4
"#;
    let read = config(text);
    assert_eq!(read.bounds.json(), Bounds { bytes: 8 << 20, depth: 20, values: 1_000 });
    assert_eq!(read.limits.arguments, Bounds { bytes: 2 << 20, depth: 120, values: 4 });
    let unset = config("[limits]\n");
    assert_eq!(unset.limits, CribLimits::default());
    assert_eq!(unset.bounds.json(), Bounds::default());
    let wrong = "[server.limits]\ndepth = 121\nvalues = 0\n[limits]\ndepth = 121\nvalues = 0\n";
    assert_eq!(problems(wrong).len(), 4);
}
