//! A list of changes of the clocks as a file of zones (RFC 8536), the form that zones are made of.

use jiff::Timestamp;
use jiff::tz::Offset;

/// One change of the clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) at: Timestamp,
    pub(super) to: Offset,
    pub(super) is_dst: bool,
}

/// What types of time are called; nobody is shown it.
const NAMES: &[u8] = b"STD\0DST\0";

/// The file of a zone: an offset, and sorted changes from it. `None` if it has more offsets than a
/// file can have.
pub(super) fn tzif(first: Offset, turns: &[Turn]) -> Option<Vec<u8>> {
    let mut types = vec![(first, false)];
    let mut indices = Vec::with_capacity(turns.len());
    for turn in turns {
        let kind = (turn.to, turn.is_dst);
        let place = types.iter().position(|known| *known == kind).unwrap_or(types.len());
        if place == types.len() {
            types.push(kind);
        }
        indices.push(u8::try_from(place).ok()?);
    }
    let mut file = Vec::new();
    // The first block is for readers of four bytes a time, and says as little as it may.
    header(&mut file, 0, 1, 1)?;
    file.extend([0, 0, 0, 0, 0, 0, 0]);
    header(&mut file, turns.len(), types.len(), NAMES.len())?;
    for turn in turns {
        file.extend(turn.at.as_second().to_be_bytes());
    }
    file.extend(indices);
    for (offset, is_dst) in types {
        file.extend(offset.seconds().to_be_bytes());
        file.extend([u8::from(is_dst), if is_dst { 4 } else { 0 }]);
    }
    file.extend(NAMES);
    // No rule holds beyond the last change.
    file.extend(b"\n\n");
    Some(file)
}

fn header(file: &mut Vec<u8>, turns: usize, types: usize, names: usize) -> Option<()> {
    file.extend(b"TZif2");
    file.extend([0; 15]);
    for count in [0, 0, 0, turns, types, names] {
        file.extend(u32::try_from(count).ok()?.to_be_bytes());
    }
    Some(())
}
