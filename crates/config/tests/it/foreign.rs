//! A file in another language is told once.

use toolcrib_config::Config;

fn problems(text: &str) -> Vec<String> {
    let read = Config::read(text, "crib.toml");
    assert!(read.config.is_none());
    read.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn yaml_is_told_once_with_the_cure() {
    let yaml = "# server:\n\nserver:\n  listen: 127.0.0.1:7411\nsources:\n  - id: files\n    \
                command: [npx, -y, server]\n    env:\n      KEY: \"a=b\"\n";
    let cure = "crib.toml:3:1: this is YAML, and a crib.toml is TOML; write it anew: `[[source]]` \
                on a line, below it `id = \"name\"` and `mcp = { command = [\"program\"] }`";
    assert_eq!(problems(yaml), [cure]);
    assert_eq!(problems(&format!("---\n{yaml}")), [cure.replace(":3:", ":1:")]);
}

#[test]
fn json_is_told_once_and_may_be_imported() {
    let json = "// mine\n{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"x\" },\n  }\n}\n";
    let cure = "crib.toml:2:1: this is JSON, and a crib.toml is TOML; if it lists the servers of \
                another program, `toolcrib import` takes it over";
    assert_eq!(problems(json), [cure]);
    assert_eq!(problems("{}"), [cure.replace(":2:", ":1:")]);
}

#[test]
fn toml_with_a_line_of_another_language_is_told_by_that_line() {
    let told = problems("listen: \"x\"\n\n[server]\nlisten = \"127.0.0.1:1\"\n");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("crib.toml:1:9: this is not TOML"), "{told:?}");
    let told = problems("just words\nand more\n");
    assert_eq!(told.len(), 2, "{told:?}");
}
