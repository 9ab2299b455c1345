//! What is asked for too often to be read from the file each time.
pub(crate) mod recent_answers;
pub mod result_owners;
