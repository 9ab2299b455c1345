//! The numbers of a model, out of a file of safetensors, one tensor at a time.
//!
//! The form: eight bytes with the length of a JSON object, that object (name to type, shape and
//! place), then the numbers: <https://github.com/huggingface/safetensors#format>.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use super::folder::{FolderError, ModelFileFault, ModelFolder, PartialFile};

const NAME: &str = "model.safetensors";
/// Largest list of tensors, in bytes.
const LARGEST_LIST: u64 = 16 * 1024 * 1024;
/// Largest file, in bytes: more than any encoder that answers in time on a processor.
const LARGEST: u64 = 4 * 1024 * 1024 * 1024;

/// A file of tensors that is open for reading.
pub(crate) struct WeightsFile<'f> {
    folder: &'f mut ModelFolder,
    parts: PartialFile,
    list: HashMap<String, TensorEntry>,
    /// Where the numbers begin.
    start: u64,
    /// What stands before every name: a model that was saved with its head has `bert.`.
    prefix: &'static str,
}

/// An entry of the list.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct TensorEntry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (u64, u64),
}

impl TensorEntry {
    #[cfg(feature = "fuzz")]
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }
}

/// An entry that may also be about the file itself.
#[derive(Deserialize)]
#[serde(untagged)]
enum HeaderEntry {
    Tensor(TensorEntry),
    Other(serde::de::IgnoredAny),
}

impl<'f> WeightsFile<'f> {
    pub(crate) fn open(folder: &'f mut ModelFolder) -> Result<Self, FolderError> {
        let mut parts = folder.open(NAME)?;
        if parts.size > LARGEST {
            return Err(FolderError::TooLarge { file: parts.file, max: LARGEST });
        }
        let broken =
            |parts: &PartialFile, what: &str| ModelFileFault::broken(what).of(parts.file.clone());
        if parts.size < 8 {
            return Err(broken(&parts, "it has no beginning"));
        }
        let head: [u8; 8] = parts.part(0, 8)?.try_into().unwrap_or_default();
        let length = u64::from_le_bytes(head);
        if length > LARGEST_LIST || length > parts.size - 8 {
            return Err(broken(&parts, "its list of tensors is longer than it may be"));
        }
        let list = parts.part(8, usize::try_from(length).unwrap_or_default())?;
        folder.note(&list);
        let start = 8 + length;
        let list = list_of(&list).map_err(|fault| fault.of(parts.file.clone()))?;
        let prefix =
            if list.contains_key("bert.embeddings.LayerNorm.weight") { "bert." } else { "" };
        Ok(Self { folder, parts, list, start, prefix })
    }

    /// The numbers of one tensor, row by row, if it has exactly this shape.
    pub(crate) fn take(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, FolderError> {
        let name = format!("{}{name}", self.prefix);
        let bytes = self.bytes(&name, shape)?;
        self.folder.note(&bytes.1);
        let numbers = numbers(bytes.0, &bytes.1);
        if numbers.iter().any(|number| !number.is_finite()) {
            let fault = ModelFileFault::broken(format!("`{name}` holds what is no number"));
            return Err(fault.of(self.parts.file.clone()));
        }
        Ok(numbers)
    }

    fn bytes(&mut self, name: &str, shape: &[usize]) -> Result<(TensorType, Vec<u8>), FolderError> {
        let size = self.parts.size - self.start;
        let place = self
            .list
            .get(name)
            .ok_or_else(|| ModelFileFault::unsupported(format!("it has no tensor `{name}`")));
        let place = place.and_then(|tensor| place_of(name, tensor, shape, size));
        let (kind, from, length) = place.map_err(|fault| fault.of(self.parts.file.clone()))?;
        Ok((kind, self.parts.part(self.start + from, length)?))
    }
}

pub(crate) fn list_of(list: &[u8]) -> Result<HashMap<String, TensorEntry>, ModelFileFault> {
    // By a value: what is tried in several ways takes no number of a text.
    let read = serde_json::from_slice::<Value>(list).and_then(serde_json::from_value);
    let list: HashMap<String, HeaderEntry> = read.map_err(|cause| {
        ModelFileFault::broken(format!("its list of tensors is unreadable: {cause}"))
    })?;
    let tensors = list.into_iter().filter_map(|(name, entry)| match entry {
        HeaderEntry::Tensor(tensor) => Some((name, tensor)),
        HeaderEntry::Other(_) => None,
    });
    Ok(tensors.collect())
}

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TensorType {
    F32,
    F16,
    Bf16,
}

/// The kind of a tensor's numbers, where they begin, and how many bytes they take.
pub(crate) fn place_of(
    name: &str,
    tensor: &TensorEntry,
    shape: &[usize],
    size: u64,
) -> Result<(TensorType, u64, usize), ModelFileFault> {
    if tensor.shape != shape {
        let has = &tensor.shape;
        return Err(ModelFileFault::broken(format!(
            "`{name}` has the shape {has:?} instead of {shape:?}"
        )));
    }
    let (kind, bytes) = match tensor.dtype.as_str() {
        "F32" => (TensorType::F32, 4_usize),
        "F16" => (TensorType::F16, 2),
        "BF16" => (TensorType::Bf16, 2),
        _ => {
            let what = format!("the numbers of `{name}` are neither F32, F16 nor BF16");
            return Err(ModelFileFault::unsupported(what));
        }
    };
    let outside = || ModelFileFault::broken(format!("`{name}` does not stand where its list says"));
    let length = shape.iter().try_fold(bytes, |length, side| length.checked_mul(*side));
    let length = length.ok_or_else(outside)?;
    let (from, to) = tensor.data_offsets;
    let is_inside = to <= size && to.checked_sub(from) == u64::try_from(length).ok();
    if is_inside { Ok((kind, from, length)) } else { Err(outside()) }
}

fn numbers(kind: TensorType, bytes: &[u8]) -> Vec<f32> {
    match kind {
        TensorType::F32 => {
            bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
        }
        TensorType::F16 => {
            bytes.as_chunks().0.iter().map(|bytes| half(u16::from_le_bytes(*bytes))).collect()
        }
        TensorType::Bf16 => {
            let whole =
                |bytes: &[u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(*bytes)) << 16);
            bytes.as_chunks().0.iter().map(whole).collect()
        }
    }
}

/// A number of half precision (IEEE 754 binary16): a sign, five bits of exponent, ten of fraction.
fn half(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let rest = u32::from(bits & 0x7fff);
    // Moved into place, the exponent is short by 112, and that also makes the smallest ones right.
    let scaled = f32::from_bits(rest << 13) * f32::from_bits((127 + 112) << 23);
    let magnitude =
        if rest >= 0x7c00 { f32::from_bits((rest << 13) | 0x7f80_0000) } else { scaled };
    f32::from_bits(magnitude.to_bits() | sign)
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn halves_are_read_to_the_last_bit() {
        let known = [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
            (0x8000, -0.0),
            (0x3555, 0.333_251_95),
            (0x7c00, f32::INFINITY),
        ];
        let read = known.map(|(bits, _)| half(bits).to_bits());
        assert_eq!(read, known.map(|(_, number): (u16, f32)| number.to_bits()));
        assert!(half(0x7e00).is_nan());
    }
}
