//! What is left when the host itself is killed.

#![expect(clippy::unwrap_used, reason = "a helper of tests")]

use std::io::{BufRead, BufReader, Write as _};
use std::process::{ChildStdout, Stdio};

use tokio::sync::Mutex;
use toolcrib_child::{Child, sweep};

use crate::support::{Talk, alone, is_alive, python, role, shell, until};

/// Hides two processes in sessions of their own, one of them behind a double fork.
///
/// Each tells its id in one write: `print` makes two, and those of the two would mix.
const HIDING: &str = "import os, sys, time\n\
    for forks in (1, 2):\n    \
        if os.fork() == 0:\n        \
            os.setsid()\n        \
            if forks == 2 and os.fork() > 0: os._exit(0)\n        \
            os.write(1, b'%d\\n' % os.getpid())\n        \
            time.sleep(1000)\n\
    time.sleep(1000)";

/// A sweep of one test would do the work of the other, and each start of another instance sweeps.
pub(crate) static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());

#[tokio::test]
async fn the_next_start_kills_what_a_killed_host_left() {
    const NAME: &str = "sweep::the_next_start_kills_what_a_killed_host_left";
    match role().as_deref() {
        Some("host") => play_the_host().await,
        Some(_) => drop(Child::spawn(&shell("true")).await.unwrap()),
        None => {
            let _turn = ONE_AT_A_TIME.lock().await;
            let mut host = alone(NAME, "host").stdout(Stdio::piped()).spawn().unwrap();
            let ids = told(host.stdout.take().unwrap());
            let is_alive_all = || ids.iter().all(|id| is_alive(*id));
            assert!(ids.len() == 3 && is_alive_all());
            let bystander = Child::spawn(&shell("read line")).await.unwrap();
            sweep();
            assert!(is_alive_all(), "what belongs to a living host is spared");
            host.kill().unwrap();
            host.wait().unwrap();
            until("the program dies with its host", || !is_alive(ids[0])).await;
            assert!(ids[1..].iter().all(|id| is_alive(*id)), "nothing tells those that hid");
            assert!(alone(NAME, "successor").output().unwrap().status.success());
            until("what had hidden is found", || !ids.iter().any(|id| is_alive(*id))).await;
            assert!(is_alive(bystander.id()));
        }
    }
}

#[tokio::test]
async fn whoever_was_started_by_a_dead_host_spares_itself() {
    if role().is_some() {
        sweep();
        let mut output = std::io::stdout();
        writeln!(output, "spared").unwrap();
        return;
    }
    let _turn = ONE_AT_A_TIME.lock().await;
    // The first start of this process sweeps: that of another test would kill the heir.
    drop(Child::spawn(&shell("true")).await.unwrap());
    let mark = format!("{}.{}.1", uuid::Uuid::new_v4().simple(), std::process::id());
    let output = alone("sweep::whoever_was_started_by_a_dead_host_spares_itself", "heir")
        .env("TOOLCRIB_INSTANCE", mark)
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("spared"), "{output:?}");
}

/// Starts a program that hides, tells all ids, and waits to be killed.
async fn play_the_host() {
    let mut talk = Talk::with(&python(HIDING)).await;
    let (one, two) = (talk.id().await, talk.id().await);
    let mut output = std::io::stdout();
    writeln!(output, "started {} {one} {two}", talk.child.id()).unwrap();
    std::future::pending::<()>().await;
}

/// The ids that the host tells, among what the harness prints.
fn told(output: ChildStdout) -> Vec<u32> {
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    let told = lines.find_map(|line| Some(line.split_once("started ")?.1.to_owned()));
    told.unwrap_or_default().split(' ').map(|id| id.parse().unwrap()).collect()
}
