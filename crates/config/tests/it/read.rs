//! What is wrong with a file: all of it at once, each in its place.

use toolcrib_config::{Config, ConfigProblem};

/// Every line of what is wrong.
fn problems(text: &str) -> String {
    let read = Config::read(text, "crib.toml");
    assert_eq!(read.config.is_none(), !read.problems.is_empty());
    lines(&read.problems)
}

fn warnings(text: &str) -> String {
    let read = Config::read(text, "crib.toml");
    assert_eq!(lines(&read.problems), "");
    lines(&read.warnings)
}

fn lines(problems: &[ConfigProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_empty_file_is_a_file() {
    assert_eq!(problems(""), "");
}

#[test]
fn all_that_is_wrong_is_told_at_once_with_its_place_and_cure() {
    let text = r#"
listn = "127.0.0.1:7411"
deny = ["effect:eat", 7]

[server]
listen = "everywhere"

[[source]]
id = "files"
mcp = { comand = ["npx"], share = "all", revision = "2025-06-18" }

[[source]]
id = "files"
openapi = { document = "x.json", base_url = "ftp://x", timeout = "soon" }
enabled = "yes"

[[source]]
basics = ["noww"]

[tool.x]
timeout = 0
effekt = "read"

[profile.p]
sources = ["fils"]
allow = ["categry:a"]
discovery = "code"
eager = ["scope:x"]
"#;
    let expected = "\
crib.toml:2:1: listn: unknown key; use one of `server`, `page`, `store`, `cluster`, `log`, `embedder`, `model`, `agent`, `telemetry`, `audit`, `source`, `tool`, `toolset`, `profile`, `limits`, `assign`, `unlisted_agents`, `allow`, `ask`, `deny`, `discovery`, `eager`, `confirm`, `rule`, `tests`
crib.toml:3:9: deny[0]: `eat` is no effect; did you mean `read`?
crib.toml:3:23: deny[1]: wrong type: integer; write a string
crib.toml:6:10: server.listen: this is no address to listen on; write an address and a port, as in `127.0.0.1:7411` or `[::1]:7411`
crib.toml:10:9: source[0].mcp.comand: unknown key; did you mean `command`?
crib.toml:10:35: source[0].mcp.share: `all` is none of the words for this; use one of `shared`, `session`, `caller`
crib.toml:10:53: source[0].mcp.revision: `2025-06-18` is none of the words for this; use one of `2025-11-25`, `2026-07-28`
crib.toml:13:6: source[1].id: there is a source `files` already; rename one of them
crib.toml:14:45: source[1].openapi.base_url: this is no address of the web; write it as `https://host/path`
crib.toml:14:66: source[1].openapi.timeout: this is no duration; write `500ms`, `30s`, `5m`, `2h` or `1d`, a year at the most
crib.toml:15:11: source[1].enabled: wrong type: string; write `true` or `false`
crib.toml:17:1: source[2]: `id` is missing; add `id = ...`
crib.toml:21:11: tool.x.timeout: nothing ends within no time; write `1s` or more
crib.toml:22:1: tool.x.effekt: unknown key; did you mean `effect`?
crib.toml:25:12: profile.p.sources[0]: there is no such source; did you mean `files`?
crib.toml:26:10: profile.p.allow[0]: `categry` is no field of a pattern; did you mean `category`? (a tool name with a colon is `name:categry:a`)
crib.toml:27:13: profile.p.discovery: `code` is not available in this version; use `direct` or `lazy` or `auto`
crib.toml:28:10: profile.p.eager[0]: `scope` is of the caller, and these are tools; name tools, tags, actions, toolsets, categories, sources or effects";
    assert_eq!(problems(text), expected);
}

#[test]
fn swapped_neighbours_are_one_slip_also_in_a_short_key() {
    let text = "[[source]]\nid = \"a\"\nmpc = { command = [\"x\"] }\n\n[[source]]\ndi = \"b\"\n\
                basics = true\n[severr]\n";
    let expected = "\
crib.toml:3:1: source[0].mpc: unknown key; did you mean `mcp`?
crib.toml:5:1: source[1]: `id` is missing; add `id = ...`
crib.toml:6:1: source[1].di: unknown key; did you mean `id`?
crib.toml:8:2: severr: unknown key; did you mean `server`?";
    assert_eq!(problems(text), expected);
}

#[test]
fn what_is_no_toml_is_told_by_its_lines() {
    let text = "[server\nlisten = \n\n[a]\nx = 1\nx = 2\n";
    let told = problems(text);
    let lines: Vec<_> = told.lines().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(lines, ["crib.toml:1:8", "crib.toml:6:1"], "{told}");
    let long = format!("#{}", "x".repeat(1 << 20));
    assert_eq!(
        problems(&long),
        "crib.toml:1:1: the file is larger than 1048576 bytes; make it shorter"
    );
}

#[test]
fn a_source_is_exactly_one_thing() {
    let text = r#"
[[source]]
id = "none"

[[source]]
id = "two"
basics = true
openapi = { document = "x.json" }

[[source]]
id = "agent"
a2a = { card = "x" }

[[source]]
id = "server"
mcp = { command = ["x"], url = "http://x/", headers = {} }

[[source]]
id = "nowhere"
mcp = {}

[[source]]
id = "mixed"
mcp = { url = "https://ann:pw@x/", env = { A = "1" } }
toolsets = { by = "tag", max_tools = 3 }

[[source]]
id = "code"
basics = ["time_noww"]
prefix = "a b"
include = ["with space"]
"#;
    let expected = "\
crib.toml:2:1: source[0]: the source says nothing of where its tools are; add one of `mcp`, `openapi`, `a2a`, `basics`, `desk`, `builtin`
crib.toml:7:10: source[1].basics: a source is one thing, and this is `openapi` and `basics`; make two sources of it
crib.toml:12:16: source[2].a2a.card: this is no address of the web; write it as `https://host/path`
crib.toml:16:32: source[3].mcp.url: a server is started or reached, not both; remove `command` or `url`
crib.toml:20:7: source[4].mcp: the server is neither started nor reached; add `command = [\"program\", \"argument\"]` or `url = \"https://..\"`
crib.toml:24:15: source[5].mcp.url: an address that holds a login stands in every log; put it into `headers`, `bearer` or `auth` as `${env:NAME}`
crib.toml:24:42: source[5].mcp.env: this means nothing beside `url`; remove it
crib.toml:28:6: source[6].id: `code` is the name of the host's own tools; choose another name
crib.toml:29:11: source[6].basics[0]: there is no such tool among the basic ones; did you mean `time_now`?
crib.toml:30:10: source[6].prefix: this cannot stand before a name; use up to 64 letters, digits, `_` and `-`, or `\"\"` for none
crib.toml:31:12: source[6].include[0]: no tool can have such a name; use letters, digits, `_ . : / -`, `*` and `?`";
    assert_eq!(problems(text), expected);
}

#[test]
fn who_we_are_is_said_once() {
    let text = r#"
[[source]]
id = "a"
openapi = { document = "x.json", auth = {} }

[[source]]
id = "b"
openapi = { document = "x.json", auth = { bearer = "${env:A}", key = "${env:B}" } }

[[source]]
id = "c"
[source.openapi]
document = "x.json"
[source.openapi.auth.schemes]
one = { basic = { user = "ann", password = "${env:}" } }
two = { schemes = { three = { key = "${env:K}" } } }
three = { per_caller = { ann = { per_caller = { bob = { key = "${env:K}" } } } } }
four = { client_credentials = { client_id = "x" } }

[[source]]
id = "d"
mcp = { url = "https://x/", bearer = "${env:A}", oauth = { machine = true } }
"#;
    let expected = "\
crib.toml:4:41: source[0].openapi.auth: this does not say who we are; add `bearer`, `basic`, `key`, `client_credentials` or `per_caller`
crib.toml:8:41: source[1].openapi.auth: this says twice who we are; keep one of them
crib.toml:15:44: source[2].openapi.auth.schemes.one.basic.password: `${env:}` names no variable; use letters, digits and `_`, as in `${env:API_KEY}`
crib.toml:16:19: source[2].openapi.auth.schemes.two.schemes: schemes cannot stand within schemes; move them up
crib.toml:17:47: source[2].openapi.auth.schemes.three.per_caller.ann.per_caller: a caller has no callers; move them up
crib.toml:18:31: source[2].openapi.auth.schemes.four.client_credentials: `client_secret` is missing; add `client_secret = ...`
crib.toml:22:38: source[3].mcp.bearer: two ways to say who we are; remove `bearer` or `oauth`
crib.toml:22:58: source[3].mcp.oauth: a program that signs in as itself has a name and a secret; add `client_id` and `client_secret`";
    assert_eq!(problems(text), expected);
}

#[test]
fn rules_are_read_by_the_engine_with_the_lines_of_this_file() {
    let text = r#"
[limits]
max_calls = 3

[[rule]]
name = "r"
deny = ["effect:read"]

[[tests]]
tool = "now"
expect = "allow"
"#;
    assert_eq!(
        problems(text),
        "crib.toml:9:1: tests[0]: a test expects `allow` and got `deny`: `now` is denied: no rule \
         matches it; change the rules or the test"
    );
    let right = text.replace("\"allow\"", "\"deny\"");
    assert!(Config::read(&right, "crib.toml").config.unwrap().rules.is_some());
}

#[test]
fn references_stand_where_secrets_may_and_nowhere_else() {
    let text = r#"
[[source]]
id = "a"
[source.mcp]
command = ["server", "--key", "${env:KEY}"]
env = { A = "${env:A", B = "${keyring:x}", C = "$${env:plain}", D = "${file:}" }

[tool.t]
description = "${file:/etc/passwd}"
"#;
    let expected = "\
crib.toml:5:31: source[0].mcp.command[2]: no reference to a secret may stand here; everybody on this machine can read arguments: hand it over in `env`
crib.toml:6:13: source[0].mcp.env.A: a `${` has no `}`; close it, or write `$${`
crib.toml:6:28: source[0].mcp.env.B: `${keyring:x}` is no reference; write `${env:NAME}`, `${file:PATH}`, or `$${` for a plain `${`
crib.toml:6:69: source[0].mcp.env.D: `${file:}` names no file; name one, as in `${file:/run/secrets/key}`
crib.toml:9:15: tool.t.description: no reference to a secret may stand here; write the value, or move it to `env`, `headers` or `auth`";
    assert_eq!(problems(text), expected);
}

#[test]
fn a_secret_that_is_written_out_is_warned_about_and_never_repeated() {
    let text = r#"
[store]
url = "postgres://crib:hunter2@db/crib"

[[source]]
id = "a"
[source.mcp]
command = ["server", "ghp_0123456789abcdefghijABCDEFGHIJ"]
env = { API_KEY = "hunter2", DEBUG = "1", HOME = "/home/ann" }

[[source]]
id = "b"
mcp = { url = "http://x/", headers = { Authorization = "Bearer ${env:TOKEN}", X = "q7Zr2Kp9Lx4Tn8Vb3Ws6" } }

[profile.p]
deny = ["effect:destroy"]
"#;
    let told = warnings(text);
    let places: Vec<_> = told.lines().map(|line| line.split(": ").nth(1).unwrap()).collect();
    assert_eq!(
        places,
        [
            "store.url",
            "source[0].mcp.command[1]",
            "source[0].mcp.env.API_KEY",
            "source[1].mcp.url",
            "source[1].mcp.headers.X",
            "profile.p"
        ]
    );
    assert!(!told.contains("hunter2") && !told.contains("ghp_") && !told.contains("q7Z"), "{told}");
    let debug = format!("{:?}", Config::read(text, "crib.toml"));
    assert!(!debug.contains("hunter2") && !debug.contains("q7Z"), "{debug}");
}

#[test]
fn numbers_out_of_range_and_dates_are_refused() {
    let text = "[limits]\nmax_calls = 0\nper_source = -1\nretries = 99999999999\ntimeout = 1979-05-27\nqueue = 1.5\nguard = 99999999999999\nmax_result = \"1XB\"\n";
    let expected = "\
crib.toml:2:13: limits.max_calls: nothing could run with 0; write 1 or more
crib.toml:3:14: limits.per_source: this number is too small or too large; write a whole number from 0
crib.toml:4:11: limits.retries: this number is too small or too large; write a whole number from 0
crib.toml:5:11: limits.timeout: wrong type: datetime; write a string or a whole number
crib.toml:6:9: limits.queue: wrong type: float; write a string or a whole number
crib.toml:7:9: limits.guard: this is no duration; write `500ms`, `30s`, `5m`, `2h` or `1d`, a year at the most
crib.toml:8:14: limits.max_result: this is no size; write `64KiB`, `8MiB` or a number of bytes from 1";
    assert_eq!(problems(text), expected);
}

#[test]
fn a_file_full_of_faults_is_refused_in_time_with_as_many_as_anybody_reads() {
    let text: Vec<_> = (0..60_000).map(|count| format!("k{count}=1\n")).collect();
    let text = text.concat();
    assert_eq!(problems(&text).lines().count(), 200);
    let text = format!("allow = [{}]", "\"x:y\",".repeat(60_000));
    assert!(problems(&text).lines().count() <= 200);
    let text = "[[source]]\nid=\"a\"\n".repeat(40_000);
    assert_eq!(problems(&text).lines().count(), 200);
}

#[test]
fn a_file_with_more_profiles_than_anybody_keeps_in_mind_is_refused() {
    let profiles = |count| {
        let profile = |number| format!("[profile.p{number}]\nallow = [\"*\"]\n");
        (0..count).map(profile).collect::<Vec<_>>().concat()
    };
    assert_eq!(problems(&profiles(256)), "");
    let found = problems(&profiles(15_000));
    assert!(found.contains("there are more than 256 profiles"), "{found}");
}
