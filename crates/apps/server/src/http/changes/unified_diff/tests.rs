use super::{LineChange, changes, lines, unified_diff};

const TEXTS: [&str; 4] = ["a\n", "b\n", "c\n", "d\n"];

#[test]
fn what_differs_is_told_with_what_stands_around_it() {
    let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n";
    let after = "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14";
    let told = "--- a/f\n+++ b/f\n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n\
                @@ -11,3 +11,4 @@\n 11\n 12\n 13\n+14\n\\ No newline at end of file\n";
    assert_eq!(unified_diff("f", before, after), told);
    assert_eq!(unified_diff("f", before, before), "");
    assert_eq!(unified_diff("f", "", "a\n"), "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+a\n");
    assert_eq!(unified_diff("f", "a\n", ""), "--- a/f\n+++ b/f\n@@ -1 +0,0 @@\n-a\n");
}

#[test]
fn both_texts_come_out_of_what_is_told_of_them() {
    let mut seed = 7_u64;
    let mut any = |most: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % most
    };
    let mut cases: Vec<(String, String)> = Vec::new();
    for _ in 0..300 {
        let text = |any: &mut dyn FnMut(u64) -> u64| {
            (0..any(30)).map(|_| TEXTS[usize::try_from(any(4)).unwrap()]).collect::<String>()
        };
        cases.push((text(&mut any), text(&mut any)));
    }
    let many = |from: u32| {
        let lines: Vec<_> = (from..from + 2_000).map(|line| line.to_string()).collect();
        lines.join("\n")
    };
    cases.push((many(0), many(10_000)));
    for (before, after) in cases {
        let (old, new) = (lines(&before), lines(&after));
        let all = changes(&old, &new);
        let (mut left, mut right) = (old.iter(), new.iter());
        for change in all {
            match change {
                LineChange::Same => assert_eq!(left.next(), right.next()),
                LineChange::Gone => assert!(left.next().is_some()),
                LineChange::New => assert!(right.next().is_some()),
            }
        }
        assert_eq!((left.next(), right.next()), (None, None));
    }
}
