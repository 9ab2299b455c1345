//! Has the linker put what a start and a call execute side by side (`link/start.ld`, made by
//! `cargo xtask layout`), so that few pages of a large program have to be in memory.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=link/start.ld");
    let script = said("CARGO_MANIFEST_DIR") + "/link/start.ld";
    // Of a program that is not optimised the sections have other names and sizes.
    let is_meant = said("PROFILE") == "release"
        && said("CARGO_CFG_TARGET_OS") == "linux"
        && said("CARGO_CFG_TARGET_ENV") == "gnu"
        && said("CARGO_CFG_TARGET_ARCH") == "x86_64";
    if is_meant && !has_own_linker() {
        println!("cargo::rustc-link-arg-bin=toolcrib=-T");
        println!("cargo::rustc-link-arg-bin=toolcrib={script}");
    }
}

/// Whether whoever builds chose a linker: some cannot read the script (mold, gold).
fn has_own_linker() -> bool {
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let flags = said("CARGO_ENCODED_RUSTFLAGS");
    !said("RUSTC_LINKER").is_empty() || flags.contains("linker") || flags.contains("fuse-ld")
}

#[expect(clippy::disallowed_methods, reason = "cargo speaks to a build script by its environment")]
fn said(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}
