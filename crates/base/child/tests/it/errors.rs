//! A program that cannot be started: the error names it and the cure.

#![expect(clippy::expect_used, reason = "a helper of tests")]

use std::path::PathBuf;

use toolcrib_child::{Child, Program};

use crate::support::{Folder, shell};

async fn refused(program: &Program) -> String {
    Child::spawn(program).await.expect_err("it does not start").to_string()
}

#[tokio::test]
async fn a_name_that_no_folder_holds_is_told_with_the_folders_searched() {
    let mut program = Program::new("no-such-server", ["x"]);
    program.environment = vec![("PATH".to_owned(), "/usr/bin:/nowhere".to_owned())];
    assert_eq!(
        refused(&program).await,
        "cannot find `no-such-server` in the PATH `/usr/bin:/nowhere`: \
         install it, or give its absolute path"
    );
}

#[tokio::test]
async fn a_relative_path_is_refused_also_within_the_search_path() {
    assert_eq!(
        refused(&Program::new("./server", ["x"])).await,
        "`./server` is neither a bare name nor an absolute path: give the absolute path"
    );
    let folder = Folder::new();
    folder.write("server", "#!/bin/sh\n", 0o755);
    // From wherever we stand this goes up to the root.
    let path =
        format!("{}{}", "../".repeat(40), folder.path().strip_prefix("/").unwrap().display());
    let mut program = Program::new("server", ["x"]);
    program.environment = vec![("PATH".to_owned(), path.clone())];
    assert_eq!(
        refused(&program).await,
        format!("cannot find `server` in the PATH `{path}`: install it, or give its absolute path")
    );
}

#[tokio::test]
async fn a_text_without_an_interpreter_is_handed_to_no_shell() {
    let folder = Folder::new();
    let file = folder.write("server", "echo run by a shell\n", 0o755);
    assert_eq!(
        refused(&Program::new(file.clone(), ["x"])).await,
        format!(
            "`{}` is neither a program nor a script that names its interpreter: \
             give it a first line such as `#!/bin/sh`",
            file.display()
        )
    );
}

#[tokio::test]
async fn a_file_that_may_not_be_executed_is_told() {
    let folder = Folder::new();
    let file = folder.write("server", "#!/bin/sh\n", 0o644);
    let expected = |file: &PathBuf| {
        format!("cannot execute `{}`: it must be a file that this user may execute", file.display())
    };
    assert_eq!(refused(&Program::new(file.clone(), ["x"])).await, expected(&file));
    let missing = folder.path().join("missing");
    assert_eq!(refused(&Program::new(missing.clone(), ["x"])).await, expected(&missing));
}

#[tokio::test]
async fn an_interpreter_that_is_not_there_is_told_with_its_cause() {
    let folder = Folder::new();
    let file = folder.write("server", "#!/no/such/interpreter\n", 0o755);
    let error = Child::spawn(&Program::new(file.clone(), ["x"])).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "cannot start `{}`: check that its interpreter exists and limits are not reached",
            file.display()
        )
    );
    assert!(std::error::Error::source(&error).is_some());
}

#[tokio::test]
async fn what_cannot_be_handed_over_is_named() {
    let program = Program::new("/bin/sh", ["fine", "a\0b"]);
    assert_eq!(
        refused(&program).await,
        "argument 2 of `/bin/sh` cannot be given to a program: remove NUL bytes, and `=` in names"
    );
    let mut program = shell("true");
    program.environment = vec![("A=B".to_owned(), "secret".to_owned())];
    assert_eq!(
        refused(&program).await,
        "the variable `A=B` of `/bin/sh` cannot be given to a program: \
         remove NUL bytes, and `=` in names"
    );
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_named() {
    let mut program = shell("true");
    program.folder = Some("/no/such/folder".into());
    assert_eq!(
        refused(&program).await,
        "cannot use the folder `/no/such/folder` for `/bin/sh`: it must exist and be writable"
    );
}

#[test]
fn values_of_variables_are_not_printed() {
    let mut program = shell("true");
    program.environment = vec![("TOKEN".to_owned(), "hunter2".to_owned())];
    let printed = format!("{program:?}");
    assert!(printed.contains("TOKEN") && !printed.contains("hunter2"), "{printed}");
}
