//! Prints the JSON Schema of `crib.toml`: `docs/crib.schema.json` is this output.

use std::io::Write;

fn main() -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{:#}", toolcrib_config::schema())
}
