//! Counts tests from what the test binaries print.

use std::collections::BTreeSet;

/// The sums over all test binaries of one run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TestTally {
    passed: u64,
    failed: u64,
    /// Tests that did not run, or that said on their way that they checked nothing.
    pub(crate) skipped: Vec<String>,
    /// Tests that were told to be slow and have not ended.
    slow: BTreeSet<String>,
    /// What the failed tests said, as the harness gathers it, up to [`LONGEST_TALE`].
    tale: String,
    /// Between the harness's `failures:` and its result.
    is_telling: bool,
}

/// In bytes: what a person reads of failures before turning to the whole output.
const LONGEST_TALE: usize = 16 << 10;

impl TestTally {
    /// Reads one line of output.
    ///
    /// The harness ends each binary with `test result: ok. 3 passed; 0 failed; ...` and prints
    /// `test NAME ... ignored` for a test it left out.
    /// A test that finds nothing to check prints `[skipped] WHY`, past the harness's capture.
    pub(crate) fn read(&mut self, line: &str) {
        self.listen(line);
        if let Some((_, why)) = line.split_once("[skipped] ") {
            self.skipped.push(why.trim().to_owned());
        } else if let Some(result) = line.strip_prefix("test result: ") {
            self.passed += count(result, " passed");
            self.failed += count(result, " failed");
        } else if let Some(test) = line.strip_prefix("test ") {
            if let Some((name, _)) = test.split_once(" ... ignored") {
                self.skipped.push(format!("`{name}` is marked `ignore`"));
            } else if let Some((name, _)) = test.split_once(" has been running for over") {
                self.slow.insert(name.to_owned());
            } else if let Some((name, _)) = test.split_once(" ... ") {
                self.slow.remove(name);
            }
        }
    }

    fn listen(&mut self, line: &str) {
        self.is_telling = match line {
            "failures:" => true,
            _ => self.is_telling && !line.starts_with("test result: "),
        };
        if self.is_telling && self.tale.len() + line.len() < LONGEST_TALE {
            self.tale += line;
            self.tale.push('\n');
        }
    }

    /// Why tests failed, to be told again at the end: their place in the output is far above it.
    pub(crate) fn tale(&self) -> &str {
        self.tale.trim_end()
    }

    /// The tests that went on for more than a minute, and still do.
    pub(crate) fn unended(&self) -> String {
        let names: Vec<_> = self.slow.iter().map(String::as_str).collect();
        if names.is_empty() { "none that is known".to_owned() } else { names.join(", ") }
    }

    /// The closing line of a run.
    pub(crate) fn line(&self) -> String {
        format!("{} passed, {} failed", self.passed, self.failed)
    }
}

/// The number in front of a word: 3 for `passed` in `ok. 3 passed; 0 failed`.
fn count(result: &str, word: &str) -> u64 {
    let before = result.split(';').find_map(|part| part.trim_end().strip_suffix(word));
    let digits = before.and_then(|text| text.rsplit(' ').next());
    digits.and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::TestTally;

    #[test]
    fn sums_all_binaries_and_names_what_was_left_out() {
        let mut tally = TestTally::default();
        for line in [
            "running 3 tests",
            "test engine::a_denied_call_does_not_run ... ok",
            "test needs_a_day ... ignored, too long",
            "test takes_two_minutes has been running for over 60 seconds",
            "test takes_for_ever has been running for over 60 seconds",
            "test takes_two_minutes ... ok",
            "test peer::agrees_with_python ... [skipped] no Python found",
            "failures:",
            "",
            "---- engine::a_call_runs_once stdout ----",
            "it ran twice",
            "test result: FAILED. 12 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.02s",
            "test result: ok. 30 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s",
        ] {
            tally.read(line);
        }
        let skipped =
            vec!["`needs_a_day` is marked `ignore`".to_owned(), "no Python found".to_owned()];
        assert_eq!(tally.unended(), "takes_for_ever");
        let slow = ["takes_for_ever".to_owned()].into();
        let tale = "failures:\n\n---- engine::a_call_runs_once stdout ----\nit ran twice\n";
        let (tale, is_telling) = (tale.to_owned(), false);
        assert_eq!(tally, TestTally { passed: 42, failed: 1, skipped, slow, tale, is_telling });
        assert_eq!(tally.line(), "42 passed, 1 failed");
    }
}
