//! The files of `docs/operating/replicas`: what Kubernetes and Compose would make of them, and that
//! the server takes the configurations in them.

use std::path::PathBuf;
use std::process::Command;

use crate::keep::postgres::cluster::Cluster;
use crate::peers::Peers;
use crate::process::Folder;
use crate::serve::keys::make;

/// Reads a Compose file as its specification has it.
const COMPOSE: &str = "import sys, compose_spec; \
    file = compose_spec.PyCompose.from_yaml(open(sys.argv[1]).read()); \
    file.validate(); print(' '.join(sorted(file.service_names())))";

fn place(name: &str) -> PathBuf {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    own.join("../../../docs/operating/replicas").join(name)
}

#[expect(clippy::disallowed_methods, reason = "others look at the files")]
fn judged(words: &[&str], name: &str) -> Option<String> {
    let mut program = Command::new(Peers::find()?.python);
    let ran = program.args(words).arg(place(name)).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    Some(String::from_utf8_lossy(&ran.stdout).trim().to_owned())
}

#[test]
fn kubernetes_and_compose_take_the_files_for_replicas() {
    judged(&["-m", "kubernetes_validate", "--strict"], "kubernetes.yaml");
    let services = judged(&["-c", COMPOSE], "compose.yaml");
    assert!(services.is_none_or(|services| services == "balancer database replica"));
}

/// The configuration in a manifest of Kubernetes.
fn within(manifest: &str) -> String {
    let (_, rest) = manifest.split_once("  crib.toml: |\n").unwrap();
    let (text, _) = rest.split_once("---\n").unwrap();
    text.lines().map(|line| line.strip_prefix("    ").unwrap_or(line).to_owned() + "\n").collect()
}

#[test]
fn the_server_takes_the_configurations_for_replicas() {
    let Some(cluster) = Cluster::start_if_any("deployed") else { return };
    let read = |name: &str| std::fs::read_to_string(place(name)).unwrap();
    let texts =
        [("crib.toml", read("crib.toml")), ("kubernetes", within(&read("kubernetes.yaml")))];
    for (name, text) in texts {
        let folder = Folder::new();
        folder.write("cluster", "a secret of some forty letters, for all of them");
        let of_secrets = ["/run/secrets/toolcrib/cluster", "/run/secrets/cluster"];
        let url = text.split('"').find(|word| word.starts_with("postgres://")).unwrap();
        let text = text.replace(url, &cluster.database(&name.replace('.', "_")));
        // Callers are made by whoever runs it.
        let (_, entry) = make(&folder, &["client", "--scope", "tools"]);
        let text = of_secrets.iter().fold(text, |text, path| text.replace(path, "cluster"));
        folder.write("crib.toml", &(text + &entry));
        let checked = folder.run(&["check"]);
        assert_eq!(checked.code, 0, "{name}: {checked:?}");
    }
}
