//! The file of vectors: written whole, beside its place and then moved there, and read whole.
//!
//! A line that names the form, the name of the embedder with its length, how many entries a vector
//! has and how many vectors there are, then each with its key, then the SHA-256 of all that;
//! numbers stand with their lowest byte first.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use toolcrib_search::Vector;

use super::vectors::{VectorCache, VectorKey};

/// The first bytes of the file; another form has another number.
const FORM: &[u8] = b"toolcrib vectors 1\n";
/// Largest file, in bytes: 200,000 vectors of 1,024 entries.
const LARGEST: u64 = 1024 * 1024 * 1024;

/// What a file holds for an embedder; no file and one of another embedder hold nothing.
pub(super) fn read(file: &Path, name: &str) -> Result<VectorCache, String> {
    let unusable = |why: &str| format!("the vectors in `{}` are made anew: {why}", file.display());
    let opened = match File::open(file) {
        Ok(opened) => opened,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(VectorCache::default()),
        Err(cause) => return Err(unusable(&cause.to_string())),
    };
    // A file that belongs to somebody else stays as that one wants it.
    #[cfg(unix)]
    let _ = keep_private(&opened);
    let mut bytes = Vec::new();
    match opened.take(LARGEST + 1).read_to_end(&mut bytes) {
        Ok(read) if read as u64 > LARGEST => Err(unusable("the file is too large")),
        Ok(_) => parse(&bytes, name).ok_or_else(|| unusable("the file is damaged")),
        Err(cause) => Err(unusable(&cause.to_string())),
    }
}

/// `None` for what was not written by us to its end.
pub(crate) fn parse(bytes: &[u8], name: &str) -> Option<VectorCache> {
    let (content, digest) = bytes.split_last_chunk::<32>()?;
    if digest != <[u8; 32]>::from(Sha256::digest(content)).as_slice() {
        return None;
    }
    let rest = content.strip_prefix(FORM)?;
    let (length, rest) = number(rest)?;
    let (own, rest) = rest.split_at_checked(length)?;
    if own != name.as_bytes() {
        return Some(VectorCache::default());
    }
    let (width, rest) = number(rest)?;
    let (count, rest) = number(rest)?;
    let size = width.checked_mul(4)?.checked_add(32)?;
    if count.checked_mul(size)? != rest.len() {
        return None;
    }
    let vectors = rest.chunks_exact(size).filter_map(|chunk| {
        let (key, numbers) = chunk.split_first_chunk::<32>()?;
        let numbers = numbers.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        Some((*key, numbers.collect()))
    });
    Some(VectorCache::of(vectors))
}

fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((usize::try_from(u32::from_le_bytes(*number)).ok()?, rest))
}

/// Writes everything or leaves the file as it was.
pub(super) fn write(
    file: &Path,
    name: &str,
    vectors: &[(VectorKey, Vector)],
) -> Result<(), String> {
    let mut beside = file.as_os_str().to_owned();
    // Two processes on one file do not write into each other's.
    beside.push(format!(".{}.new", std::process::id()));
    let beside = PathBuf::from(beside);
    let written = create(&beside).and_then(|mut new| {
        new.write_all(&bytes(name, vectors))?;
        new.sync_all()?;
        std::fs::rename(&beside, file)
    });
    written.map_err(|cause| {
        // What is left of it is of no use; if it cannot be removed either, the cause is told.
        let _ = std::fs::remove_file(&beside);
        format!("the vectors cannot be kept in `{}`: {cause}", file.display())
    })
}

/// A new file that only its owner can read: what the tools of somebody are about is theirs.
fn create(path: &Path) -> io::Result<File> {
    // Left by a process of the same number that was killed; others may read that one.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut private = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut private, 0o600);
    private.write(true).create_new(true).open(path)
}

/// Takes from others what an older release let them read.
#[cfg(unix)]
fn keep_private(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

fn bytes(name: &str, vectors: &[(VectorKey, Vector)]) -> Vec<u8> {
    let width = vectors.first().map_or(0, |(_, vector)| vector.len());
    // A model that changed in between has left strangers behind.
    let same = || vectors.iter().filter(|(_, vector)| vector.len() == width);
    let mut bytes = FORM.to_vec();
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
    bytes.extend(number(name.len()));
    bytes.extend(name.as_bytes());
    bytes.extend(number(width));
    bytes.extend(number(same().count()));
    for (key, vector) in same() {
        bytes.extend(key);
        bytes.extend(vector.iter().flat_map(|number| number.to_le_bytes()));
    }
    let digest = Sha256::digest(&bytes);
    bytes.extend(digest);
    bytes
}
