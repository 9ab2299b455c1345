//! Vectors of tools that are kept: what is made anew, and what a restart finds.

use std::path::Path;
use std::sync::{Arc, Mutex};

use toolcrib_embed::CachedEmbedder;
use toolcrib_search::{EmbedError, EmbedPurpose, Embedder, Vector};
use toolcrib_testkit::TestFolder;

/// Makes a vector of a text's length and remembers what it was asked.
struct Counting {
    name: String,
    asked: Mutex<Vec<String>>,
    /// From this call on there are no vectors.
    fails_at: usize,
}

impl Counting {
    fn new(name: &str) -> Arc<Self> {
        Arc::new(Self { name: name.to_owned(), asked: Mutex::default(), fails_at: usize::MAX })
    }

    /// How many texts were made into vectors since the last time.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Embedder for Counting {
    fn name(&self) -> &str {
        &self.name
    }

    fn embed<'a>(
        &'a self,
        _: EmbedPurpose,
        texts: &'a [String],
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Vec<Vector>, EmbedError>> + Send + 'a>> {
        let mut asked = self.asked.lock().unwrap();
        if asked.len() + texts.len() > self.fails_at {
            let error = EmbedError { message: "no more".to_owned(), source: None };
            return Box::pin(async { Err(error) });
        }
        asked.extend_from_slice(texts);
        #[expect(clippy::cast_precision_loss, reason = "the texts are short")]
        let vectors = texts.iter().map(|text| Vector::from([text.len() as f32, 1.0])).collect();
        Box::pin(async { Ok(vectors) })
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

async fn lengths(cached: &CachedEmbedder, asked: &[&str]) -> Vec<f32> {
    let vectors = cached.embed(EmbedPurpose::Tool, &texts(asked)).await.unwrap();
    vectors.iter().map(|vector| vector[0]).collect()
}

fn open(inner: &Arc<Counting>, file: &Path) -> CachedEmbedder {
    CachedEmbedder::with_file(inner.clone(), file.to_owned())
}

#[tokio::test]
async fn only_changed_tools_are_made_into_vectors_again() {
    let inner = Counting::new("one");
    let cached = CachedEmbedder::in_memory(inner.clone());
    assert_eq!(lengths(&cached, &["a", "bb", "a"]).await, [1.0, 2.0, 1.0]);
    assert_eq!(inner.asked(), ["a", "bb"]);
    assert_eq!(lengths(&cached, &["bb", "ccc", "a"]).await, [2.0, 3.0, 1.0]);
    assert_eq!(inner.asked(), ["ccc"]);
    cached.embed(EmbedPurpose::Query, &texts(&["a"])).await.unwrap();
    assert_eq!(inner.asked(), ["a"], "questions are not kept");
}

#[tokio::test]
async fn a_restart_makes_no_vectors_that_are_in_the_file() {
    let folder = TestFolder::new();
    let file = folder.path().join("vectors");
    let inner = Counting::new("one");
    assert_eq!(lengths(&open(&inner, &file), &["a", "bb"]).await, [1.0, 2.0]);
    assert_eq!(inner.asked(), ["a", "bb"]);
    let again = open(&inner, &file);
    assert_eq!(lengths(&again, &["bb", "ccc", "a"]).await, [2.0, 3.0, 1.0]);
    assert_eq!((inner.asked(), again.trouble()), (texts(&["ccc"]), None));
    let other = Counting::new("two");
    assert_eq!(lengths(&open(&other, &file), &["a"]).await, [1.0]);
    assert_eq!(other.asked(), ["a"], "vectors of two embedders are strangers");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing but the file is left: {left:?}");
}

#[tokio::test]
async fn a_damaged_file_is_told_and_written_anew() {
    let folder = TestFolder::new();
    let file = folder.path().join("vectors");
    let inner = Counting::new("one");
    lengths(&open(&inner, &file), &["a", "bb"]).await;
    let whole = std::fs::read(&file).unwrap();
    for at in [0, whole.len() / 2, whole.len() - 1] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        for bytes in [&damaged, &whole[..at]] {
            inner.asked();
            std::fs::write(&file, bytes).unwrap();
            let cached = open(&inner, &file);
            let expected =
                format!("the vectors in `{}` are made anew: the file is damaged", file.display());
            assert_eq!(cached.trouble(), Some(expected));
            assert_eq!(lengths(&cached, &["a", "bb"]).await, [1.0, 2.0]);
            assert_eq!((inner.asked(), cached.trouble()), (texts(&["a", "bb"]), None));
            assert_eq!(std::fs::read(&file).unwrap(), whole);
        }
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_told_and_the_vectors_are_there() {
    let folder = TestFolder::new();
    let file = folder.path().join("nowhere/vectors");
    let cached = open(&Counting::new("one"), &file);
    assert_eq!(lengths(&cached, &["a"]).await, [1.0]);
    let trouble = cached.trouble().unwrap();
    assert!(
        trouble.starts_with(&format!("the vectors cannot be kept in `{}`", file.display())),
        "{trouble}"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn only_its_owner_can_read_the_file() {
    use std::fs::{Permissions, metadata, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    let folder = TestFolder::new();
    let file = folder.path().join("vectors");
    let mode = || metadata(&file).unwrap().permissions().mode() & 0o777;
    let inner = Counting::new("one");
    lengths(&open(&inner, &file), &["a"]).await;
    assert_eq!(mode(), 0o600);
    // As an older release left it, also where nothing is written anew.
    set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    inner.asked();
    let again = open(&inner, &file);
    assert_eq!((lengths(&again, &["a"]).await, mode()), (vec![1.0], 0o600));
    assert_eq!(inner.asked(), texts(&[]));
    // As a process of the same number left it when it was killed.
    let left = folder.path().join(format!("vectors.{}.new", std::process::id()));
    std::fs::write(&left, "half").unwrap();
    set_permissions(&left, Permissions::from_mode(0o644)).unwrap();
    assert_eq!(lengths(&again, &["bb"]).await, [2.0]);
    assert_eq!((mode(), left.exists()), (0o600, false));
}

#[tokio::test]
async fn a_start_that_breaks_off_keeps_what_it_has() {
    let many: Vec<String> = (0..2000).map(|number| format!("tool {number}")).collect();
    let folder = TestFolder::new();
    let file = folder.path().join("vectors");
    let failing = Counting { fails_at: 1900, ..Arc::into_inner(Counting::new("one")).unwrap() };
    open(&Arc::new(failing), &file).embed(EmbedPurpose::Tool, &many).await.unwrap_err();
    let inner = Counting::new("one");
    open(&inner, &file).embed(EmbedPurpose::Tool, &many).await.unwrap();
    let again = inner.asked().len();
    assert!((1..=1500).contains(&again), "{again} of 2000 were made again");
}
