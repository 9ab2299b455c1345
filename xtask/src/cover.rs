//! Few patterns for many names: those that are wanted, with little of what is not.

/// A shorter beginning says nothing.
const SHORTEST: usize = 6;

/// Bytes of a name: those wanted, and all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Weight {
    pub run: u64,
    pub all: u64,
}

/// Patterns (a name, or its beginning and `*`) that match every name of which something is wanted,
/// and of the others so little that more patterns are not worth it: one more has to save `worth`
/// bytes. The names are in their order.
pub fn cover(names: &[(&str, Weight)], worth: u64) -> Vec<String> {
    choose(names, 0, worth).1
}

/// The cost of the best choice for names that share their first `shared` letters, and the choice.
fn choose(names: &[(&str, Weight)], shared: usize, worth: u64) -> (u64, Vec<String>) {
    let waste: u64 = names.iter().map(|(_, weight)| weight.all - weight.run).sum();
    let ([(first, _), ..], [.., (last, _)]) = (names, names) else { return (0, Vec::new()) };
    if names.iter().all(|(_, weight)| weight.run == 0) {
        return (0, Vec::new());
    }
    if names.len() == 1 {
        return (worth + waste, vec![(*first).to_owned()]);
    }
    // In their order, so that what the first and the last share is shared by all.
    let more = first.bytes().zip(last.bytes()).skip(shared).take_while(|(a, b)| a == b).count();
    let shared = shared + more;
    let next = |name: &str| name.as_bytes().get(shared).copied();
    let (mut cost, mut chosen) = (0, Vec::new());
    for part in names.chunk_by(|(a, _), (b, _)| next(a) == next(b)) {
        let (more, patterns) = choose(part, shared, worth);
        cost += more;
        chosen.extend(patterns);
    }
    if shared >= SHORTEST && worth + waste <= cost {
        return (worth + waste, vec![format!("{}*", &first[..shared])]);
    }
    (cost, chosen)
}
