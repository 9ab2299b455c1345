//! The shape of the code: no new circle of imports, no folder that nobody can survey, and no name
//! that stands for many things.
//!
//! An arrow is a path in a file (`use`, `crate::`, `super::`) that leads into another file of the
//! same crate; arrows to the root of the crate do not count, nor do tests.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// Files of the largest circle of a crate. The numbers may only fall.
const LARGEST_CIRCLES: &[(&str, usize)] = &[];
/// Entries of one folder, a file and the folder of its name being one.
const MOST_ENTRIES: usize = 12;
/// Definitions of types that share one name.
const MOST_NAMESAKES: usize = 3;

type Module = Vec<String>;

#[test]
fn no_circle_of_imports_is_larger_than_it_was() {
    let circles: Vec<_> = crates()
        .into_iter()
        .map(|folder| (name_of(&folder), largest_circle(&arrows(&folder))))
        .filter(|(_, files)| !files.is_empty())
        .collect();
    let found: Vec<_> = circles.iter().map(|(name, files)| (name.as_str(), files.len())).collect();
    let told: Vec<_> = circles
        .iter()
        .filter(|(name, files)| !LARGEST_CIRCLES.contains(&(name.as_str(), files.len())))
        .map(|(name, files)| format!("{name}: {}", files.join(", ")))
        .collect();
    let help = "break a circle that grew, and write down a number that fell";
    assert_eq!(found, LARGEST_CIRCLES, "{help}:\n{}", told.join("\n"));
}

#[test]
fn no_folder_holds_more_than_twelve_entries() {
    let mut wide = Vec::new();
    for folder in crates() {
        let mut waiting = vec![folder.join("src")];
        while let Some(folder) = waiting.pop() {
            let mut entries = BTreeSet::new();
            for entry in fs::read_dir(&folder)
                .expect("the tree can be read")
                .map(|entry| entry.expect("the tree can be read").path())
            {
                let name =
                    entry.file_stem().expect("the tree can be read").to_string_lossy().into_owned();
                if !["lib", "main", "mod", "tests"].contains(&name.as_str()) {
                    entries.insert(name);
                }
                if entry.is_dir() {
                    waiting.push(entry);
                }
            }
            if entries.len() > MOST_ENTRIES {
                wide.push(format!("{}: {}", folder.display(), entries.len()));
            }
        }
    }
    assert_eq!(wide, Vec::<String>::new());
}

#[test]
fn no_name_of_a_type_stands_for_more_than_three() {
    let mut defined: BTreeMap<String, usize> = BTreeMap::new();
    for folder in crates() {
        for (_, path) in modules(&folder) {
            for line in product(&fs::read_to_string(path).expect("the tree can be read")).lines() {
                *defined.entry(type_name(line).unwrap_or_default().to_owned()).or_default() += 1;
            }
        }
    }
    defined.remove("");
    defined.retain(|_, count| *count > MOST_NAMESAKES);
    assert_eq!(defined, BTreeMap::new());
}

/// The name that a line defines, if it begins a struct, an enum or a trait.
fn type_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) => {
            rest.strip_prefix('(').map_or(rest, |rest| rest.split_once(')').map_or(rest, |it| it.1))
        }
        None => line,
    };
    let (kind, rest) = line.trim_start().split_once(' ')?;
    let is_type = ["struct", "enum", "trait"].contains(&kind);
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    is_type.then(|| rest.get(..end.unwrap_or(rest.len()))).flatten()
}

fn crates() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tree can be read");
    let groups = folders(&root.join("crates"));
    let mut all = vec![root.join("xtask")];
    all.extend(groups.iter().flat_map(|group| folders(group)));
    all.extend(groups);
    all.retain(|folder| folder.join("Cargo.toml").is_file());
    all.sort_by_key(|folder| name_of(folder));
    all
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(of).expect("the tree can be read");
    entries
        .map(|entry| entry.expect("the tree can be read").path())
        .filter(|it| it.is_dir())
        .collect()
}

fn name_of(folder: &Path) -> String {
    folder.file_name().expect("the tree can be read").to_string_lossy().into_owned()
}

