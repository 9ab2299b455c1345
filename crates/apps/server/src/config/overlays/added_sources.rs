//! What is asked of a source before it is added over a file, beside what the file itself asks.

use toolcrib_config::{AddedSource, Overlay, OverlayStanding};

use super::change_problem::ChangeProblem;

/// Sources that are added over one file at the most.
const MOST: usize = 100;
/// Largest of them, in bytes of JSON.
const LARGEST: usize = 16 * 1024;

/// What is wrong with the new rows that add sources. `standings`: of all rows.
pub(super) fn problems(
    overlay: &Overlay,
    made: &[u64],
    standings: &[OverlayStanding],
) -> Vec<ChangeProblem> {
    let mut problems = Vec::new();
    let sources = || overlay.rows.iter().filter(|row| row.path.is_source());
    if sources().count() > MOST {
        let message = format!(
            "there are more than {MOST} sources over the file: put some of them into the file"
        );
        problems.push(ChangeProblem { path: "source".to_owned(), message });
    }
    for (row, standing) in overlay.rows.iter().zip(standings) {
        if !row.path.is_source() || !made.contains(&row.id) {
            continue;
        }
        let path = row.path.to_string();
        let mut problem =
            |message: String| problems.push(ChangeProblem { path: path.clone(), message });
        let Some(source) = AddedSource::of(&row.value) else {
            problem(format!("{path}: a source is a table: `{{\"mcp\": {{\"url\": \"..\"}}}}`"));
            continue;
        };
        if source.has_id() {
            problem(format!("{path}: the id stands in the path: remove `id`"));
        }
        if row.value.to_string().len() > LARGEST {
            let kib = LARGEST / 1024;
            problem(format!("{path}: it takes more than {kib} KiB: put it into the file"));
        }
        if *standing == OverlayStanding::Landed {
            problem(format!("{path}: the file has a source of this id: choose another one"));
        }
        for place in source.literal_secrets() {
            problem(format!(
                "{path}.{place}: this looks like a secret, and none is kept here: export it where \
                 the server runs, and write `${{env:NAME}}` into `env`, `headers` or `auth`"
            ));
        }
    }
    problems
}
