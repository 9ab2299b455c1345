//! Has the linker put what a start and a call execute side by side (`link/start.ld`, made by
//! `cargo xtask layout`), so that few pages of a large program have to be in memory.

use std::path::Path;

/// With a value, the program is linked as any other.
const PLAIN: &str = "TOOLCRIB_PLAIN_LINK";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=link/start.ld");
    println!("cargo::rerun-if-env-changed={PLAIN}");
    let script = said("CARGO_MANIFEST_DIR") + "/link/start.ld";
    // The names are those of optimised builds, and of this system.
    let is_meant = said("PROFILE") == "release"
        && said("CARGO_CFG_TARGET_OS") == "linux"
        && said("CARGO_CFG_TARGET_ENV") == "gnu"
        && said("CARGO_CFG_TARGET_ARCH") == "x86_64";
    if is_meant && !is_linked_otherwise() && Path::new(&script).is_file() {
        println!("cargo::rustc-link-arg-bin=toolcrib=-T");
        println!("cargo::rustc-link-arg-bin=toolcrib={script}");
    }
}

/// Whether whoever builds has wishes for the linker: some linkers (mold, gold) cannot read the script.
fn is_linked_otherwise() -> bool {
    let wishes = said("RUSTC_LINKER") + &said(PLAIN);
    !wishes.is_empty() || said("CARGO_ENCODED_RUSTFLAGS").contains("link")
}

#[expect(clippy::disallowed_methods, reason = "cargo speaks to a build script by its environment")]
fn said(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}