/// The files of a crate that are no tests, by their modules.
fn modules(folder: &Path) -> BTreeMap<Module, PathBuf> {
    let (source, mut found) = (folder.join("src"), BTreeMap::new());
    let mut waiting = vec![source.clone()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder)
            .expect("the tree can be read")
            .map(|entry| entry.expect("the tree can be read").path())
        {
            if entry.is_dir() {
                if !entry.ends_with("tests") {
                    waiting.push(entry);
                }
                continue;
            }
            if entry.extension().is_none_or(|it| it != "rs") || entry.ends_with("tests.rs") {
                continue;
            }
            let inside =
                entry.strip_prefix(&source).expect("the tree can be read").with_extension("");
            let mut module: Module =
                inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            if module.last().is_some_and(|last| last == "mod") {
                module.pop();
            }
            if module.len() == 1 && ["lib", "main"].contains(&module[0].as_str()) {
                module.clear();
            }
            found.insert(module, entry);
        }
    }
    found
}

/// Without its inline tests and its comments.
fn product(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

fn arrows(folder: &Path) -> HashMap<Module, BTreeSet<Module>> {
    let modules = modules(folder);
    let mut all = HashMap::new();
    for (module, path) in modules.iter().filter(|(module, _)| !module.is_empty()) {
        let text = product(&fs::read_to_string(path).expect("the tree can be read"));
        let mut to = BTreeSet::new();
        for path in paths(&text) {
            to.extend(target(module, &path, &modules));
        }
        to.remove(module);
        all.insert(module.clone(), to);
    }
    all
}

/// The file that a path leads into; `None`: the root, or another crate.
fn target(from: &Module, path: &[String], modules: &BTreeMap<Module, PathBuf>) -> Option<Module> {
    let mut at = from.clone();
    let mut rest = path;
    match path.first()?.as_str() {
        "crate" => {
            at.clear();
            rest = path.get(1..)?;
        }
        "self" => rest = path.get(1..)?,
        "super" => {
            while let Some(("super", after)) = rest.split_first().map(|(it, to)| (it.as_str(), to))
            {
                at.pop();
                rest = after;
            }
        }
        first => {
            at.push(first.to_owned());
            if !modules.contains_key(&at) {
                return None;
            }
            rest = path.get(1..)?;
        }
    }
    for step in rest {
        at.push(step.clone());
        if !modules.contains_key(&at) {
            at.pop();
            break;
        }
    }
    Some(at).filter(|module| !module.is_empty())
}

/// Every path that a text names in a `use`, or that begins at `crate`, `self` or `super`.
fn paths(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("use ") {
        let begins = rest[..at].chars().next_back().is_none_or(char::is_whitespace);
        let after = &rest[at + 4..];
        let end = after.find(';').unwrap_or(after.len());
        if begins {
            unfold(&[], &after[..end], &mut found);
            rest = &after[end..];
        } else {
            rest = after;
        }
    }
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    for word in text.split(|letter: char| !is_word(letter) && letter != ':') {
        let parts: Vec<_> = word.split("::").map(str::to_owned).collect();
        let is_inside = ["crate", "self", "super"].contains(&parts[0].as_str());
        // What ends in `::` is the head of a group, which was unfolded.
        if is_inside && parts.len() > 1 && !word.ends_with(':') {
            found.push(parts);
        }
    }
    found
}

/// The paths of a tree of imports.
fn unfold(before: &[String], tree: &str, found: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    let (head, group) = match tree.find('{') {
        Some(at) => (&tree[..at], tree[at + 1..].strip_suffix('}')),
        None => (tree.split(" as ").next().unwrap_or(tree), None),
    };
    let mut path = before.to_vec();
    path.extend(head.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned));
    let Some(group) = group else {
        found.push(path);
        return;
    };
    let (mut depth, mut start) = (0, 0);
    for (at, letter) in group.char_indices().chain([(group.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let item = group[start..at].trim();
                if !item.is_empty() {
                    unfold(&path, item, found);
                }
                start = (at + 1).min(group.len());
            }
            _ => {}
        }
    }
}

/// The files that the largest circle ties together.
fn largest_circle(arrows: &HashMap<Module, BTreeSet<Module>>) -> Vec<String> {
    let reach = |from: &Module| {
        let (mut seen, mut waiting) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = waiting.pop() {
            for next in arrows.get(&module).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    waiting.push(next.clone());
                }
            }
        }
        seen
    };
    let reached: HashMap<_, _> =
        arrows.keys().map(|module| (module.clone(), reach(module))).collect();
    let tied = |from: &Module| -> Vec<String> {
        let is_tied = |to: &&Module| reached.get(*to).is_some_and(|it| it.contains(from));
        reached[from].iter().filter(is_tied).map(|module| module.join("/")).collect()
    };
    arrows.keys().map(tied).max_by_key(Vec::len).unwrap_or_default()
}
